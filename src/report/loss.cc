// One line that tells the user what the recording lost: events dropped at the memory cap, and problems of severity data
// loss. An empty string means that nothing is known to be missing.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "base/escaped_text.h"
#include "opscope/report/info.h"

namespace opscope {
namespace {

std::string WithSeparators(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3; at -= 3)
    digits.insert(at - 3, ",");
  return digits;
}

}  // namespace

std::string FormatLoss(const Trace& trace) {
  const TraceInfo& info = trace.info();
  std::string line;
  if (info.dropped > 0) {
    line = WithSeparators(info.dropped) + " of " + WithSeparators(info.recorded + info.dropped) +
           " events were dropped at the cap of memory (max_bytes)";
  }
  const ProblemColumns& problems = trace.problems();
  std::string elsewhere;
  for (size_t i = 0; i < problems.size(); ++i) {
    if (trace.text(problems.kind[i]) == "operators_elsewhere") elsewhere = EscapedText(trace.text(problems.message[i]));
    if (problems.severity[i] < ProblemSeverity::kDataLoss) continue;
    if (trace.text(problems.kind[i]) == "dropped_at_cap") continue;  // part of the dropped events above
    line.append(line.empty() ? "" : "; ").append(EscapedText(trace.text(problems.kind[i])));
    line.append(" ").append(WithSeparators(problems.count[i]));
  }
  if (!line.empty()) line.insert(0, "Incomplete: ");
  if (!line.empty() && !elsewhere.empty()) line.append("\n");
  return line + elsewhere;
}

}  // namespace opscope
