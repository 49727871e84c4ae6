// --where, --steps, --time: which spans a verb is about.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "opscope/analysis/span_filter.h"
#include "opscope/result.h"

namespace opscope {

struct SelectionOptions {
  std::vector<std::string> where;  // all must hold
  std::string steps;               // "3", "3..7", "3..", "..7"
  std::string time;                // "10ms..20ms", since the first begin, the end not included
};

void AddSelectionOptions(CLI::App* app, SelectionOptions* options);

// nullopt: everything. The error names the option.
[[nodiscard]] Result<std::optional<SpanFilter>> ReadSelection(const SelectionOptions& options);

}  // namespace opscope
