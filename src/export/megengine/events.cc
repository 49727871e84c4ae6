// Lists the events of MegEngine's timeline, track by track, in the order in which MegEngine writes them (pictures:
// events.h).
// Events that belong to no span (counters, flow ends, instants) are first collected per track and sorted by time;
// WriteTrack then walks the spans in pre-order and merges them in: Flush writes those that are due before each begin
// and end. At equal times the order matters, because viewers bind a flow to the event before it.
// MegEngine writes wrong values for pending operators, redundant tensors and ratios; these are always computed here
// (docs/reference/megengine.md).
// SPDX-License-Identifier: Apache-2.0
#include "export/megengine/events.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/range_maximum.h"
#include "base/saturating.h"
#include "export/span_lanes.h"

namespace opscope {
namespace {

using What = MegEngineEventKind;
using Role = MegEngineRole;
using Events = std::vector<MegEngineMark>;

constexpr std::array<std::string_view, 6> kComputedCounters = {"nr_op_pending",       "nr_redunant_tensor",
                                                               "nr_redundant_tensor", "gpu_usgae_ratio",
                                                               "gpu_usage_ratio",     "train_time_ratio"};

class Lister {
 public:
  Lister(const Trace& trace, const MegEngineFacts& facts)
      : trace_(trace), facts_(facts), spans_(trace.spans()), loose_(trace.tracks().size()) {}

  std::vector<Events> Run() {
    AddCounters();
    if (facts_.is_timed() && !has_ahead_) AddFirstTicks();
    AddFlows();
    AddLives();
    for (uint32_t i = 0; i < trace_.instants().size(); ++i)
      Loose(trace_.instants().track[i], trace_.instants().time[i].ns, i, What::kInstant);
    std::vector<Events> all(loose_.size());
    for (size_t track = 0; track < all.size(); ++track) {
      std::stable_sort(loose_[track].begin(), loose_[track].end(),
                       [](const MegEngineMark& a, const MegEngineMark& b) { return a.time < b.time; });
      WriteTrack(track, &all[track]);
      Events().swap(loose_[track]);
    }
    return all;
  }

 private:
  void Loose(TrackId track, int64_t time, uint32_t row, What what) {
    if (track != TrackId::kNone) loose_[Row(track)].push_back({time, row, what});
  }
  int64_t End(uint32_t span) const { return EndOf(spans_, span).ns; }

  void AddCounters() {
    const CounterColumns& counters = trace_.counters();
    std::vector<int8_t> is_computed(trace_.string_count(), 0);
    for (const std::string_view name : kComputedCounters) {
      if (const auto id = trace_.FindString(name)) is_computed[Row(*id)] = 1;
    }
    const auto ahead = trace_.FindString("device_ahead_ms"), alive = trace_.FindString("nr_alive_tensor");
    for (uint32_t i = 0; i < counters.size(); ++i) {
      if (counters.name[i] != StringId::kNone && is_computed[Row(counters.name[i])] != 0) continue;
      has_ahead_ |= counters.name[i] == ahead;
      has_alive_ |= counters.name[i] == alive;
      Loose(counters.track[i], counters.time[i].ns, i, What::kCounter);
    }
  }

  // At the start of a window each device reports its used memory and then its clock.
  void AddFirstTicks() {
    const auto start = trace_.FindString("StartProfile");
    if (!start) return;
    // By track, the starts in order: begin, and the last end of those up to it.
    std::vector<std::vector<std::pair<int64_t, int64_t>>> starts(loose_.size());
    for (uint32_t row = 0; row < spans_.size(); ++row) {
      if (spans_.name[row] == *start) starts[Row(spans_.track[row])].emplace_back(spans_.start[row].ns, End(row));
    }
    for (auto& of_track : starts) {
      std::sort(of_track.begin(), of_track.end());
      for (size_t i = 1; i < of_track.size(); ++i)
        of_track[i].second = std::max(of_track[i].second, of_track[i - 1].second);
    }
    const CounterColumns& counters = trace_.counters();
    for (size_t i = 0; i < counters.size(); ++i) {
      const TrackId track = counters.track[i];
      if (track == TrackId::kNone || !trace_.text(counters.name[i]).ends_with("_alloc_mem")) continue;
      const int64_t time = counters.time[i].ns;
      const auto& of_track = starts[Row(track)];
      const auto after = std::upper_bound(of_track.begin(), of_track.end(), std::pair(time, INT64_MAX));
      if (after != of_track.begin() && std::prev(after)->second >= time) Loose(track, time, 0, What::kAhead);
    }
  }

  // Arrows with one start and id share one "s" event. An arrow of a tensor ends ("f") where the tensor is released;
  // earlier uses are steps ("t").
  void AddFlows() {
    const FlowColumns& flows = trace_.flows();
    const auto dispatch = trace_.FindString("OpDispatch"), link = trace_.FindString("TensorLink"),
               launch = trace_.FindString("KernelLaunch");
    for (uint32_t i = 0; i < flows.size(); ++i) {
      const StringId category = flows.category[i];
      if (category == dispatch) continue;
      has_links_ |= category == link;
      has_launches_ |= category == launch;
      const auto same = [&](size_t other) {
        return flows.id[other] == flows.id[i] && flows.category[other] == category &&
               flows.start_track[other] == flows.start_track[i];
      };
      const bool is_first = i == 0 || !same(i - 1) || flows.start_time[i - 1] != flows.start_time[i];
      const bool is_last = i + 1 == flows.size() || !same(i + 1);
      if (is_first) Loose(flows.start_track[i], flows.start_time[i].ns, i, What::kFlowStart);
      if (i != 0 && same(i - 1) && flows.end_time[i] == flows.end_time[i - 1] && category != link) continue;
      Loose(flows.end_track[i], flows.end_time[i].ns, i,
            category == link && !is_last ? What::kFlowStep : What::kFlowFinish);
    }
  }

  // Adds the events of tensors at their production and release, on the track of the span that reports it, else on the
  // worker's.
  void AddLives() {
    const TensorLifeColumns& lives = trace_.tensor_lives();
    struct LifeTracks {
      TrackId produced = TrackId::kNone, released = TrackId::kNone;
    };
    std::vector<LifeTracks> tracks_of(lives.size());
    std::vector<TrackId> workers(trace_.processes().size(), TrackId::kNone);
    for (uint32_t track = 0; track < loose_.size(); ++track) {
      if (facts_.IsWorker(TrackId{track})) workers[Row(trace_.tracks().process[track])] = TrackId{track};
    }
    const auto put = trace_.FindString("Put");
    for (uint32_t row = 0; row < spans_.size(); ++row) {
      const Role role = facts_.RoleOf(row);
      if (role != Role::kOutput && role != Role::kCommand) continue;
      const uint32_t life = facts_.LifeOf(row);
      if (life == kNoRow) continue;
      (role == Role::kOutput || spans_.name[row] == put ? tracks_of[life].produced : tracks_of[life].released) =
          spans_.track[row];
    }
    // Process, time, row of tensor_lives, is_release.
    std::vector<std::tuple<uint32_t, int64_t, uint32_t, bool>> points;
    for (uint32_t i = 0; i < lives.size(); ++i) {
      if (lives.track[i] == TrackId::kNone) continue;
      const ProcessId process = trace_.tracks().process[Row(lives.track[i])];
      if (tracks_of[i].produced == TrackId::kNone) tracks_of[i].produced = workers[Row(process)];
      if (tracks_of[i].released == TrackId::kNone) tracks_of[i].released = workers[Row(process)];
      points.emplace_back(Row(process), lives.produced[i].ns, i, false);
      if (lives.duration[i].ns >= 0)
        points.emplace_back(Row(process), (lives.produced[i] + lives.duration[i]).ns, i, true);
    }
    std::sort(points.begin(), points.end());
    uint32_t alive = 0, redundant = 0, last_process = 0;
    for (const auto& [process, time, i, is_release] : points) {
      if (process != last_process) alive = redundant = 0, last_process = process;
      alive += is_release ? UINT32_MAX : 1;
      const TrackId track = is_release ? tracks_of[i].released : tracks_of[i].produced;
      if (!has_alive_) Loose(track, time, alive, What::kAlive);
      if (!has_links_) Loose(track, time, i, is_release ? What::kLinkStep : What::kLinkStart);
      if (!is_release) continue;
      if (lives.uses[i] == 0) Loose(track, time, ++redundant, What::kRedundant);
      if (!has_links_) Loose(track, time, i, What::kLinkFinish);
    }
  }

  static bool IsCounter(What what) { return what == What::kCounter || what >= What::kPending; }

  // Writes the collected events before `time`, and at `time` those that precede a begin (before_begin) or an end.
  void Flush(int64_t time, bool before_begin, Events* out) {
    for (; next_ < current_->size(); ++next_) {
      const MegEngineMark& event = (*current_)[next_];
      if (event.time > time || (event.time == time && before_begin && !IsCounter(event.what))) return;
      out->push_back(event);
    }
  }

  void Close(uint32_t span, Events* out) {
    const int64_t end = End(span);
    if (span == launching_) Launch(end, out);
    // If one kernel ends where the next begins, an arrow at that time belongs to the next.
    const bool is_kernel = facts_.RoleOf(span) == Role::kKernel && spans_.duration[span].ns != 0;
    Flush(end, is_kernel, out);
    out->push_back({end, span, What::kEnd});
  }

  void WriteTrack(size_t track, Events* out) {
    current_ = &loose_[track];
    next_ = 0;
    launching_ = kNoRow;
    if (!facts_.IsShown(static_cast<TrackId>(track))) return;
    std::vector<uint32_t> open;
    const uint32_t first = trace_.tracks().first_span[track], count = trace_.tracks().span_count[track];
    for (uint32_t row = first; row < first + count; ++row) {
      if ((spans_.flags[row] & span_flags::kAsync) != 0) {
        AddCrossing(row, out);
        continue;
      }
      while (!open.empty() && spans_.parent[row] != SpanId{open.back()})
        Close(open.back(), out), open.pop_back();
      Begin(row, out);
      if (facts_.RoleOf(row) != Role::kProperty) open.push_back(row);
    }
    for (; !open.empty(); open.pop_back())
      Close(open.back(), out);
    Flush(INT64_MAX, false, out);
    // Crossing spans end after their parent, so the events may be out of order.
    const auto is_before = [](const MegEngineMark& x, const MegEngineMark& y) { return x.time < y.time; };
    if (!std::is_sorted(out->begin(), out->end(), is_before)) std::stable_sort(out->begin(), out->end(), is_before);
  }

  // Crossing spans follow the nested ones of a track.
  void AddCrossing(uint32_t row, Events* out) {
    out->push_back({spans_.start[row].ns, row, What::kBegin});
    if (facts_.RoleOf(row) == Role::kKernel && !has_launches_)
      out->push_back({spans_.start[row].ns, row, What::kKernelFinish});
    out->push_back({End(row), row, What::kEnd});
  }

  void Begin(uint32_t row, Events* out) {
    const int64_t time = spans_.start[row].ns;
    const Role role = facts_.RoleOf(row);
    if (launching_ != kNoRow && role != Role::kInput) Launch(time, out);
    Flush(time, true, out);
    const MegEngineCall* op = role == Role::kDispatch || role == Role::kOperator ? facts_.OperatorOf(row) : nullptr;
    if (op != nullptr)
      out->push_back({time,
                      static_cast<uint32_t>(role == Role::kDispatch ? op->pending_at_dispatch : op->pending_at_execute),
                      What::kPending});
    out->push_back({time, row, role == Role::kProperty ? What::kComplete : What::kBegin});
    if (role == Role::kDispatch) {
      out->push_back({time, row, What::kDispatchStart});
    } else if (role == Role::kOperator) {
      out->push_back({time, row, What::kDispatchStep});
      launching_ = op != nullptr && op->kernel != kNoRow ? row : kNoRow;
      kernel_ = launching_ == kNoRow ? kNoRow : op->kernel;
    } else if (role == Role::kInput && !has_links_) {
      out->push_back({time, row, What::kUse});
    } else if (role == Role::kKernel && !has_launches_) {
      out->push_back({time, row, What::kKernelFinish});
    } else if (role == Role::kCommand && !has_ahead_ && IsUpload(row)) {
      out->push_back({time, ahead_, What::kAhead});
      out->push_back({time, ahead_, What::kAhead});
    }
  }

  // True for a Put of the worker, an upload that MegEngine brackets by two readings of the device clock.
  bool IsUpload(uint32_t row) const {
    return facts_.is_timed() && trace_.text(spans_.name[row]) == "Put" && facts_.IsWorker(spans_.track[row]);
  }

  void Launch(int64_t until, Events* out) {
    const int64_t launched = facts_.LaunchTime(launching_).ns;
    for (uint32_t kernel = kernel_; kernel != kNoRow; kernel = facts_.NextKernel(kernel)) {
      Flush(launched, false, out);
      if (!has_launches_) out->push_back({launched, kernel, What::kKernelStart});
      if (has_ahead_) continue;
      ahead_ = static_cast<uint32_t>(SaturatingSubtract(spans_.start[kernel].ns, launched) / 1000000);
      out->push_back({launched, ahead_, What::kAhead});
      Flush(SaturatingSubtract(until, 1), false, out);
      const auto ahead_at_end = static_cast<uint32_t>(SaturatingSubtract(End(kernel), until) / 1000000);
      out->push_back({std::max(until, launched), ahead_at_end, What::kAhead});
    }
    launching_ = kNoRow;
  }

  const Trace& trace_;
  const MegEngineFacts& facts_;
  const SpanColumns& spans_;
  std::vector<Events> loose_;
  Events* current_ = nullptr;
  size_t next_ = 0;
  uint32_t launching_ = kNoRow, kernel_ = kNoRow;  // an open operator and its kernel, not launched yet
  uint32_t ahead_ = 0;
  bool has_ahead_ = false, has_alive_ = false, has_links_ = false, has_launches_ = false;
};

}  // namespace

std::vector<std::vector<MegEngineMark>> ListMegEngineMarks(const Trace& trace, const MegEngineFacts& facts) {
  return Lister(trace, facts).Run();
}

namespace {

// A kernel, and the operator around it.
struct Work {
  int64_t begin, start, end, dispatched;
};

using Range = std::pair<int64_t, int64_t>;

int64_t TimeInSteps(std::vector<Work> works, const std::vector<Range>& steps) {
  const auto by_dispatch = [](const Work& a, const Work& b) { return a.dispatched < b.dispatched; };
  std::sort(works.begin(), works.end(), by_dispatch);
  std::vector<int64_t> ends, inverted_starts;  // ~ reverses the order of all integers
  ends.reserve(works.size()), inverted_starts.reserve(works.size());
  for (const Work& work : works)
    ends.push_back(work.end), inverted_starts.push_back(~work.start);
  const RangeMaximum last_end(ends), first_start(inverted_starts);
  const auto place = [&](int64_t time) {
    return static_cast<size_t>(std::lower_bound(works.begin(), works.end(), Work{0, 0, 0, time}, by_dispatch) -
                               works.begin());
  };
  int64_t in_steps = 0;
  for (const auto& [begin, end] : steps) {
    const size_t from = place(begin), to = place(end);
    const int64_t first = ~first_start.In(from, to), last = last_end.In(from, to);
    if (first <= last) in_steps = SaturatingAdd(in_steps, SaturatingSubtract(last, first));
  }
  return in_steps;
}

MegEngineRatios RatiosOfProcess(std::vector<Work> works, const std::vector<Range>& steps) {
  if (works.empty()) return {};
  std::sort(works.begin(), works.end(), [](const Work& a, const Work& b) { return a.begin < b.begin; });
  int64_t first = INT64_MAX, last = INT64_MIN, busy = 0, until = INT64_MIN;
  for (const Work& one : works) {
    first = std::min(first, one.start), last = std::max(last, one.end);
    busy = SaturatingAdd(busy, std::max<int64_t>(0, SaturatingSubtract(one.end, std::max(one.begin, until))));
    until = std::max(until, one.end);
  }
  const auto whole = static_cast<double>(std::max<int64_t>(SaturatingSubtract(last, first), 1));
  const auto in_steps = static_cast<double>(TimeInSteps(std::move(works), steps));
  return {std::min(100.0, 100 * static_cast<double>(busy) / whole), std::min(100.0, 100 * in_steps / whole), last};
}

}  // namespace

std::vector<MegEngineRatios> ComputeMegEngineRatios(const Trace& trace, const MegEngineFacts& facts) {
  const SpanColumns& spans = trace.spans();
  const auto process_of = [&](uint32_t span) { return Row(trace.tracks().process[Row(spans.track[span])]); };
  std::vector<std::vector<Work>> works(trace.processes().size());
  for (const MegEngineCall& op : facts.operators()) {
    if (op.kernel == kNoRow) continue;
    const int64_t before =
        op.execute == kNoRow ? 0 : SaturatingSubtract(facts.LaunchTime(op.execute).ns, spans.start[op.execute].ns);
    for (uint32_t kernel = op.kernel; kernel != kNoRow; kernel = facts.NextKernel(kernel)) {
      const int64_t start = spans.start[kernel].ns;
      works[process_of(kernel)].push_back({SaturatingSubtract(start, before), start, EndOf(spans, kernel).ns,
                                           op.dispatch == kNoRow ? start : spans.start[op.dispatch].ns});
    }
  }
  std::vector<std::vector<Range>> steps(works.size());
  for (const SpanId step : trace.steps().span) {
    if (step == SpanId::kNone) continue;
    const uint32_t span = Row(step);
    steps[process_of(span)].emplace_back(spans.start[span].ns, EndOf(spans, span).ns);
  }
  std::vector<MegEngineRatios> ratios;
  for (size_t process = 0; process < works.size(); ++process)
    ratios.push_back(RatiosOfProcess(std::move(works[process]), steps[process]));
  return ratios;
}

}  // namespace opscope
