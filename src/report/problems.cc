// The problems of inputs, as JSON and as text, and how far the inputs of one result can be trusted together.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "base/escaped_text.h"
#include "base/json_object.h"
#include "opscope/analysis/quality.h"
#include "opscope/report/info.h"
#include "opscope/report/result_inputs.h"

namespace opscope {
namespace {

constexpr std::string_view kSeverityNames[] = {"info", "data_loss", "error"};

// Whether the text is a list of ranks such as "[-1,3]", as merges write it: a damaged file may have any text there.
bool IsRankList(std::string_view text) {
  std::string list = "[";
  const char *at = text.data() + 1, *const end = text.data() + text.size();
  while (at < end) {
    int32_t rank = 0;
    const auto [behind, error] = std::from_chars(at, end, rank);
    if (error != std::errc()) break;
    list.append(list.size() == 1 ? "" : ",").append(std::to_string(rank));
    at = behind + 1;
  }
  return list + "]" == text;
}

// An object for each problem, separated from what `out` has after `begin`. `file`: "" of the only input.
void AppendProblems(const Trace& trace, const std::string& file, size_t begin, std::string* out) {
  const ProblemColumns& problems = trace.problems();
  for (size_t i = 0; i < problems.size(); ++i) {
    *out += out->size() == begin ? "\n" : ",\n";
    JsonObject object(out);
    if (!file.empty()) object.Text("file", file);
    object.Text("kind", trace.text(problems.kind[i]));
    object.Text("severity", ProblemSeverityName(problems.severity[i]));
    object.Uint("count", problems.count[i]);
    object.Int("first_offset", problems.first_offset[i]);
    object.Text("message", trace.text(problems.message[i]));
    const std::string_view ranks = trace.text(problems.ranks[i]);
    if (!ranks.empty() && IsRankList(ranks)) object.Json("ranks", ranks);
    object.Close();
  }
}

}  // namespace

std::string_view ProblemSeverityName(ProblemSeverity severity) {
  return kSeverityNames[static_cast<size_t>(severity)];
}

std::optional<ProblemSeverity> ProblemSeverityFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(kSeverityNames); ++i)
    if (kSeverityNames[i] == name) return static_cast<ProblemSeverity>(i);
  return std::nullopt;
}

std::string ProblemsJson(const Trace& trace) {
  const ResultInput input{&trace, {}};
  return ProblemsJson(std::span(&input, 1));
}

std::string ProblemsJson(std::span<const ResultInput> inputs) {
  std::string out = "[";
  for (const ResultInput& input : inputs)
    AppendProblems(*input.trace, inputs.size() > 1 ? input.name : std::string(), 1, &out);
  return out + (out.size() == 1 ? "]" : "\n]");
}

Quality JudgeInputs(std::span<const ResultInput> inputs) {
  Quality worst;
  for (const ResultInput& input : inputs) {
    const Quality quality = JudgeQuality(*input.trace);
    worst.verdict = std::max(worst.verdict, quality.verdict);
    for (const std::string& reason : quality.reasons)
      worst.reasons.push_back(inputs.size() > 1 ? input.name + ": " + reason : reason);
  }
  return worst;
}

std::string FormatProblems(const Trace& trace) {
  const ProblemColumns& problems = trace.problems();
  std::string out;
  for (size_t i = 0; i < problems.size(); ++i) {
    out += ProblemSeverityName(problems.severity[i]) == "data_loss" ? "data loss"
                                                                    : ProblemSeverityName(problems.severity[i]);
    out += ": " + EscapedText(trace.text(problems.message[i])) + " (" + EscapedText(trace.text(problems.kind[i]));
    out += ", " + std::to_string(problems.count[i]) + "x";
    if (problems.first_offset[i] >= 0) out += ", first at byte " + std::to_string(problems.first_offset[i]);
    out += ")\n";
  }
  return out;
}

}  // namespace opscope
