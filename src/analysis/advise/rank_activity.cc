// One pass over the streams and one over the threads of each rank. What a name means for advice is a set of bits that
// is computed once per distinct name, so that a host span costs one table access unless its name matters.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/advise/rank_activity.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/device_work.h"
#include "analysis/host_spans.h"
#include "analysis/steps_of_ranks.h"
#include "analysis/track_spans.h"
#include "base/natural_sort.h"
#include "base/saturating.h"
#include "opscope/analysis/contents.h"

namespace opscope::advise {
namespace {

constexpr uint64_t kShortestRun = 3;

// Bits of a name.
enum Trait : uint8_t {
  kWaits = 1,
  kCompiles = 2,
  kAllocatesOnDevice = 4,
  kPointwiseOperator = 8,
  kPointwiseKernel = 16,
  kCopiesHostDevice = 32,
  kIsKnown = 128,
};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

bool IsPointwiseOperator(std::string_view name) {
  if (!name.starts_with("aten::")) return false;
  name.remove_prefix(6);
  if (name.ends_with('_')) name.remove_suffix(1);
  for (const std::string_view op :
       {"add", "sub", "mul", "div", "neg", "relu", "sigmoid", "tanh", "exp", "gelu", "silu", "clamp"})
    if (name == op) return true;
  return false;
}

bool IsCompilation(std::string_view name) {
  const size_t compile = name.find("_compile");
  return Contains(name, "compile_inner") || Contains(name, "backend_compile") || Contains(name, "CompileModule") ||
         name.starts_with("XlaCompile") ||
         (compile != name.npos && name.find("dynamo_timed", compile + 8) != name.npos);
}

uint8_t TraitsOf(std::string_view name) {
  uint8_t traits = kIsKnown;
  for (const std::string_view op : {"aten::item", "aten::_local_scalar_dense", "aten::nonzero"})
    if (name == op) traits |= kWaits;
  for (const std::string_view call : {"cudaMalloc", "cudaFree", "hipMalloc", "hipFree"})
    if (name == call) traits |= kAllocatesOnDevice;
  if (IsCompilation(name)) traits |= kCompiles;
  if (IsPointwiseOperator(name)) traits |= kPointwiseOperator;
  if (Contains(name, "elementwise") || Contains(name, "pointwise")) traits |= kPointwiseKernel;
  if (Contains(name, "HtoD") || Contains(name, "DtoH")) traits |= kCopiesHostDevice;
  return traits;
}

// Follows pointwise kernels or operators of one track.
class RunFinder {
 public:
  explicit RunFinder(RankActivity* rank) : rank_(rank) {}

  // The next kernel or operator of the track. A run ends where its step does.
  void Add(uint32_t span, Interval time, bool is_pointwise) {
    if (!is_pointwise) return End();
    const std::optional<size_t> step = rank_->StepAt(time.begin);
    if (!step) return End();
    if (run_.length > 0 && run_.step != *step) End();
    const int64_t duration = SaturatingSubtract(time.end, time.begin);
    if (run_.length == 0) run_ = {.step = *step, .first = span, .time = time};
    ++run_.length;
    run_.time.end = std::max(run_.time.end, time.end);
    run_.total_ns = SaturatingAdd(run_.total_ns, duration);
    run_.longest_ns = std::max(run_.longest_ns, duration);
  }
  void End() {
    if (run_.length >= kShortestRun) rank_->runs.push_back(run_);
    run_.length = 0;
  }

 private:
  RankActivity* rank_;
  PointwiseRun run_;
};

class Collector {
 public:
  Collector(const Trace& trace, const std::vector<uint8_t>* selected)
      : trace_(trace),
        spans_(trace.spans()),
        selected_(selected),
        works_(trace),
        calls_(trace),
        host_(trace),
        traits_(trace.string_count()) {}

  std::vector<RankActivity> Collect() {
    const TrackColumns& tracks = trace_.tracks();
    std::map<int32_t, std::vector<uint32_t>> streams, threads;
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      if (tracks.span_count[track] == 0) continue;
      const int32_t rank = RankOfTrack(trace_, TrackId{track});
      if (tracks.kind[track] == TrackKind::kDeviceStream) streams[rank].push_back(track);
      if (tracks.kind[track] == TrackKind::kThread) threads[rank].push_back(track);
    }
    std::map<int32_t, RankActivity> ranks;
    FindSteps(&ranks);
    if (ranks.empty()) {
      const TraceWindow all = WindowOfSpans(trace_);
      const RankStep window{.number = 0, .time = {all.start_ns, all.end_ns}, .track = TrackId::kNone};
      for (const auto* of_kind : {&streams, &threads})
        for (const auto& [rank, unused] : *of_kind)
          ranks[rank].steps = {window};
    }
    std::vector<RankActivity> result;
    size_t steps_before = 0;
    for (auto& [number, rank] : ranks) {
      rank.rank = number;
      rank.first_step = steps_before;
      steps_before += rank.steps.size();
      std::vector<Interval> steps;
      steps.reserve(rank.steps.size());
      for (const RankStep& step : rank.steps)
        steps.push_back(step.time);
      rank.timeline = StepTimeline(steps);
      CollectWorks(streams[number], &rank);
      std::set<TrackId> step_tracks;
      for (const RankStep& step : rank.steps)
        step_tracks.insert(step.track);
      const bool has_window = step_tracks.contains(TrackId::kNone);
      for (const uint32_t track : threads[number])
        CollectHostSpans(track, has_window || step_tracks.contains(TrackId{track}), &rank);
      result.push_back(std::move(rank));
    }
    return result;
  }

 private:
  Interval TimeOf(uint32_t span) const { return TimeOfSpan(spans_, span); }

  uint8_t Traits(uint32_t span) {
    const StringId name = spans_.name[span];
    if (name == StringId::kNone) return kIsKnown;
    uint8_t& traits = traits_[Row(name)];
    if (traits == 0) traits = TraitsOf(trace_.text(name));
    return traits;
  }

  void FindSteps(std::map<int32_t, RankActivity>* ranks) const {
    const StepColumns& steps = trace_.steps();
    const bool are_some_selected = HasSelectedStep(trace_, selected_);
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps.span[i] == SpanId::kNone || (are_some_selected && !IsSelected(selected_, Row(steps.span[i])))) continue;
      const uint32_t span = Row(steps.span[i]);
      const TrackId track = spans_.track[span];
      (*ranks)[RankOfTrack(trace_, track)].steps.push_back({steps.number[i], TimeOf(span), track});
    }
    for (auto& [number, rank] : *ranks) {
      std::stable_sort(rank.steps.begin(), rank.steps.end(),
                       [](const RankStep& a, const RankStep& b) { return a.time.begin < b.time.begin; });
    }
  }

  void CollectWorks(const std::vector<uint32_t>& streams, RankActivity* rank) {
    std::vector<Interval> compute, communication, all;
    for (const uint32_t track : streams) {
      RunFinder runs(rank);
      works_.ForEach(track, selected_, [&](uint32_t span, WorkClass work_class) {
        LaunchedWork& work = rank->works.emplace_back(LaunchedWork{TimeOf(span), std::nullopt, span});
        if (const SpanId call = calls_.LaunchOf(span); call != SpanId::kNone) work.launch = TimeOf(Row(call));
        AppendOrExtend(work.work, &all);
        if (work_class == WorkClass::kCompute) AppendOrExtend(work.work, &compute);
        if (work_class == WorkClass::kCommunication) AppendOrExtend(work.work, &communication);
        const bool is_copy = spans_.kind[span] == SpanKind::kCopy;
        if (is_copy && (Traits(span) & kCopiesHostDevice) != 0) rank->host_device_copies.push_back({span, work.work});
        runs.Add(span, work.work, work_class == WorkClass::kCompute && (Traits(span) & kPointwiseKernel) != 0);
      });
      runs.End();
    }
    NaturalSort(&rank->works, [](const LaunchedWork& a, const LaunchedWork& b) { return a.work.begin < b.work.begin; });
    rank->compute = IntervalSet(std::move(compute));
    rank->communication = IntervalSet(std::move(communication));
    rank->kernels = Union(rank->compute, rank->communication);
    rank->all_works = IntervalSet(std::move(all));
  }

  void CollectHostSpans(uint32_t track, bool has_steps, RankActivity* rank) {
    const bool has_works = !rank->works.empty();
    RunFinder runs(rank);
    int64_t end_of_call = INT64_MIN;  // of the last call that no other call encloses
    bool has_spans = false;
    host_.ForEach(track, [&](uint32_t span) {
      if (!IsSelected(selected_, span)) return;
      has_spans = true;
      const uint8_t traits = Traits(span);
      if (has_steps && host_.IsInput(span)) rank->inputs.push_back({span, TimeOf(span)});
      if ((traits & kWaits) != 0 || host_.IsBlockingCall(span)) rank->waits.push_back({span, TimeOf(span)});
      if ((traits & kCompiles) != 0) rank->recompiles.push_back({span, TimeOf(span)});
      if ((traits & kAllocatesOnDevice) != 0) rank->device_allocations.push_back({span, TimeOf(span)});
      if (has_works || spans_.start[span].ns < end_of_call || !host_.IsCall(span)) return;
      end_of_call = TimeOf(span).end;
      runs.Add(span, TimeOf(span), (traits & kPointwiseOperator) != 0);
    });
    runs.End();
    if (has_spans) rank->threads.push_back(track);
  }

  const Trace& trace_;
  const SpanColumns& spans_;
  const std::vector<uint8_t>* selected_;
  WorkFinder works_;
  LaunchCalls calls_;
  HostSpans host_;
  std::vector<uint8_t> traits_;  // by StringId; 0: not looked at yet
};

}  // namespace

IntervalSet TimesOf(const std::vector<NamedSpan>& spans) {
  std::vector<Interval> times;
  times.reserve(spans.size());
  for (const NamedSpan& span : spans)
    times.push_back(span.time);
  return IntervalSet(std::move(times));
}

std::optional<size_t> RankActivity::StepAt(int64_t time) const {
  const uint32_t step = timeline.At(time).step;
  return step == StepTimeline::kNone ? std::nullopt : std::optional<size_t>(step);
}

bool HasSelectedStep(const Trace& trace, const std::vector<uint8_t>* selected) {
  const auto& spans = trace.steps().span;
  return std::any_of(spans.begin(), spans.end(),
                     [&](SpanId span) { return span != SpanId::kNone && IsSelected(selected, Row(span)); });
}

std::vector<RankActivity> CollectActivity(const Trace& trace, const std::vector<uint8_t>* selected) {
  return Collector(trace, selected).Collect();
}

}  // namespace opscope::advise
