// Writes a Trace in other people's formats, and in `.opscope`. Files are written beside the final
// name and renamed, so a fault leaves nothing half-written; kIo errors name the path.
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

#include "opscope/result.h"
#include "opscope/torch/function_events.h"
#include "opscope/trace.h"

namespace opscope {

enum class Compression : uint8_t { kNone, kGzip, kZstd };

struct ChromeExportOptions {
  // From the name of the file when kFromName: ".gz" and ".zst" compress.
  Compression compression = Compression::kNone;
  bool compression_from_name = true;
  bool small_gzip = false;  // false: fast deflate, a tenth larger; true: as small as gzip -9
  std::string trace_name;   // Kineto's "traceName"; empty: the path
  // Spans, with their arrows, and instants of these categories ("cpu_op") and no others. They have the numbers that
  // they have among all.
  std::optional<std::vector<std::string>> only_categories = {};
  // Called on the caller's thread as the pieces of the file are written: how many, and how many there are.
  std::function<void(size_t written, size_t pieces)> on_progress = {};
};

// Kineto's Chrome trace JSON: its fields, categories, flow pairs, metadata and units.
[[nodiscard]] Status ExportChromeTrace(const Trace& trace, const std::string& path,
                                       const ChromeExportOptions& options = {});
[[nodiscard]] Result<std::string> ChromeTraceText(const Trace& trace, const ChromeExportOptions& options = {});

// For each span the "Ev Idx" that ExportChromeTrace writes for it.
[[nodiscard]] std::vector<uint32_t> ChromeEventNumbers(const Trace& trace);

// `.opscope`: compressed columns, loads at memory speed.
[[nodiscard]] Status ExportOpscope(const Trace& trace, const std::string& path);
[[nodiscard]] Result<std::string> OpscopeBytes(const Trace& trace);

// Every format that a Trace is written in. docs/exports.md says what each keeps.
enum class ExportFormat : uint8_t { kChrome, kPerfetto, kSpeedscope, kCollapsed, kPprof, kCsv, kOpscope };
// "chrome", "perfetto", "speedscope", "collapsed", "pprof", "csv", "opscope", in this order.
[[nodiscard]] std::span<const std::string_view> ExportFormatNames();
[[nodiscard]] std::optional<ExportFormat> ExportFormatFromName(std::string_view name);

struct ExportOptions {
  // As in ChromeExportOptions. pprof is gzip by default, as its readers expect; .opscope is compressed in itself, and
  // once more where that is asked for.
  Compression compression = Compression::kNone;
  bool compression_from_name = true;
  bool small_gzip = false;
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

// A text as a file, compressed as its name says.
[[nodiscard]] Status WriteText(const std::string& path, std::string_view text);
// Bytes as a file, as they are.
[[nodiscard]] Status WriteBytes(const std::string& path, std::string_view bytes);

// What a line of ExportTorchStacks counts, in whole microseconds.
enum class StackMetric : uint8_t { kSelfCpuTime, kSelfDeviceTime };

// EventList.export_stacks(): for every event that has a stack and at least a microsecond, in order, its frames from the
// outermost on, joined by ';', and the number: the input of flamegraph.pl. Blanks, semicolons and line ends in a frame
// become '_'.
[[nodiscard]] Status ExportTorchStacks(const Trace& trace, const FunctionEvents& events, StackMetric metric,
                                       const std::string& path);

}  // namespace opscope
