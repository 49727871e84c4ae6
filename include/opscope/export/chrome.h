// Writes a Trace as Kineto's Chrome JSON. A file is written beside the final name and renamed, so a fault leaves
// nothing half-written; kIo errors name the path.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "opscope/export/output_file.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

struct ChromeExportOptions {
  // From the name of the file when kFromName: ".gz" and ".zst" compress.
  Compression compression = Compression::kNone;
  bool compression_from_name = true;
  bool small_gzip = false;  // true: a fifteenth smaller, in three times the time
  std::string trace_name;   // Kineto's "traceName"; empty: the path
  // Spans, with their arrows, and instants of these categories ("cpu_op") and no others. They have the numbers that
  // they have among all.
  std::optional<std::vector<std::string>> only_categories = {};
  std::vector<std::string> without_metadata = {};  // keys of metadata that the file does not have
  // Called on the caller's thread as the pieces of the file are written: how many, and how many there are.
  std::function<void(size_t written, size_t pieces)> on_progress = {};
};

// Kineto's Chrome trace JSON: its fields, categories, flow pairs, metadata and units.
[[nodiscard]] Status ExportChromeTrace(const Trace& trace, const std::string& path,
                                       const ChromeExportOptions& options = {});
[[nodiscard]] Result<std::string> ChromeTraceText(const Trace& trace, const ChromeExportOptions& options = {});

// For each span the "Ev Idx" that ExportChromeTrace writes for it.
[[nodiscard]] std::vector<uint32_t> ChromeEventNumbers(const Trace& trace);

}  // namespace opscope
