// Writes a Trace in any of the formats by name: beside the final name, then renamed; kIo errors name the path.
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

// Every format that a Trace is written in. docs/exports.md says what each keeps.
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
  kMegEngineSvg
};
// "chrome", "perfetto", "speedscope", "collapsed", "pprof", "csv", "opscope", "paddle-protobuf", "paddle-chrome",
// "megengine-chrome", "megengine-svg", in this order.
[[nodiscard]] std::span<const std::string_view> ExportFormatNames();
[[nodiscard]] std::optional<ExportFormat> ExportFormatFromName(std::string_view name);

struct ExportOptions {
  // As in ChromeExportOptions. pprof is gzip by default, as its readers expect; .opscope is compressed in itself, and
  // once more where that is asked for.
  Compression compression = Compression::kNone;
  bool compression_from_name = true;
  bool small_gzip = false;
  int gzip_level = -1;          // 0 to 12, whatever small_gzip says; -1: as that says. Of others than "chrome"
  std::string trace_name = {};  // what the file says that it shows; empty: the path
  std::string table = "spans";  // csv: one of TableNames()
  bool merge_threads = false;   // collapsed, pprof: what several threads did alike is one path
  std::function<void(size_t written, size_t pieces)> on_progress = {};
};

// Rows of the Trace that the format has no place for.
struct LeftOut {
  std::string_view what;  // "counters"
  uint64_t rows = 0;      // never 0
};

struct Exported {
  std::string bytes;  // of ExportToBytes alone
  std::vector<LeftOut> left_out;
  // Spans that cross the end of the one around them, where the format has only rows in which spans nest: they are kept,
  // with all below them, on rows of their own (perfetto, speedscope).
  uint64_t crossing_spans = 0;
};

// kInvalidArgument: there is no such table.
[[nodiscard]] Result<Exported> ExportTrace(const Trace& trace, ExportFormat format, const std::string& path,
                                           const ExportOptions& options = {});
// Compressed as `options.compression` says: there is no name.
[[nodiscard]] Result<Exported> ExportToBytes(const Trace& trace, ExportFormat format,
                                             const ExportOptions& options = {});
// What of it people should know: "left out, as speedscope has no place for them: 12 counter samples, 3 flows; ...", or
// "".
[[nodiscard]] std::string ExportedText(ExportFormat format, const Exported& exported);

}  // namespace opscope
