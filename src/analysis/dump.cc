// Reads the cause of a snapshot from the recording's options, and lists the spans that were open. Spans unfinished at a
// regular stop are not listed: only a recording that was cut off, by a snapshot or by a crash, has a state worth
// showing.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/dump.h"

#include "analysis/track_spans.h"
#include "base/json_members.h"
#include "base/parse_whole.h"

namespace opscope {
namespace {

// Strips the outermost brackets or quotes.
std::string_view Inside(std::string_view value) {
  return value.size() < 2 ? std::string_view() : value.substr(1, value.size() - 2);
}

bool WasCutOff(const Trace& trace) {
  const ProblemColumns& problems = trace.problems();
  for (size_t row = 0; row < problems.size(); ++row)
    if (trace.text(problems.kind[row]) == "recording_not_ended") return true;
  return CauseOfDump(trace).has_value();
}

}  // namespace

std::optional<DumpCause> CauseOfDump(const Trace& trace) {
  const std::string_view dump = Inside(FindJsonMember(Inside(trace.info().options_json), "dump"));
  const std::string_view reason = FindJsonMember(dump, "reason");
  if (reason.empty()) return std::nullopt;
  // Both are a few words of ASCII; JSON escapes are kept as they are.
  return DumpCause{.reason = std::string(Inside(reason)),
                   .detail = std::string(Inside(FindJsonMember(dump, "detail"))),
                   .number = ParseWhole<uint64_t>(FindJsonMember(dump, "number")).value_or(0),
                   .unix_ns = ParseWhole<int64_t>(FindJsonMember(dump, "unix_ns")).value_or(0)};
}

std::vector<OpenSpans> FindOpenSpans(const Trace& trace) {
  std::vector<OpenSpans> threads;
  if (!WasCutOff(trace)) return threads;
  const TrackColumns& tracks = trace.tracks();
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] != TrackKind::kThread || tracks.span_count[track] == 0) continue;
    OpenSpans& thread = threads.emplace_back();
    thread.track = TrackId{track};
    for (const uint32_t span : SpansOfTrack(trace, track))
      if ((trace.spans().flags[span] & span_flags::kUnfinished) != 0) thread.spans.push_back(SpanId{span});
  }
  return threads;
}

}  // namespace opscope
