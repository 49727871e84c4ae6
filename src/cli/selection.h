// --where, --steps, --time: which spans a verb is about.
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
  std::vector<std::string> where;    // all must hold
  std::optional<std::string> steps;  // "3", "3..7", "3..", "..7"
  std::optional<std::string> time;   // "10ms..20ms", since the first begin, the end not included
};

void AddSelectionOptions(Verb* verb, SelectionOptions* options);

// nullopt: everything. The error names the option.
[[nodiscard]] Result<std::optional<SpanFilter>> ReadSelection(const SelectionOptions& options);

// The spans of a trace that `filter` chooses, for the analyses that take them; null when there is no filter.
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

// Why an analysis of the spans of `trace` that `filter` chooses has nothing to tell, in a sentence; "": there are some.
std::string WhyNothing(const Trace& trace, const std::optional<SpanFilter>& filter);

// ForEachInput, of what `filter` leaves of each trace (CutTrace). Standard error says where it leaves nothing.
int ForEachSelected(const CommonOptions& common, const std::optional<SpanFilter>& filter,
                    const std::function<int(const Trace&, const std::string& file)>& use);

}  // namespace opscope
