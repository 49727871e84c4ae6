// The outermost spans of one name on several threads are compared where they overlap in time with those of the longest
// thread; threads that do not run while it does are another phase of the program.
//
//   step 3   thread 1   |------ forward 90 us ------|
//            thread 2   |-- forward 30 us --|                      the longest exceeds the mean of 60 us by 30 us
// SPDX-License-Identifier: Apache-2.0
#include "analysis/advise/thread_comparison.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/host_spans.h"
#include "analysis/steps_of_ranks.h"
#include "analysis/track_spans.h"
#include "base/saturating.h"

namespace opscope::advise {
namespace {

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

// Finds the differences of one trace.
class ThreadReader {
 public:
  explicit ThreadReader(const Job& job) : job_(job), host_(job.trace), track_of_(job.trace.string_count(), kNoTrack) {}

  // Calls use(step, excess, evidence) for each step and name of which threads differ, name by name.
  template <typename Use>
  void Compare(const Use& use) {
    for (const RankActivity& rank : job_.ranks)
      if (rank.threads.size() > 1) Collect(rank);
    std::sort(spans_.begin(), spans_.end(),
              [](const ThreadSpan& a, const ThreadSpan& b) { return a.order() < b.order(); });
    for (size_t at = 0; at < spans_.size();) {
      const size_t begin = at;
      while (at < spans_.size() && spans_[at].name == spans_[begin].name && spans_[at].step == spans_[begin].step)
        ++at;
      CompareThreads(begin, at, use);
    }
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
    const int64_t excess = ExcessOverMean(lengths, longest.times.length());
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

void ThreadComparison::Add(const Job& job, size_t first_step, const Translate& translate) {
  if (!job.has_real_steps()) return;
  ThreadReader(job).Compare([&](size_t step, int64_t excess_ns, const Evidence& evidence) {
    const Evidence translated = translate(evidence);
    OfName& of_name = by_name_[translated.name];
    of_name.total_ns = SaturatingAdd(of_name.total_ns, excess_ns);
    of_name.steps.push_back({first_step + step, excess_ns, translated});
  });
}

Cause ThreadComparison::Imbalance(size_t steps) const {
  Cause cause(FindingKind::kThreadImbalance, Confidence::kMedium, steps);
  const auto largest = std::max_element(by_name_.begin(), by_name_.end(), [](const auto& a, const auto& b) {
    return a.second.total_ns < b.second.total_ns;
  });
  if (largest == by_name_.end()) return cause;
  for (const Excess& excess : largest->second.steps) {
    cause.AddSaving(excess.step, excess.ns);
    cause.AddEvidence(excess.evidence);
  }
  return cause;
}

}  // namespace opscope::advise
