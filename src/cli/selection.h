// The options --where, --steps and --time, which select the spans that a verb works on.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "opscope/analysis/span_filter.h"
#include "opscope/result.h"

namespace opscope {

struct SelectionOptions {
  std::vector<std::string> where;    // conditions that must all hold
  std::optional<std::string> steps;  // "3", "3..7", "3..", "..7"
  std::optional<std::string> time;   // "10ms..20ms" since the first begin; the end is exclusive
};

void AddSelectionOptions(Verb* verb, SelectionOptions* options);

// nullopt if all spans are selected. The error names the option.
[[nodiscard]] Result<std::optional<SpanFilter>> ReadSelection(const SelectionOptions& options);

inline constexpr const char* kNoSteps = "it has no steps";

// Explains why no span of several traces is selected.
class EmptySelection {
 public:
  explicit EmptySelection(const std::optional<SpanFilter>& filter) : filter_(filter) {}

  // O(spans) until a selected span was found.
  void Add(const Trace& trace);
  // A sentence; "" if spans are selected.
  std::string Text() const;

 private:
  const std::optional<SpanFilter>& filter_;
  bool has_selected_ = false, has_async_spans_ = false;
  std::string steps_;  // of the first trace that has some
};

// The same of one trace.
std::string DescribeEmptySelection(const Trace& trace, const std::optional<SpanFilter>& filter);

// As ForEachInput, with each trace cut to the selected spans (CutTrace). Reports on standard error if none is left.
int ForEachSelected(const CommonOptions& common, const std::optional<SpanFilter>& filter,
                    const std::function<int(const Trace&, const std::string& file)>& use);

}  // namespace opscope
