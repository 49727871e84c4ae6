// What an input says of itself, and what is wrong with it or missing from it: the texts of `opscope info`.
//
//   Print(FormatInfo(trace));
//   Print(FormatLoss(trace));   // "" for a complete recording
//
// Unless noted, text is for people and escapes control characters; JSON and tables are for programs.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "opscope/analysis/quality.h"
#include "opscope/report/result_table.h"
#include "opscope/trace.h"

namespace opscope {

// Which lists InfoJson has beside the facts.
struct InfoLists {
  bool threads = false;
  bool steps = false;
};
// "opscope.info/1". With lists, "thread_list" and "step_list" are arrays of objects beside the facts.
[[nodiscard]] std::string InfoJson(const Trace& trace, const Quality& quality, const InfoLists& lists = {});
// The same facts as aligned lines, with the problems below them.
[[nodiscard]] std::string FormatInfo(const Trace& trace);

// The columns of the three tables below, for help texts and references.
[[nodiscard]] const ResultDescription& InfoResult();
[[nodiscard]] const ResultDescription& ThreadListResult();
[[nodiscard]] const ResultDescription& StepListResult();

// One row: the facts that are plain numbers and texts. `file`: its name.
[[nodiscard]] ResultTable InfoTable(const Trace& trace, std::string_view file);
// The threads and steps of a trace (opscope/analysis/contents.h), a row for each. Times in text are since the first
// begin, as --time takes them.
[[nodiscard]] ResultTable ThreadListTable(const Trace& trace);
[[nodiscard]] ResultTable StepListTable(const Trace& trace);

// The "problems" array, and the problems as text, one per line; "" without problems.
[[nodiscard]] std::string ProblemsJson(const Trace& trace);
[[nodiscard]] std::string FormatProblems(const Trace& trace);

// Lines to print below a table of any verb: what is missing from the recording, and why it has no operators if that is
// known. "": nothing is missing.
[[nodiscard]] std::string FormatLoss(const Trace& trace);

}  // namespace opscope
