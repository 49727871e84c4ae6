// Judges how far the numbers of a trace can be trusted, by a few rules: lost events make it doubtful; so do more than 5
// % of kernels that begin before their launch (host and device clocks disagree); fewer such kernels, more than 1 % of
// kernels without a launch, or crossing spans leave it usable. Each reason is a sentence for the user.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/quality.h"

#include <algorithm>
#include <utility>

#include "analysis/device_report.h"

namespace opscope {
namespace {

struct WorkCounts {
  uint64_t works = 0;
  uint64_t before_launch = 0;  // begin before their launching call
  uint64_t without_launch = 0;
};

WorkCounts CountWorks(DeviceAnalysisState* works) {
  const Trace& trace = works->trace;
  const SpanColumns& spans = trace.spans();
  WorkCounts counts;
  for (uint32_t track = 0; track < trace.tracks().size(); ++track) {
    works->finder.ForEach(track, nullptr, [&](uint32_t span, WorkClass) {
      ++counts.works;
      const SpanId call = works->calls.LaunchOf(span);
      if (call == SpanId::kNone) {
        ++counts.without_launch;
      } else if (spans.start[span].ns < spans.start[Row(call)].ns) {
        ++counts.before_launch;
      }
    });
  }
  return counts;
}

// Counts spans that were clipped at their parent's end, and spans that were kept outside of the nesting.
uint64_t CountCrossing(const Trace& trace) {
  const ProblemColumns& problems = trace.problems();
  const auto flags = trace.spans().flags;
  auto crossing = static_cast<uint64_t>(
      std::count_if(flags.begin(), flags.end(), [](uint8_t f) { return (f & span_flags::kCrossing) != 0; }));
  for (size_t i = 0; i < problems.size(); ++i)
    if (trace.text(problems.kind[i]) == "crossing_spans") crossing += problems.count[i];
  return crossing;
}

std::vector<std::string> LossesOf(const Trace& trace) {
  std::vector<std::string> losses;
  if (const TraceInfo& info = trace.info(); info.dropped > 0) {
    losses.push_back(std::to_string(info.dropped) + " of " + std::to_string(info.recorded + info.dropped) +
                     " events were dropped");
  }
  const ProblemColumns& problems = trace.problems();
  for (size_t i = 0; i < problems.size(); ++i) {
    const bool is_cap = trace.text(problems.kind[i]) == "dropped_at_cap";
    if (is_cap && trace.info().dropped > 0) continue;  // already reported as dropped events
    if (!is_cap && problems.severity[i] < ProblemSeverity::kDataLoss) continue;
    losses.push_back("problem " + std::string(trace.text(problems.kind[i])));
    if (problems.count[i] > 1) losses.back() += " (" + std::to_string(problems.count[i]) + " times)";
  }
  return losses;
}

std::string Of(uint64_t some, uint64_t all, const char* what) {
  return std::to_string(some) + " of " + std::to_string(all) + " kernels, copies and sets " + what;
}

}  // namespace

Quality JudgeQuality(DeviceAnalysisState* works) {
  const Trace& trace = works->trace;
  Quality quality;
  const auto add = [&](Verdict verdict, std::string reason) {
    quality.verdict = std::max(quality.verdict, verdict);
    quality.reasons.push_back(std::move(reason));
  };
  for (std::string& loss : LossesOf(trace))
    add(Verdict::kDoubtful, std::move(loss));
  const WorkCounts counts = CountWorks(works);
  if (counts.before_launch > 0) {
    // More than 5 %.
    const bool are_many = counts.before_launch * 20 > counts.works;
    add(are_many ? Verdict::kDoubtful : Verdict::kUsable,
        Of(counts.before_launch, counts.works, "begin before the call that launched them"));
  }
  if (counts.without_launch * 100 > counts.works)  // more than 1 %
    add(Verdict::kUsable, Of(counts.without_launch, counts.works, "have no call that launched them"));
  if (const uint64_t crossing = CountCrossing(trace); crossing > 0)
    add(Verdict::kUsable, std::to_string(crossing) + " spans cross others");
  return quality;
}

}  // namespace opscope
