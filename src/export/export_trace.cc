// The table of export formats, and the parts that all of them share: file, compression, counts of rows that were left
// out.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>
#include <string>

#include "base/catch_bad_alloc.h"
#include "base/text.h"
#include "export/compress.h"
#include "export/write_output.h"
#include "export/writers.h"
#include "opscope/analysis/flame.h"
#include "opscope/export/chrome.h"
#include "opscope/export/formats.h"
#include "opscope/export/opscope_file.h"
#include "opscope/export/output_file.h"
#include "opscope/table.h"

namespace opscope {
namespace {

struct Format {
  std::string_view name;
  // Null: the format has write_folded, or ToFile and ToBytes call its public function.
  void (*write)(const Trace&, const ExportOptions&, ExportOutput*) = nullptr;
  void (*write_folded)(const Trace&, const FlameTree&, const ExportOptions&, ExportOutput*) = nullptr;
  FoldOptions fold = {};  // options for write_folded if threads are not merged
};
constexpr Format kFormats[] = {
    {"chrome"},
    {"perfetto", WritePerfetto},
    {"speedscope", WriteSpeedscope},
    {"collapsed", nullptr, WriteCollapsed, {.threads = ThreadNodes::kWhenSeveral}},
    {"pprof", nullptr, WritePprof, {.threads = ThreadNodes::kAlways, .devices = true}},
    {"csv", WriteCsv},
    {"opscope"},
    {"paddle-protobuf", WritePaddleProtobuf},
    {"paddle-chrome", WritePaddleChrome},
    {"megengine-chrome", WriteMegEngineChrome},
    {"megengine-svg", WriteMegEngineSvg},
    {"html", WriteHtml},
};

void Write(const Trace& trace, ExportFormat of, const ExportOptions& options, ExportOutput* output) {
  const Format& format = kFormats[static_cast<size_t>(of)];
  if (format.write_folded == nullptr) return format.write(trace, options, output);
  FoldOptions fold = format.fold;
  if (options.merge_threads) fold.threads = ThreadNodes::kNever;
  format.write_folded(trace, FoldSpans(trace, FlameMetric::kTime, fold), options, output);
}

constexpr auto kFormatNames = [] {
  std::array<std::string_view, std::size(kFormats)> names;
  for (size_t i = 0; i < names.size(); ++i)
    names[i] = kFormats[i].name;
  return names;
}();

// The tables behind the memory timeline have no counterpart in Kineto's JSON, and JSON has no NaN or infinity.
std::vector<LeftOut> LeftOutOfChrome(const Trace& trace) {
  std::vector<LeftOut> left_out;
  const auto add = [&](std::string_view what, size_t rows) {
    if (rows != 0) left_out.push_back({what, rows});
  };
  add("tensors of arguments", trace.tensors().size());
  add("held tensors", trace.held_tensors().size());
  add("lives of tensors", trace.tensor_lives().size());
  add("operator schemas", trace.operators().size());
  const std::span<const double> values = trace.counters().value;
  add("counter samples that are not finite numbers",
      static_cast<size_t>(std::ranges::count_if(values, [](double value) { return !std::isfinite(value); })));
  return left_out;
}

Compression CompressionFor(ExportFormat format, std::string_view path, const ExportOptions& options) {
  if (!options.compression_from_name) return options.compression;
  const Compression by_name = CompressionOfName(path);
  return format == ExportFormat::kPprof && by_name == Compression::kNone ? Compression::kGzip : by_name;
}

int LevelOf(const ExportOptions& options) {
  return options.gzip_level >= 0 ? options.gzip_level : GzipLevel(options.small_gzip);
}

Status CheckOptions(const Trace& trace, ExportFormat format, const ExportOptions& options) {
  if (format != ExportFormat::kCsv || FindTable(trace, options.table)) return {};
  std::string message = "there is no table \"" + options.table + "\"; tables:";
  for (const std::string_view name : TableNames())
    message.append(" ").append(name);
  return Error{ErrorCode::kInvalidArgument, std::move(message)};
}

ChromeExportOptions ForChrome(const ExportOptions& options) {
  ChromeExportOptions chrome;
  chrome.compression = options.compression;
  chrome.compression_from_name = options.compression_from_name;
  chrome.small_gzip = options.small_gzip;
  chrome.trace_name = options.trace_name;
  chrome.on_progress = options.on_progress;
  return chrome;
}

Result<Exported> ToFile(const Trace& trace, ExportFormat format, const std::string& path, ExportOptions options) {
  OPSCOPE_TRY(CheckOptions(trace, format, options));
  if (format == ExportFormat::kChrome) {
    OPSCOPE_TRY(ExportChromeTrace(trace, path, ForChrome(options)));
    return Exported{{}, LeftOutOfChrome(trace), 0};
  }
  const Compression compression = CompressionFor(format, path, options);
  const auto write_file = [&](const auto& write) {
    return WriteToFile(path, compression, LevelOf(options), options.on_progress, write);
  };
  if (format == ExportFormat::kOpscope) {
    if (compression == Compression::kNone) {
      OPSCOPE_TRY(ExportOpscope(trace, path));
      return Exported{};
    }
    const Result<std::string> bytes = OpscopeBytes(trace);
    if (!bytes.ok()) return bytes.error();
    OPSCOPE_TRY(write_file([&](ExportOutput* output) { output->Write(bytes.value()); }));
    return Exported{};
  }
  if (options.trace_name.empty()) options.trace_name = path;
  Exported exported;
  OPSCOPE_TRY(write_file([&](ExportOutput* output) {
    Write(trace, format, options, output);
    output->MoveCountsTo(&exported);
  }));
  return exported;
}

Result<Exported> ToBytes(const Trace& trace, ExportFormat format, const ExportOptions& options) {
  OPSCOPE_TRY(CheckOptions(trace, format, options));
  if (format == ExportFormat::kChrome) {
    Result<std::string> text = ChromeTraceText(trace, ForChrome(options));
    if (!text.ok()) return text.error();
    return Exported{std::move(text).value(), LeftOutOfChrome(trace), 0};
  }
  std::string opscope;
  if (format == ExportFormat::kOpscope) {
    Result<std::string> bytes = OpscopeBytes(trace);
    if (!bytes.ok()) return bytes.error();
    opscope = std::move(bytes).value();
    if (options.compression == Compression::kNone) return Exported{std::move(opscope), {}, 0};
  }
  Exported exported;
  exported.bytes = WriteToText(options.compression, LevelOf(options), options.on_progress, [&](ExportOutput* output) {
    if (format == ExportFormat::kOpscope) return output->Write(opscope);
    Write(trace, format, options, output);
    output->MoveCountsTo(&exported);
  });
  return exported;
}

}  // namespace

std::span<const std::string_view> ExportFormatNames() {
  return kFormatNames;
}

std::optional<ExportFormat> ExportFormatFromName(std::string_view name) {
  for (size_t i = 0; i < kFormatNames.size(); ++i) {
    if (kFormatNames[i] == name) return static_cast<ExportFormat>(i);
  }
  return std::nullopt;
}

Result<Exported> ExportTrace(const Trace& trace, ExportFormat format, const std::string& path,
                             const ExportOptions& options) {
  return CatchBadAlloc(path, [&] { return ToFile(trace, format, path, options); });
}

Result<Exported> ExportToBytes(const Trace& trace, ExportFormat format, const ExportOptions& options) {
  return CatchBadAlloc("", [&] { return ToBytes(trace, format, options); });
}

Status WriteText(const std::string& path, std::string_view text) {
  return CatchBadAlloc(path, [&] {
    return WriteToFile(path, CompressionOfName(path), LevelOf({}), {},
                       [&](ExportOutput* output) { output->Write(text); });
  });
}

Status WriteBytes(const std::string& path, std::string_view bytes) {
  return CatchBadAlloc(path, [&] { return WriteFileAtomically(path, bytes); });
}

std::string ExportedText(ExportFormat format, const Exported& exported) {
  std::string text;
  for (const LeftOut& each : exported.left_out) {
    if (text.empty()) {
      text.append("left out, as ").append(kFormatNames[static_cast<size_t>(format)]).append(" has no place for them: ");
    } else {
      text.append(", ");
    }
    AppendUint(&text, each.rows);
    text.append(" ").append(each.what);
  }
  if (exported.crossing_spans != 0) {
    if (!text.empty()) text.append("; ");
    AppendUint(&text, exported.crossing_spans);
    text.append(" spans cross others and are on rows of their own");
  }
  return text;
}

}  // namespace opscope
