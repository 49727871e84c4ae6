// Random jobs whose clocks are up to several steps apart: offsets are right to the noise, and only ranks that were
// started late are said to be. Steps are regular, so that every shift by whole steps nearly fits.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "merge/merged_for_test.h"
#include "opscope/merge.h"
#include "trace/builder.h"

namespace opscope {
namespace {

enum class Numbers { kAll, kNone, kOfSomeRanks, kBeginAgain };

struct Shape {
  int ranks = 4;
  int steps = 12;
  int64_t step_ns = 3'000'000;
  int64_t variation_ns = 5'000;  // of a step
  int64_t noise_ns = 300;        // of an end
  Numbers numbers = Numbers::kAll;
  bool has_pairs = false;  // groups of two ranks with numbers of their own
  bool has_gloo = false;   // barriers without a name and a number
  bool has_two_windows = false;
  bool has_one_host = false;
  double lost = 0;  // share of collectives that are not recorded
};

struct Operation {
  int64_t end_ns;
  int step;
  std::string group;  // "": of Gloo
  std::vector<int> ranks;
  int64_t number;
};

class RegularJob {
 public:
  static constexpr int64_t kEpochNs = 1'790'000'000'000'000'000;

  RegularJob(uint64_t seed, const Shape& shape) : random_(seed), shape_(shape) {
    std::map<std::string, int64_t> numbers;
    int64_t now = 0;
    for (int step = 0; step < shape.steps; ++step) {
      if (shape.numbers == Numbers::kBeginAgain && step == shape.steps / 2) {
        numbers.clear();
        now += 3'000'000'000;
      }
      step_start_.push_back(now);
      std::vector<int> all;
      for (int rank = 0; rank < shape.ranks; ++rank)
        all.push_back(rank);
      for (const int64_t part : {4, 8})
        Add(now + shape.step_ns * part / 10, step, "0", all, &numbers);
      for (int rank = 0; shape.has_pairs && rank + 1 < shape.ranks; rank += 2)
        Add(now + shape.step_ns * 5 / 10 + rank, step, std::to_string(1 + rank), {rank, rank + 1}, &numbers);
      if (shape.has_gloo) Add(now + shape.step_ns * 9 / 10, step, "", all, &numbers);
      now += shape.step_ns + Below(shape.variation_ns);
    }
    for (int rank = 0; rank < shape.ranks; ++rank) {
      const bool is_set = rank == 0 || shape.has_one_host;
      clocks_.push_back(is_set ? 0 : Below(6 * shape.step_ns) - 3 * shape.step_ns);
      first_steps_.push_back(0);
      last_steps_.push_back(shape.steps);
    }
  }

  void SetClock(int rank, int64_t ns) { clocks_[static_cast<size_t>(rank)] = ns; }
  void StartLate(int rank, int step) { first_steps_[static_cast<size_t>(rank)] = step; }
  void StopEarly(int rank, int steps) { last_steps_[static_cast<size_t>(rank)] = shape_.steps - steps; }

  void ExpectRight(int64_t within_ns) {
    std::vector<MergeInput> inputs;
    for (int rank = 0; rank < shape_.ranks; ++rank) {
      const int first = first_steps_[static_cast<size_t>(rank)], last = last_steps_[static_cast<size_t>(rank)];
      if (!shape_.has_two_windows) {
        inputs.push_back(Rank(rank, first, last));
        continue;
      }
      const int middle = shape_.steps / 2;
      inputs.push_back(Rank(rank, first, middle - 1 + static_cast<int>(Below(2))));
      inputs.push_back(Rank(rank, middle + 1 + static_cast<int>(Below(2)), last));
    }
    const Merged merged = MergeAll(std::move(inputs));
    int64_t reference_ns = 0;
    for (const MergedInput& input : merged.inputs) {
      if (input.clock == ClockSource::kReference) reference_ns = clocks_[static_cast<size_t>(input.rank)];
    }
    for (const MergedInput& input : merged.inputs) {
      const int64_t planted_ns = reference_ns - clocks_[static_cast<size_t>(input.rank)];
      EXPECT_NEAR(static_cast<double>(input.offset_ns), static_cast<double>(planted_ns), static_cast<double>(within_ns))
          << input.name << "\n"
          << ProblemText(merged.trace);
    }
    auto problems = ProblemsOf(merged.trace);
    for (int rank = 0; rank < shape_.ranks; ++rank) {
      const auto is_named = [&](const char* kind) {
        return problems[kind].find("rank" + std::to_string(rank) + ".") != std::string::npos;
      };
      const auto row = static_cast<size_t>(rank);
      EXPECT_EQ(is_named("rank_starts_late"), first_steps_[row] > 0) << "rank " << rank << "\n"
                                                                     << ProblemText(merged.trace);
      EXPECT_EQ(is_named("rank_ends_early"), last_steps_[row] < shape_.steps) << "rank " << rank << "\n"
                                                                              << ProblemText(merged.trace);
    }
    for (const char* kind : {"clock_not_aligned", "other_job"})
      EXPECT_EQ(problems[kind], "");
  }

 private:
  int64_t Below(int64_t n) { return n <= 0 ? 0 : static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }

  void Add(int64_t end_ns, int step, const std::string& group, const std::vector<int>& ranks,
           std::map<std::string, int64_t>* numbers) {
    const auto [number, is_new] = numbers->emplace(group, 17 * static_cast<int64_t>(group.size()));
    operations_.push_back({end_ns, step, group, ranks, number->second++});
  }

  MergeInput Rank(int rank, int first, int end) {
    TraceBuilder builder;
    builder.info().epoch_ns = kEpochNs;
    builder.info().world_size = static_cast<uint32_t>(shape_.ranks);
    if (shape_.has_one_host) builder.AddMetadata("host_name", "\"node\"");
    const ProcessId process = builder.AddProcess({.pid = 100, .rank = rank});
    const ProcessId device = builder.AddProcess({.pid = 0, .rank = rank});
    const TrackId thread = builder.AddTrack({.process = process, .tid = 7});
    const TrackId gloo = builder.AddTrack({.process = process, .tid = 8});
    const TrackId stream = builder.AddTrack({.process = device, .kind = TrackKind::kDeviceStream, .tid = 20});
    const StringId marker = builder.Intern("marker"), barrier = builder.Intern("gloo:barrier");
    const StringId reduce = builder.Intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
    const int64_t clock = clocks_[static_cast<size_t>(rank)];
    const int64_t begin_ns = step_start_[static_cast<size_t>(first)],
                  end_ns = step_start_[static_cast<size_t>(end) - 1];
    builder.AddSpan({.start = {begin_ns + clock},
                     .duration = {end_ns + shape_.step_ns + shape_.noise_ns - begin_ns},
                     .name = marker,
                     .track = thread});
    for (const Operation& operation : operations_) {
      if (operation.step < first || operation.step >= end) continue;
      if (std::find(operation.ranks.begin(), operation.ranks.end(), rank) == operation.ranks.end()) continue;
      const bool is_lost = operation.step >= 3 && static_cast<double>(Below(1000)) < 1000 * shape_.lost;
      const int64_t time = operation.end_ns + clock + Below(shape_.noise_ns);
      if (is_lost) continue;
      const bool is_gloo = operation.group.empty();
      builder.AddSpan({.start = {time - 50'000},
                       .duration = {50'000},
                       .name = is_gloo ? barrier : reduce,
                       .track = is_gloo ? gloo : stream,
                       .extra = is_gloo ? StringId() : builder.Intern(ArgumentsOf(operation, rank))});
    }
    return {builder.Build(), "rank" + std::to_string(rank) + ".json", -1};
  }

  std::string ArgumentsOf(const Operation& operation, int rank) const {
    std::string text = "\"In msg nelems\": 1024, \"Process Group Name\": \"" + operation.group + "\"";
    const bool has_number =
        shape_.numbers != Numbers::kNone && (shape_.numbers != Numbers::kOfSomeRanks || rank % 2 == 0);
    if (has_number) text += ", \"Seq\": " + std::to_string(operation.number);
    return text;
  }

  std::mt19937_64 random_;
  Shape shape_;
  std::vector<int64_t> step_start_, clocks_;
  std::vector<int> first_steps_, last_steps_;
  std::vector<Operation> operations_;
};

TEST(RandomJobs, OneStepMoreOrLessIsNotMistakenForAClock) {
  for (const Numbers numbers : {Numbers::kAll, Numbers::kNone}) {
    for (const int64_t offset_ns : {2'000'000, -2'000'000, 1'400'000}) {
      SCOPED_TRACE(offset_ns);
      RegularJob job(1, {.noise_ns = 0, .numbers = numbers});
      for (int rank = 0; rank < 4; ++rank)
        job.SetClock(rank, rank == 3 ? offset_ns : 0);
      job.ExpectRight(0);
    }
  }
}

TEST(RandomJobs, NumbersTellWhichStepIsWhich) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const Shape shape{.ranks = 2 + static_cast<int>(random() % 4),
                      .steps = 8 + static_cast<int>(random() % 30),
                      .step_ns = 1'000'000 * (1 + static_cast<int64_t>(random() % 20)),
                      .variation_ns = random() % 2 == 0 ? 0 : 5'000,
                      .noise_ns = random() % 2 == 0 ? 300 : 200'000,
                      .numbers = random() % 3 == 0 ? Numbers::kBeginAgain : Numbers::kAll,
                      .has_pairs = random() % 2 == 0,
                      .has_gloo = random() % 2 == 0,
                      .has_two_windows = random() % 2 == 0,
                      .lost = random() % 2 == 0 ? 0 : 0.05};
    RegularJob job(seed, shape);
    if (shape.lost == 0 && random() % 2 == 0) job.StartLate(1, 1 + static_cast<int>(random() % 3));
    job.ExpectRight(shape.noise_ns);
  }
}

TEST(RandomJobs, WithoutNumbersTheGapsTellWhichStepIsWhich) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const int64_t step_ns = 1'000'000 * (1 + static_cast<int64_t>(random() % 20));
    const Shape shape{.ranks = 2 + static_cast<int>(random() % 4),
                      .steps = 10 + static_cast<int>(random() % 30),
                      .step_ns = step_ns,
                      .variation_ns = step_ns / 20,
                      .numbers = random() % 2 == 0 ? Numbers::kNone : Numbers::kOfSomeRanks,
                      .has_pairs = random() % 2 == 0,
                      .has_gloo = random() % 2 == 0};
    RegularJob job(seed, shape);
    if (random() % 2 == 0) job.StartLate(1, 1 + static_cast<int>(random() % 3));
    job.ExpectRight(shape.noise_ns);
  }
}

TEST(RandomJobs, RanksOfOneMachineKeepTheirClockWhereverTheyBegin) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const Shape shape{.ranks = 3 + static_cast<int>(random() % 4),
                      .steps = 12 + static_cast<int>(random() % 30),
                      .step_ns = 1'000'000 * (1 + static_cast<int64_t>(random() % 20)),
                      .variation_ns = 5'000,
                      .noise_ns = 1'000 * (1 + static_cast<int64_t>(random() % 100)),
                      .numbers = random() % 2 == 0 ? Numbers::kNone : Numbers::kAll,
                      .has_gloo = random() % 2 == 0,
                      .has_one_host = true};
    RegularJob job(seed, shape);
    job.StartLate(1, 1 + static_cast<int>(random() % 3));
    job.StopEarly(2, 1 + static_cast<int>(random() % 3));
    job.ExpectRight(0);
  }
}

}  // namespace
}  // namespace opscope
