// Writes a Trace as one HTML page that shows it in any browser, without a server or a
// network: `opscope report`.
//
//   OPSCOPE_TRY(opscope::ExportHtml(trace, "run.html", {.title = "run.json"}));
//
// The file is written beside its final name and renamed, so a failure leaves no
// partial file; kIo errors name the path.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "opscope/report/html.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// Options of one page.
struct HtmlExportOptions {
  // Title; "": "trace".
  std::string title = {};
  // Names of the inputs; empty: the title alone.
  std::vector<std::string> files = {};
  // The run to compare with, or nullptr.
  const Trace* baseline = nullptr;
  // The report on all ranks, if the trace consists of chosen ranks of a job. nullptr: the page has no tab Ranks.
  const JobOverview* job = nullptr;
  PageOptions page = {};
};

// Computes all results and writes the page. O(n log n) in rows; 40 bytes per span beside
// the Trace. kInvalidArgument: the page may have fewer bytes than PageOptions::kMinBytes.
// kIo, kNotFound: the system refused.
[[nodiscard]] Status ExportHtml(const Trace& trace, const std::string& path, const HtmlExportOptions& options = {});
// The same text in memory.
[[nodiscard]] Result<std::string> HtmlText(const Trace& trace, const HtmlExportOptions& options = {});
// Its data document alone, in at most page.max_bytes.
[[nodiscard]] Result<std::string> HtmlDataText(const Trace& trace, const HtmlExportOptions& options = {});

// Appends the arguments of a span as members of a JSON object, with the keys of the page:
// `"Input Dims": [[2]],"correlation":7`.
using AppendPageArguments = std::function<void(uint32_t span, std::string* members)>;
// The trace must outlive it. Copies may not be called at the same time. O(rows of arguments and steps); a call looks at
// its span alone.
[[nodiscard]] AppendPageArguments PageArguments(const Trace& trace);

}  // namespace opscope
