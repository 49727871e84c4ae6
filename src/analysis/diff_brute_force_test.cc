// Comparisons of random runs, against the definitions of docs/reference/diff.md followed one span, one step and one
// moment at a time.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/student_t.h"
#include "opscope/analysis/diff.h"
#include "opscope/analysis/modules.h"
#include "opscope/torch/function_events.h"
#include "trace/builder.h"

namespace opscope {
namespace {

// Two ranks with a thread and a stream each. Few names and times; some runs have no steps.
Trace RandomRun(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  TraceBuilder builder;
  std::vector<TrackId> threads, streams;
  for (int32_t rank = 0; rank < 2; ++rank) {
    const ProcessId process = builder.AddProcess({.pid = 40 + rank, .rank = seed % 3 == 0 ? -1 : rank});
    threads.push_back(builder.AddTrack({.process = process, .tid = 1}));
    streams.push_back(builder.AddTrack({.process = process, .kind = TrackKind::kDeviceStream, .tid = 7, .device = 0}));
  }
  std::vector<ArgsId> lists = {ArgsId::kNone};
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{3, 5}, {5}}) {
    const ArgumentRow tensor = {.kind = ArgumentKind::kTensor, .dtype = builder.Intern("float"), .sizes = sizes};
    lists.push_back(builder.AddArguments(std::vector(1, tensor)));
  }
  const char* const names[] = {"a", "b", "c", "nn.Module: Net_0"};
  for (int64_t i = below(30); i > 0; --i) {
    SpanRow row;
    row.start = {below(40)};
    row.duration = {below(12)};
    row.name = builder.Intern(names[below(4)]);
    const bool is_work = below(3) == 0;
    row.track = (is_work ? streams : threads)[static_cast<size_t>(below(2))];
    const char* const works[] = {"kernel", "gpu_memcpy", "cuda_sync"};
    const char* const calls[] = {"cpu_op", "python_function", "cpu_op"};
    row.category = builder.Intern((is_work ? works : calls)[below(3)]);
    row.flags = !is_work && below(9) == 0 ? span_flags::kAsync : uint8_t{0};
    row.args = lists[static_cast<size_t>(below(3))];
    builder.AddSpan(row);
    if (below(3) == 0) {
      builder.AddAllocation({.time = {below(40)},
                             .track = row.track,
                             .bytes = below(200) - 90,
                             .total_allocated = below(3) == 0 ? -1 : below(900),
                             .device_type = static_cast<int32_t>(below(2)),
                             .device = static_cast<int32_t>(below(2))});
    }
  }
  for (int64_t number = below(6), begin = below(6); number > 0; --number) {
    const int64_t duration = 1 + below(12);
    const std::string name = "ProfilerStep#" + std::to_string(number % 4);
    const AddedSpan span = builder.AddSpan({.start = {begin},
                                            .duration = {duration},
                                            .name = builder.Intern(name),
                                            .category = builder.Intern("user_annotation"),
                                            .track = threads[static_cast<size_t>(number % 2)]});
    builder.AddStep(number % 4, builder.Intern(name), span);
    begin += duration + below(3);
  }
  return builder.Build();
}

using KeyText = std::pair<std::string, std::string>;

// One run, by the definitions.
class PlainRun {
 public:
  PlainRun(const Trace& trace, DiffKey by, bool skips_step_0) : trace_(trace), spans_(trace.spans()) {
    const ModulesOfSpans modules = FindModules(trace);
    for (size_t step = 0; step < trace.steps().size(); ++step)
      if (!skips_step_0 || trace.steps().number[step] > 0) steps_.push_back(step);
    for (size_t i = 0; i < spans_.size(); ++i) {
      if (IsStep(i) || (by == DiffKey::kKernel && !IsWork(i)) || (skips_step_0 && NumberOf(StepOf(i)) < 1)) continue;
      KeyText key{trace.text(spans_.name[i]), ""};
      if (by == DiffKey::kShape && spans_.args[i] != ArgsId::kNone) key.second = InputShapesText(trace, spans_.args[i]);
      if (by == DiffKey::kModule) key.second = modules.PathOf(modules.node_of[i]);
      if (by == DiffKey::kStep && StepOf(i) >= 0) key.second = std::to_string(NumberOf(StepOf(i)));
      DiffSums& sums = rows[key];
      ++sums.count;
      sums.total_ns += spans_.duration[i].ns;
      sums.self_ns += SelfTime(i);
      for (size_t event = 0; event < trace.allocations().size(); ++event)
        if (Innermost(event) == static_cast<int64_t>(i)) sums.memory_bytes += trace.allocations().bytes[event];
      for (size_t sample = 0; sample < steps_.size(); ++sample)
        if (static_cast<int64_t>(steps_[sample]) == StepOf(i)) step_self[key][sample] += SelfTime(i);
    }
  }

  std::vector<double> StepDurations() const {
    std::vector<double> durations;
    for (const size_t step : steps_)
      durations.push_back(static_cast<double>(spans_.duration[Row(trace_.steps().span[step])].ns));
    return durations;
  }
  std::vector<double> SelfTimes(const KeyText& key) const {
    std::vector<double> samples(steps_.size(), 0);
    if (step_self.count(key) == 0) return samples;
    for (const auto& [sample, self] : step_self.at(key))
      samples[sample] = static_cast<double>(self);
    return samples;
  }
  // By rank, type and number of the device.
  std::map<std::vector<int>, int64_t> Peaks() const {
    std::map<std::vector<int>, int64_t> peaks;
    const AllocationColumns& events = trace_.allocations();
    for (size_t first = 0; first < events.size(); ++first) {
      if (peaks.count(DeviceOf(first)) != 0) continue;
      std::vector<size_t> own;
      for (size_t event = 0; event < events.size(); ++event)
        if (DeviceOf(event) == DeviceOf(first)) own.push_back(event);
      std::stable_sort(own.begin(), own.end(),
                       [&](size_t a, size_t b) { return events.time[a].ns < events.time[b].ns; });
      const int64_t total = events.total_allocated[own[0]];
      int64_t level = total < 0 ? 0 : total - events.bytes[own[0]], peak = level;
      for (const size_t event : own)
        peak = std::max(peak, level += events.bytes[event]);
      peaks[DeviceOf(first)] = peak;
    }
    return peaks;
  }

  std::map<KeyText, DiffSums> rows;
  std::map<KeyText, std::map<size_t, int64_t>> step_self;

 private:
  int32_t RankOf(TrackId track) const { return trace_.processes().rank[Row(trace_.tracks().process[Row(track)])]; }
  std::vector<int> DeviceOf(size_t event) const {
    const AllocationColumns& events = trace_.allocations();
    return {RankOf(events.track[event]), events.device_type[event], events.device[event]};
  }
  bool IsStep(size_t i) const {
    return std::count(trace_.steps().span.begin(), trace_.steps().span.end(), SpanId{static_cast<uint32_t>(i)}) > 0;
  }
  bool IsWork(size_t i) const {
    const std::string_view category = trace_.text(spans_.category[i]);
    return trace_.tracks().kind[Row(spans_.track[i])] == TrackKind::kDeviceStream &&
           (category == "kernel" || category == "gpu_memcpy");
  }
  int64_t NumberOf(int64_t step) const { return step < 0 ? -1 : trace_.steps().number[static_cast<size_t>(step)]; }
  int64_t StepOf(size_t i) const {
    for (size_t step = 0; step < trace_.steps().size(); ++step) {
      const uint32_t range = Row(trace_.steps().span[step]);
      const int64_t begin = spans_.start[range].ns, time = spans_.start[i].ns;
      if (RankOf(spans_.track[range]) == RankOf(spans_.track[i]) && begin <= time &&
          time < begin + spans_.duration[range].ns)
        return static_cast<int64_t>(step);
    }
    return -1;
  }
  bool CoversClipped(size_t i, int64_t moment) const {
    const bool covers = spans_.start[i].ns <= moment && moment < spans_.start[i].ns + spans_.duration[i].ns;
    return covers && (spans_.parent[i] == SpanId::kNone || CoversClipped(Row(spans_.parent[i]), moment));
  }
  int64_t SelfTime(size_t i) const {
    int64_t self = 0;
    for (int64_t moment = 0; moment < 120; ++moment) {
      bool is_own = CoversClipped(i, moment);
      for (size_t child = 0; child < spans_.size(); ++child)
        if (spans_.parent[child] == SpanId{static_cast<uint32_t>(i)} && CoversClipped(child, moment)) is_own = false;
      self += is_own ? 1 : 0;
    }
    return self;
  }
  // The last nested span of the track to begin of those that are open; a time at an end is still inside.
  int64_t Innermost(size_t event) const {
    int64_t innermost = -1;
    const int64_t time = trace_.allocations().time[event].ns;
    for (size_t i = 0; i < spans_.size(); ++i) {
      if (spans_.track[i] != trace_.allocations().track[event] || (spans_.flags[i] & span_flags::kAsync) != 0) continue;
      int64_t end = INT64_MAX;
      for (auto span = SpanId{static_cast<uint32_t>(i)}; span != SpanId::kNone; span = spans_.parent[Row(span)])
        end = std::min(end, spans_.start[Row(span)].ns + spans_.duration[Row(span)].ns);
      if (spans_.start[i].ns <= time && time <= end) innermost = static_cast<int64_t>(i);
    }
    return innermost;
  }

  const Trace& trace_;
  const SpanColumns& spans_;
  std::vector<size_t> steps_;  // that count
};

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values)
    sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// The sides of a comparison, by the definitions.
struct PlainSide {
  std::vector<PlainRun> runs;

  template <typename SamplesOf>
  std::vector<double> Samples(bool are_runs, SamplesOf samples_of) const {
    if (!are_runs) return runs.empty() ? std::vector<double>() : samples_of(runs[0]);
    std::vector<double> means;
    for (const PlainRun& run : runs)
      if (!samples_of(run).empty()) means.push_back(MeanOf(samples_of(run)));
    return means;
  }
  DiffSums SumsOf(const KeyText& key) const {
    DiffSums sums;
    for (const PlainRun& run : runs) {
      if (run.rows.count(key) == 0) continue;
      const DiffSums& row = run.rows.at(key);
      sums = {sums.count + row.count, sums.total_ns + row.total_ns, sums.self_ns + row.self_ns,
              sums.memory_bytes + row.memory_bytes};
    }
    return sums;
  }
};

double VarianceOf(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values)
    squares += (value - MeanOf(values)) * (value - MeanOf(values));
  const bool are_equal = std::set<double>(values.begin(), values.end()).size() == 1;
  return are_equal ? 0 : squares / static_cast<double>(values.size() - 1);
}

// Returns the p-value, or -1.
double ExpectDifference(const Difference& difference, const std::vector<double>& a, const std::vector<double>& b) {
  const double delta = MeanOf(b) - MeanOf(a);
  const auto expect_rounded = [](int64_t rounded, double value) {
    EXPECT_LE(std::abs(static_cast<double>(rounded) - value), 0.5 + 1e-6);
  };
  expect_rounded(difference.delta_ns, delta);
  EXPECT_EQ(difference.p.has_value(), a.size() >= 3 && b.size() >= 3);
  EXPECT_EQ(difference.low_ns.has_value(), difference.p.has_value());
  if (!difference.p) return -1;
  const double n_a = static_cast<double>(a.size()), n_b = static_cast<double>(b.size());
  const double e_a = VarianceOf(a) / n_a, e_b = VarianceOf(b) / n_b, error = std::sqrt(e_a + e_b);
  double half = 0, p = delta == 0 ? 1 : 0;
  if (error > 0) {
    const double freedom = std::pow(e_a + e_b, 2) / (e_a * e_a / (n_a - 1) + e_b * e_b / (n_b - 1));
    half = StudentQuantile975(freedom) * error;
    p = TwoSidedP(delta / error, freedom);
  }
  expect_rounded(*difference.low_ns, delta - half);
  expect_rounded(*difference.high_ns, delta + half);
  EXPECT_NEAR(*difference.p, p, 1e-9);
  return *difference.p;
}

// The largest p-value that Benjamini-Hochberg rejects; -1: none.
double LargestRejected(std::vector<double> p) {
  std::sort(p.begin(), p.end());
  double largest = -1;
  for (size_t rank = 1; rank <= p.size(); ++rank)
    if (p[rank - 1] <= static_cast<double>(rank) / static_cast<double>(p.size()) * 0.05) largest = p[rank - 1];
  return largest;
}

void ExpectPlainDiff(const TraceDiff& diff, const PlainSide& a, const PlainSide& b) {
  const bool are_runs = a.runs.size() > 1 || b.runs.size() > 1;
  const auto durations = [](const PlainRun& run) { return run.StepDurations(); };
  const std::vector<double> steps_a = a.Samples(are_runs, durations), steps_b = b.Samples(are_runs, durations);
  const bool has_samples = !steps_a.empty() && !steps_b.empty();
  std::set<KeyText> keys;
  for (const PlainSide* side : {&a, &b})
    for (const PlainRun& run : side->runs)
      for (const auto& [key, sums] : run.rows)
        keys.insert(key);
  ASSERT_EQ(diff.rows.size(), keys.size());
  std::vector<double> p_values;
  for (const DiffRow& row : diff.rows) {
    const KeyText key{row.name, row.key};
    SCOPED_TRACE(key.first + " " + key.second);
    EXPECT_EQ(keys.erase(key), 1u);
    for (const auto& [sums, side] : {std::pair(&row.a, &a), std::pair(&row.b, &b)}) {
      EXPECT_EQ(sums->count, side->SumsOf(key).count);
      EXPECT_EQ(sums->total_ns, side->SumsOf(key).total_ns);
      EXPECT_EQ(sums->self_ns, side->SumsOf(key).self_ns);
      EXPECT_EQ(sums->memory_bytes, side->SumsOf(key).memory_bytes);
    }
    const auto self_times = [&](const PlainRun& run) { return run.SelfTimes(key); };
    if (has_samples) {
      const double p =
          ExpectDifference(row.difference, a.Samples(are_runs, self_times), b.Samples(are_runs, self_times));
      if (p >= 0) p_values.push_back(p);
    } else {
      EXPECT_EQ(row.difference.delta_ns, row.b.self_ns - row.a.self_ns);
      EXPECT_EQ(row.difference.p, std::nullopt);
    }
  }
  const double largest = LargestRejected(p_values);
  for (const DiffRow& row : diff.rows) {
    const bool is_rejected = row.difference.p && *row.difference.p <= largest;
    const DiffStatus expected = row.a.count == 0                             ? DiffStatus::kNew
                                : row.b.count == 0                           ? DiffStatus::kVanished
                                : is_rejected && row.difference.low_ns >= 0  ? DiffStatus::kSlower
                                : is_rejected && row.difference.high_ns <= 0 ? DiffStatus::kFaster
                                                                             : DiffStatus::kMatched;
    EXPECT_EQ(row.status, expected) << row.name;
  }
  const auto order = [](const DiffRow& row) {
    return std::tuple(-std::abs(row.difference.delta_ns), row.name, row.key);
  };
  for (size_t i = 1; i < diff.rows.size(); ++i)
    EXPECT_LT(order(diff.rows[i - 1]), order(diff.rows[i]));
  EXPECT_EQ(diff.steps.a_count, steps_a.size());
  EXPECT_EQ(diff.steps.b_count, steps_b.size());
  EXPECT_EQ(diff.steps.difference.has_value(), has_samples);
  if (has_samples) {
    EXPECT_EQ(diff.steps.a_mean_ns, static_cast<int64_t>(std::floor(MeanOf(steps_a))));
    EXPECT_EQ(diff.steps.b_mean_ns, static_cast<int64_t>(std::floor(MeanOf(steps_b))));
    ExpectDifference(*diff.steps.difference, steps_a, steps_b);
  }
}

void ExpectPlainMemory(const TraceDiff& diff, const PlainSide& a, const PlainSide& b) {
  std::map<std::vector<int>, std::pair<std::optional<int64_t>, std::optional<int64_t>>> peaks;
  for (const PlainRun& run : a.runs)
    for (const auto& [device, peak] : run.Peaks())
      peaks[device].first = std::max(peak, peaks[device].first.value_or(INT64_MIN));
  for (const PlainRun& run : b.runs)
    for (const auto& [device, peak] : run.Peaks())
      peaks[device].second = std::max(peak, peaks[device].second.value_or(INT64_MIN));
  ASSERT_EQ(diff.memory.size(), peaks.size());
  size_t row = 0;
  for (const auto& [device, both] : peaks) {
    const DiffMemory& memory = diff.memory[row++];
    EXPECT_EQ((std::vector<int>{memory.rank, memory.device_type, memory.device}), device);
    EXPECT_EQ(memory.a_peak_bytes, both.first);
    EXPECT_EQ(memory.b_peak_bytes, both.second);
  }
}

void CompareWithPlain(uint64_t seed, size_t runs_a, size_t runs_b, bool skips_step_0) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(runs_a) + " and " + std::to_string(runs_b));
  std::vector<Trace> traces;
  for (size_t run = 0; run < runs_a + runs_b; ++run)
    traces.push_back(RandomRun(seed * 16 + run));
  const Result<SpanFilter> filter = SpanFilter::Parse("step >= 1");
  for (size_t by = 0; by < DiffKeyNames().size(); ++by) {
    if (by != 0 && by != seed % DiffKeyNames().size()) continue;
    SCOPED_TRACE(DiffKeyNames()[by]);
    const DiffOptions options{static_cast<DiffKey>(by), skips_step_0 ? &filter.value() : nullptr};
    PlainSide a, b;
    std::vector<const Trace*> runs;
    for (size_t run = 0; run < traces.size(); ++run) {
      (run < runs_a ? a : b).runs.emplace_back(traces[run], options.by, skips_step_0);
      runs.push_back(&traces[run]);
    }
    const TraceDiff diff = DiffRuns(std::span(runs).first(runs_a), std::span(runs).subspan(runs_a), options);
    ExpectPlainDiff(diff, a, b);
    ExpectPlainMemory(diff, a, b);
  }
}

TEST(TraceDiffAtRandom, OfTwoRunsIsWhatTheDefinitionsSay) {
  for (uint64_t seed = 1; seed <= 1000 && !testing::Test::HasFailure(); ++seed)
    CompareWithPlain(seed, 1, 1, seed % 5 == 0);
}

TEST(TraceDiffAtRandom, OfSeveralRunsIsWhatTheDefinitionsSay) {
  for (uint64_t seed = 1; seed <= 150 && !testing::Test::HasFailure(); ++seed)
    CompareWithPlain(2000 + seed, 1 + seed % 5, 1 + seed % 4, seed % 5 == 0);
}

}  // namespace
}  // namespace opscope
