// Frameworks number the ranges of their steps. Tables and flame graphs show all steps under one name, as torch's tables
// do: "ProfilerStep*" for "ProfilerStep#3" (torch), "ProfileStep*" for "ProfileStep#3" (Paddle).
//
// Thread rule: immutable after construction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// The common name of all steps; nullopt if `name` is not a numbered step.
inline std::optional<std::string_view> CommonStepName(std::string_view name) {
  if (name.starts_with("ProfilerStep#")) return "ProfilerStep*";
  if (name.starts_with("ProfileStep#")) return "ProfileStep*";
  return std::nullopt;
}

// Gives all numbered steps of a framework the id of one of their names.
class StepNames {
 public:
  StepNames() = default;  // changes no name
  explicit StepNames(const Trace& trace);

  StringId Join(StringId name) const { return Row(name) < joined_.size() ? StringId{joined_[Row(name)]} : name; }

 private:
  std::vector<uint32_t> joined_;  // by name id; ids beyond its size are unchanged
};

}  // namespace opscope
