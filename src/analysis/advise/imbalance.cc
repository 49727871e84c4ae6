// Causes that show when ranks or threads are compared. Steps of several ranks are one step if their numbers are equal.
// Threads are compared within a step by the outermost host spans of one name, such as `forward` on the threads of
// nn.DataParallel; those that do not run while the longest thread does are another phase of the program.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/advise/causes.h"
#include "analysis/host_spans.h"
#include "analysis/steps_of_ranks.h"
#include "analysis/track_spans.h"
#include "base/saturating.h"
#include "opscope/analysis/steps.h"

namespace opscope::advise {
namespace {

// What a rank took in a step.
struct RankTime {
  int32_t rank = -1;
  TrackId track = TrackId::kNone;  // of the step
  Interval step;
  int64_t time_ns = 0;
};
using TimesByStep = std::map<int64_t, std::vector<RankTime>>;

Evidence EvidenceOf(const RankTime& time) {
  return {time.rank, time.track, StringId::kEmpty, time.step.begin, time.step.end};
}

// How much longer `time` is than the mean of `times`, rounded down.
template <typename Times>
int64_t ExcessOver(const Times& times, int64_t time) {
  int64_t sum = 0;
  for (const int64_t each : times)
    sum = SaturatingAdd(sum, each);
  const auto count = static_cast<int64_t>(times.size());
  return time - sum / count - (sum % count != 0 ? 1 : 0);
}

// The rank that takes longer than the mean over all steps together. Times that only vary make another rank the longest
// in each step; such differences cancel out here, and each step's share of the sum counts.
Cause CauseOfLongest(const TimesByStep& by_step) {
  std::map<int32_t, int64_t> sums;                // by rank, of what it takes longer than the mean; may be negative
  std::vector<std::map<int32_t, int64_t>> steps;  // the same of each step
  for (const auto& [number, times] : by_step) {
    std::vector<int64_t> lengths;
    for (const RankTime& time : times)
      lengths.push_back(time.time_ns);
    std::map<int32_t, int64_t>& excess = steps.emplace_back();
    for (const RankTime& time : times) {
      excess[time.rank] = ExcessOver(lengths, time.time_ns);
      sums[time.rank] = SaturatingAdd(sums[time.rank], excess[time.rank]);
    }
  }
  Cause cause(FindingKind::kRankImbalance, Confidence::kMedium, by_step.size());
  const auto most =
      std::max_element(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == sums.end() || most->second <= 0) return cause;
  const auto& [rank, sum] = *most;
  double longer = 0;
  for (std::map<int32_t, int64_t>& excess : steps)
    longer += static_cast<double>(std::max<int64_t>(0, excess[rank]));
  size_t step = 0;
  for (const auto& [number, times] : by_step) {
    const int64_t excess = steps[step][rank];
    if (excess > 0) {
      cause.AddSaving(step, static_cast<int64_t>(static_cast<double>(excess) * (static_cast<double>(sum) / longer)));
      cause.AddEvidence(EvidenceOf(
          *std::find_if(times.begin(), times.end(), [&](const RankTime& time) { return time.rank == rank; })));
    }
    ++step;
  }
  return cause;
}

// MegEngine's interpreter and its workers have each scope one after the other: stages, between which nothing is divided.
bool IsStage(const Trace& trace, uint32_t span) {
  const std::string_view category = trace.text(trace.spans().category[span]);
  return category == "scope" || category == "module";
}

// An outermost host span of a name that several threads have.
struct ThreadSpan {
  size_t step = 0;
  StringId name = StringId::kNone;
  uint32_t track = 0;
  Interval time;

  auto order() const { return std::tuple(name, step, track, time.begin); }
};

class ThreadComparison {
 public:
  explicit ThreadComparison(const Job& job)
      : job_(job), host_(job.trace), track_of_(job.trace.string_count(), kNoTrack) {}

  Cause Compare() {
    for (const RankActivity& rank : job_.ranks)
      if (rank.threads.size() > 1) Collect(rank);
    std::sort(spans_.begin(), spans_.end(),
              [](const ThreadSpan& a, const ThreadSpan& b) { return a.order() < b.order(); });
    // A Cause has an entry per step: one Cause per name would take names x steps.
    size_t largest = 0;
    int64_t largest_ns = 0;
    for (size_t at = 0; at < spans_.size();) {
      const size_t begin = at;
      int64_t total_ns = 0;
      at = CompareSteps(begin,
                        [&](size_t, int64_t excess, const Evidence&) { total_ns = SaturatingAdd(total_ns, excess); });
      if (total_ns > largest_ns) largest = begin, largest_ns = total_ns;
    }
    Cause cause(FindingKind::kThreadImbalance, Confidence::kMedium, job_.steps);
    if (largest_ns == 0) return cause;
    CompareSteps(largest, [&](size_t step, int64_t excess, const Evidence& evidence) {
      cause.AddSaving(step, excess);
      cause.AddEvidence(evidence);
    });
    return cause;
  }

 private:
  template <typename Use>
  void ForEachOutermost(uint32_t track, const Use& use) const {
    const SpanColumns& spans = job_.trace.spans();
    int64_t end = INT64_MIN;
    host_.ForEach(track, [&](uint32_t span) {
      const Interval time = TimeOfSpan(spans, span);
      if (!IsSelected(job_.selected, span) || time.begin < end) return;
      end = time.end;
      if (spans.name[span] != StringId::kNone && !IsStage(job_.trace, span)) use(spans.name[span], time);
    });
  }

  // The spans of names that more than one thread has: of others there is nothing to compare.
  void Collect(const RankActivity& rank) {
    std::vector<StringId> names;
    for (const uint32_t track : rank.threads) {
      ForEachOutermost(track, [&](StringId name, const Interval&) {
        uint32_t& seen = track_of_[Row(name)];
        if (seen == kNoTrack) names.push_back(name);
        seen = seen == kNoTrack || seen == track ? track : kSeveral;
      });
    }
    for (const uint32_t track : rank.threads) {
      ForEachOutermost(track, [&](StringId name, const Interval& time) {
        if (track_of_[Row(name)] != kSeveral) return;
        if (const std::optional<size_t> step = rank.StepAt(time.begin))
          spans_.push_back({rank.first_step + *step, name, track, time});
      });
    }
    for (const StringId name : names)
      track_of_[Row(name)] = kNoTrack;
  }

  // Calls use(step, excess, evidence) for each step in which threads differ in the spans of one name, which begin at
  // `at`. Returns the end of these spans.
  template <typename Use>
  size_t CompareSteps(size_t at, const Use& use) const {
    const StringId name = spans_[at].name;
    while (at < spans_.size() && spans_[at].name == name) {
      const size_t begin = at, step = spans_[at].step;
      while (at < spans_.size() && spans_[at].name == name && spans_[at].step == step)
        ++at;
      CompareThreads(begin, at, use);
    }
    return at;
  }

  // Spans [begin, end) have one name and one step, by track.
  template <typename Use>
  void CompareThreads(size_t begin, size_t end, const Use& use) const {
    struct ThreadTime {
      uint32_t track;
      IntervalSet times;
    };
    std::vector<ThreadTime> threads;
    for (size_t at = begin; at < end;) {
      std::vector<Interval> times;
      const uint32_t track = spans_[at].track;
      for (; at < end && spans_[at].track == track; ++at)
        times.push_back(spans_[at].time);
      threads.push_back({track, IntervalSet(std::move(times))});
    }
    if (threads.size() < 2) return;
    const ThreadTime& longest =
        *std::max_element(threads.begin(), threads.end(),
                          [](const ThreadTime& a, const ThreadTime& b) { return a.times.length() < b.times.length(); });
    std::vector<int64_t> lengths;
    for (const ThreadTime& thread : threads) {
      const bool overlaps = thread.times.Minus(longest.times).length() < thread.times.length();
      if (&thread == &longest || overlaps) lengths.push_back(thread.times.length());
    }
    const int64_t excess = ExcessOver(lengths, longest.times.length());
    if (lengths.size() < 2 || excess <= 0) return;
    const auto intervals = longest.times.intervals();
    use(spans_[begin].step, excess,
        Evidence{RankOfTrack(job_.trace, TrackId{longest.track}), TrackId{longest.track}, spans_[begin].name,
                 intervals.front().begin, intervals.back().end});
  }

  static constexpr uint32_t kNoTrack = UINT32_MAX, kSeveral = UINT32_MAX - 1;

  const Job& job_;
  HostSpans host_;
  std::vector<uint32_t> track_of_;  // by name: the thread of the rank that has it, or kSeveral
  std::vector<ThreadSpan> spans_;
};

}  // namespace

Cause FindExposedCommunication(const Job& job) {
  TimesByStep by_step;
  for (const RankActivity& rank : job.ranks) {
    const IntervalSet exposed = rank.communication.Minus(rank.compute);
    for (const RankStep& step : rank.steps)
      by_step[step.number].push_back(
          {rank.rank, step.track, step.time, exposed.LengthIn(step.time.begin, step.time.end)});
  }
  Cause cause(FindingKind::kExposedCommunication, Confidence::kMedium, by_step.size());
  size_t step = 0;
  for (const auto& [number, times] : by_step) {
    const RankTime& least = *std::min_element(
        times.begin(), times.end(), [](const RankTime& a, const RankTime& b) { return a.time_ns < b.time_ns; });
    cause.AddSaving(step++, least.time_ns);
    if (least.time_ns > 0) cause.AddEvidence(EvidenceOf(least));
  }
  return cause;
}

Cause FindRankImbalance(const Job& job) {
  TimesByStep by_step;
  if (job.ranks.size() > 1 && job.has_real_steps()) {
    const bool has_works =
        std::any_of(job.ranks.begin(), job.ranks.end(), [](const RankActivity& rank) { return !rank.works.empty(); });
    for (const StepTimes& row : MeasureSteps(job.trace, job.selected).rows) {
      const int64_t time = has_works ? SaturatingAdd(row.compute_ns, row.copy_ns) : row.host_ns;
      by_step[row.number].push_back(
          {row.rank, TrackId::kNone, {row.start_ns, SaturatingAdd(row.start_ns, row.duration_ns)}, time});
    }
  }
  std::erase_if(by_step, [](const auto& step) { return step.second.size() < 2; });
  return CauseOfLongest(by_step);
}

Cause FindThreadImbalance(const Job& job) {
  if (!job.has_real_steps()) return Cause(FindingKind::kThreadImbalance, Confidence::kMedium, 0);
  return ThreadComparison(job).Compare();
}

}  // namespace opscope::advise
