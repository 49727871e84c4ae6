// The list is read from a file, so it may be damaged: only rows of the expected form and of known kinds "device_..."
// become problems, and other rows are left out.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/device_problems.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "import/recording/parsed_json.h"
#include "trace/problem_kinds.h"

namespace opscope {
namespace {

namespace json = simdjson::ondemand;

struct DeviceProblem {
  std::string kind, severity, text;
  uint64_t count = 0;
};

bool Read(json::array row, DeviceProblem* problem) {
  size_t at = 0;
  for (auto value : row) {
    std::string_view text;
    if (at == 2) {
      if (value.get_uint64().get(problem->count) != simdjson::SUCCESS) return false;
    } else if (at < 4) {
      if (value.get_string().get(text) != simdjson::SUCCESS) return false;
      (at == 0 ? problem->kind : at == 1 ? problem->severity : problem->text) = text;
    }
    ++at;
  }
  return at == 4 && problem->count > 0 && problem->kind.starts_with("device_");
}

void Add(const DeviceProblem& problem, TraceBuilder* builder) {
  const auto* const kind = std::find_if(std::begin(kProblemKinds), std::end(kProblemKinds),
                                        [&](const ProblemKind& each) { return each.name == problem.kind; });
  if (kind == std::end(kProblemKinds)) return;
  if (problem.severity != "info") return builder->AddProblem(kind->name, -1, problem.count, problem.text);
  std::string sentence(kind->sentence);
  if (!problem.text.empty()) sentence.append(": ").append(problem.text);
  builder->RestoreProblem(kind->name, ProblemSeverity::kInfo, problem.count, -1, sentence);
}

}  // namespace

void AddDeviceProblems(std::string_view text, TraceBuilder* builder) {
  ParsedJson parsed(text);
  json::array rows;
  if (!parsed.Get(&rows)) return;
  for (auto each : rows) {
    json::array row;
    if (each.get_array().get(row) != simdjson::SUCCESS) return;
    DeviceProblem problem;
    if (Read(row, &problem)) Add(problem, builder);
  }
}

}  // namespace opscope
