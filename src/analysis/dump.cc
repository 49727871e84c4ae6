// Reads the cause of a snapshot from the recording's options, and lists the spans that were open. Spans unfinished at a
// regular stop are not listed: only a recording that was cut off, by a snapshot or by a crash, has a state worth
// showing.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/dump.h"

#include <charconv>

#include "base/json_members.h"

namespace opscope {
namespace {

// Strips the outermost brackets or quotes.
std::string_view Inside(std::string_view value) {
  return value.size() < 2 ? std::string_view() : value.substr(1, value.size() - 2);
}

template <typename Number>
Number NumberIn(std::string_view value) {
  Number number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
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
                   .number = NumberIn<uint64_t>(FindJsonMember(dump, "number")),
                   .unix_ns = NumberIn<int64_t>(FindJsonMember(dump, "unix_ns"))};
}

std::vector<OpenSpans> FindOpenSpans(const Trace& trace) {
  std::vector<OpenSpans> threads;
  if (!WasCutOff(trace)) return threads;
  const TrackColumns& tracks = trace.tracks();
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] != TrackKind::kThread || tracks.span_count[track] == 0) continue;
    OpenSpans& thread = threads.emplace_back();
    thread.track = TrackId{static_cast<uint32_t>(track)};
    for (uint32_t at = 0; at < tracks.span_count[track]; ++at) {
      const uint32_t span = tracks.first_span[track] + at;
      if ((trace.spans().flags[span] & span_flags::kUnfinished) != 0) thread.spans.push_back(SpanId{span});
    }
  }
  return threads;
}

}  // namespace opscope
