// Formats the measured overhead of recording: a JSON object with the cost of each kind of event, and one line of text.
// Kinds have the names that the `.opscope` format gives them (src/wire/FORMAT.md).
// SPDX-License-Identifier: Apache-2.0
#include "report/overhead.h"

#include <cmath>
#include <utility>
#include <vector>

#include "base/json_object.h"
#include "base/saturating.h"
#include "opscope/report/summary.h"
#include "report/human_units.h"

namespace opscope {
namespace {

using Kinds = std::vector<std::pair<std::string, EventCost>>;

// Costs by kind under the names of src/wire/FORMAT.md; empty if the input has no costs.
Kinds KindsOf(const TraceInfo& info) {
  Kinds kinds;
  if (!info.overheads) return kinds;
  for (const OverheadRow& row : info.overheads->rows) {
    if (row.source == MeasuredOverheads::kProgram && row.kind == SpanKind::kUserRange) {
      EventCost async = row.cost;
      async.end_ns = row.async_end_ns;
      kinds.emplace_back("scope", row.cost);
      kinds.emplace_back("async_scope", async);
    } else if (row.source == MeasuredOverheads::kProgram) {
      kinds.emplace_back("point", row.cost);
    } else if (row.source == MeasuredOverheads::kPython) {
      kinds.emplace_back(row.kind == SpanKind::kModule      ? "module_call"
                         : row.kind == SpanKind::kCFunction ? "c_call"
                                                            : "python_call",
                         row.cost);
    } else {
      kinds.emplace_back(row.source + (row.kind == SpanKind::kOperator ? "_op" : "_range"), row.cost);
      if (row.argument.whole_ns() > 0) kinds.emplace_back(row.source + "_argument", row.argument);
    }
  }
  return kinds;
}

void AppendNumber(JsonObject* object, const char* key, double value, std::string* out) {
  object->Key(key);
  AppendDouble(out, value);
}

}  // namespace

Correction CorrectionOf(const SpanOverheads& overhead) {
  return {.whole_ns = ClampToInt64(std::round(overhead.whole_ns)), .events = overhead.events};
}

std::string OverheadJson(const Trace& trace, const Correction& correction) {
  std::string out;
  JsonObject object(&out);
  object.Int("whole_ns", correction.whole_ns);
  object.Uint("events", correction.events);
  object.Key("kinds");
  JsonObject kinds(&out);
  for (const auto& [name, cost] : KindsOf(trace.info())) {
    kinds.EscapedKey(name);
    JsonObject kind(&out);
    AppendNumber(&kind, "inside_ns", cost.inside_ns, &out);
    AppendNumber(&kind, "begin_ns", cost.begin_ns, &out);
    AppendNumber(&kind, "end_ns", cost.end_ns, &out);
    AppendNumber(&kind, "floor_ns", cost.floor_ns, &out);
    kind.Close();
  }
  kinds.Close();
  object.Close();
  return out;
}

std::string FormatOverhead(const Trace& trace, const Correction& correction) {
  std::string out = HumanTime(correction.whole_ns) + " for " + std::to_string(correction.events) + " events";
  const char* separator = ": ";
  for (const auto& [name, cost] : KindsOf(trace.info())) {
    out += std::exchange(separator, ", ") + name + " " + FixedText(cost.whole_ns(), 1) + " ns";
  }
  return out;
}

std::string FormatCorrection(const Correction& correction) {
  std::string out = "Corrected: without the " + HumanTime(correction.whole_ns) + " that recording " +
                    std::to_string(correction.events) + " events took";
  if (correction.below_zero == 0) return out + ".";
  return out + "; " + std::to_string(correction.below_zero) +
         " of them came out below 0, which sums take as it is and nothing shows.";
}

}  // namespace opscope
