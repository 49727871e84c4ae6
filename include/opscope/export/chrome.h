// Writes a Trace as Kineto's Chrome JSON, which chrome://tracing, Perfetto,
// TensorBoard and HTA read.
//
//   OPSCOPE_TRY(opscope::ExportChromeTrace(trace, "run.json.gz"));   // gzip, because of the name
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
#include <optional>
#include <string>
#include <vector>

#include "opscope/export/output_file.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// Options of one export.
struct ChromeExportOptions {
  // Used if compression_from_name is false; else ".gz" and ".zst" in the path
  // decide.
  Compression compression = Compression::kNone;
  bool compression_from_name = true;
  // True: a fifteenth smaller, in three times the time.
  bool small_gzip = false;
  // Kineto's "traceName"; empty: the path.
  std::string trace_name;
  // Write only spans (with their flows) and instants of these categories, such as
  // "cpu_op". Their event numbers are those of the full export. nullopt: write
  // everything.
  std::optional<std::vector<std::string>> only_categories = {};
  // Keys of metadata to leave out.
  std::vector<std::string> without_metadata = {};
  // Called on the caller's thread as pieces of the file are written: how many, of
  // how many.
  std::function<void(size_t written, size_t pieces)> on_progress = {};
};

// Writes the file with Kineto's fields, categories, flow pairs, metadata and units.
// O(rows), on several threads. kIo, kNotFound: the system refused.
[[nodiscard]] Status ExportChromeTrace(const Trace& trace, const std::string& path,
                                       const ChromeExportOptions& options = {});
// The same text in memory.
[[nodiscard]] Result<std::string> ChromeTraceText(const Trace& trace, const ChromeExportOptions& options = {});

// The "Ev Idx" that ExportChromeTrace writes for each span.
[[nodiscard]] std::vector<uint32_t> ChromeEventNumbers(const Trace& trace);

}  // namespace opscope
