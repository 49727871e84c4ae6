// Formats the judgement of a trace (opscope/analysis/quality.h): a JSON object, and a line like "usable: 3 spans cross
// others". A good trace has no line, so that tables stay clean.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/quality.h"

#include "base/escaped_text.h"
#include "base/json_object.h"
#include "base/text.h"

namespace opscope {
namespace {

const char* VerdictName(Verdict verdict) {
  constexpr const char* kVerdicts[] = {"good", "usable", "doubtful"};
  return kVerdicts[static_cast<int>(verdict)];
}

}  // namespace

std::string QualityJson(const Quality& quality) {
  std::string out;
  JsonObject object(&out);
  object.Text("verdict", VerdictName(quality.verdict));
  object.Key("reasons");
  out += '[';
  for (const std::string& reason : quality.reasons) {
    if (out.back() != '[') out += ", ";
    AppendJsonString(&out, reason);
  }
  out += ']';
  object.Close();
  return out;
}

std::string FormatQuality(const Quality& quality) {
  if (quality.verdict == Verdict::kGood) return "";
  std::string line = VerdictName(quality.verdict);
  for (const std::string& reason : quality.reasons)
    line.append(line.find(':') == std::string::npos ? ": " : "; ").append(EscapedText(reason));
  return line;
}

}  // namespace opscope
