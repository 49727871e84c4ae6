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

// The spans that `filter` selects, as analyses take them; get() is null without a filter.
class SelectedSpans {
 public:
  SelectedSpans(const std::optional<SpanFilter>& filter, const Trace& trace) {
    if (filter) spans_ = filter->Select(trace);
  }
  const std::vector<uint8_t>* get() const { return spans_ ? &*spans_ : nullptr; }

 private:
  std::optional<std::vector<uint8_t>> spans_;
};

inline constexpr const char* kNoSteps = "it has no steps";

// A sentence that says that there are no spans of tracks; "" if there are.
std::string DescribeNoSpans(bool has_spans, bool has_async_spans);
// A sentence that explains why no span of `trace` is selected; "" if some are.
std::string DescribeEmptySelection(const Trace& trace, const std::optional<SpanFilter>& filter);

// As ForEachInput, with each trace cut to the selected spans (CutTrace). Reports on standard error if none is left.
int ForEachSelected(const CommonOptions& common, const std::optional<SpanFilter>& filter,
                    const std::function<int(const Trace&, const std::string& file)>& use);

}  // namespace opscope
