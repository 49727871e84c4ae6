// The traces that a result was computed from: their problems and their quality.
//
//   const ResultInput inputs[] = {{&before, "a.json"}, {&after, "b.json"}};
//   std::string json = ResultJson(result, inputs);
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "opscope/analysis/quality.h"
#include "opscope/trace.h"

namespace opscope {

// One trace.
struct ResultInput {
  const Trace* trace = nullptr;
  // Of its file. Of several inputs each problem and each reason says from which it is.
  std::string name = {};
};

// The "problems" array: of each input in turn. With several inputs each problem has its
// "file".
[[nodiscard]] std::string ProblemsJson(std::span<const ResultInput> inputs);

// "info", "data_loss", "error"
[[nodiscard]] std::string_view ProblemSeverityName(ProblemSeverity severity);
// nullopt: none of these.
[[nodiscard]] std::optional<ProblemSeverity> ProblemSeverityFromName(std::string_view name);

// The worst verdict, and the reasons of all.
[[nodiscard]] Quality JudgeInputs(std::span<const ResultInput> inputs);

}  // namespace opscope
