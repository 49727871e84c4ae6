// Writes a Trace as one file in any format, selected by name. docs/reference/export_formats.md says what each
// format keeps.
//
//   const auto format = opscope::ExportFormatFromName("perfetto");
//   const opscope::Result<opscope::Exported> done = opscope::ExportTrace(trace, *format, "run.pftrace");
//   if (done.ok()) Print(opscope::ExportedText(*format, done.value()));   // what the format cannot hold
//
// Files are written beside their final name and renamed; kIo errors name the path.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/export/output_file.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// Every format that ExportTrace writes. `opscope export --to parquet` writes a folder of files
// instead, by ExportParquet (opscope/sql.h).
enum class ExportFormat : uint8_t {
  kChrome,
  kPerfetto,
  kSpeedscope,
  kCollapsed,
  kPprof,
  kCsv,
  kOpscope,
  kPaddleProtobuf,
  kPaddleChrome,
  kMegEngineChrome,
  kMegEngineSvg,
  kHtml
};
// "chrome", "perfetto", "speedscope", "collapsed", "pprof", "csv", "opscope",
// "paddle-protobuf", "paddle-chrome", "megengine-chrome", "megengine-svg", "html":
// the names of ExportFormat, in its order.
[[nodiscard]] std::span<const std::string_view> ExportFormatNames();
// nullopt: no format has this name.
[[nodiscard]] std::optional<ExportFormat> ExportFormatFromName(std::string_view name);

// Options of one export; a format ignores those that do not apply to it.
struct ExportOptions {
  // As in ChromeExportOptions. pprof is gzip by default, as its readers expect.
  // `.opscope` compresses its own blocks; this option compresses the file once
  // more.
  Compression compression = Compression::kNone;
  bool compression_from_name = true;
  bool small_gzip = false;
  // 0 to 12, overrides small_gzip; -1: not set. Not for "chrome".
  int gzip_level = -1;
  // Title that the file carries; empty: the path.
  std::string trace_name = {};
  // csv: one of TableNames().
  std::string table = "spans";
  // collapsed, pprof: equal paths of several threads are one path.
  bool merge_threads = false;
  // As in ChromeExportOptions.
  std::function<void(size_t written, size_t pieces)> on_progress = {};
};

// Rows of one table that the format has no place for.
struct LeftOut {
  // "counters"; the name of the table or a part of it.
  std::string_view what;
  // At least 1.
  uint64_t rows = 0;
};

// What an export wrote, and what it could not write.
struct Exported {
  // The file's content, from ExportToBytes alone.
  std::string bytes;
  std::vector<LeftOut> left_out;
  // Spans that cross the end of the span around them, in formats whose rows must
  // nest (perfetto, speedscope). They are kept, with everything below them, on
  // additional rows.
  uint64_t crossing_spans = 0;
};

// Writes a file. kInvalidArgument: options.table is no table. kIo, kNotFound: the
// system refused.
[[nodiscard]] Result<Exported> ExportTrace(const Trace& trace, ExportFormat format, const std::string& path,
                                           const ExportOptions& options = {});
// The same in memory. Only `options.compression` decides about compression, since
// there is no name.
[[nodiscard]] Result<Exported> ExportToBytes(const Trace& trace, ExportFormat format,
                                             const ExportOptions& options = {});
// A sentence about what the format could not hold: "left out, as speedscope has no
// place for them: 12 counter samples, 3 flows; ..."; "": nothing was left out.
[[nodiscard]] std::string ExportedText(ExportFormat format, const Exported& exported);

}  // namespace opscope
