// The public entry points: open, decompress, detect the format by content, build.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/import.h"

#include <simdjson.h>

#include <algorithm>

#include "base/file.h"
#include "base/short_memory.h"
#include "import/compressed_text.h"
#include "import/decompress.h"
#include "import/importer.h"
#include "import/ranks.h"
#include "import/text_source.h"
#include "wire/container.h"

namespace opscope {
namespace {

// simdjson looks at the processor when it is first used, and cannot bear to be refused memory meanwhile.
[[maybe_unused]] const bool simdjson_has_chosen = !simdjson::get_active_implementation()->name().empty();

// What detection looks at: the first bytes of the content, or all of it where there is less.
constexpr size_t kHeadBytes = size_t{64} << 10;

// `import` gets the whole content, `walk` too, and says how far it has come, `stream` reads it through a window; each
// format has one of them.
struct Format {
  bool (*detect)(std::span<const std::byte> head);
  Status (*import)(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
                   TraceBuilder* builder) = nullptr;
  Status (*walk)(PlainText* text, std::string_view name, const ImportOptions& options, TraceBuilder* builder) = nullptr;
  Status (*stream)(TextSource* text, std::string_view name, const ImportOptions& options,
                   TraceBuilder* builder) = nullptr;
};

// One row per format, tried in order.
constexpr Format kFormats[] = {
    {.detect = LooksLikeOpscope, .import = ImportOpscope},
    {.detect = LooksLikePaddleProtobuf, .import = ImportPaddleProtobuf},
    {.detect = LooksLikeXPlane, .import = ImportXPlane},
    {.detect = LooksLikeMegEngineGraph, .walk = ImportMegEngineGraph},
    {.detect = LooksLikeMemoryTimeline, .walk = ImportMemoryTimeline},
    {.detect = LooksLikeExecutionTrace, .walk = ImportExecutionTrace},
    {.detect = LooksLikePickle, .import = ImportMemorySnapshotPickle},
    {.detect = LooksLikeMemorySnapshotJson, .walk = ImportMemorySnapshotJson},
    {.detect = LooksLikeJson, .stream = ImportChromeText},
    {.detect = LooksLikeCollapsedStacks, .walk = ImportCollapsedStacks},  // any other text may begin like a stack
};

std::span<const std::byte> HeadOf(std::string_view text) {
  return std::as_bytes(std::span(text.substr(0, kHeadBytes)));
}

Result<const Format*> FindFormat(std::span<const std::byte> head, std::string_view name) {
  for (const Format& format : kFormats) {
    if (format.detect(head)) return &format;
  }
  const char* what =
      head.empty() ? ": the file is empty" : ": not a trace in a format that opscope reads (also in gzip or zstd)";
  return Error{head.empty() ? ErrorCode::kMalformed : ErrorCode::kUnsupported, std::string(name) + what, 0};
}

Status ImportWhole(const Format& format, std::span<const std::byte> bytes, bool is_file_mapping, std::string_view name,
                   const ImportOptions& options, TraceBuilder* builder) {
  if (format.import != nullptr) return format.import(bytes, name, options, builder);
  PlainText text(bytes, is_file_mapping);
  return format.walk(&text, name, options, builder);
}

Status ImportPlain(std::span<const std::byte> bytes, bool is_file_mapping, std::string_view name,
                   const ImportOptions& options, TraceBuilder* builder) {
  const Result<const Format*> format = FindFormat(bytes.first(std::min(bytes.size(), kHeadBytes)), name);
  if (!format.ok()) return format.error();
  if (format.value()->stream == nullptr)
    return ImportWhole(*format.value(), bytes, is_file_mapping, name, options, builder);
  PlainText text(bytes, is_file_mapping);
  return format.value()->stream(&text, name, options, builder);
}

Error NothingDecompressed(const TextEnd& end, std::string_view name) {
  const char* what =
      end.cut ? ": the compressed data ends before its first byte of content" : ": the compressed data is damaged";
  return {ErrorCode::kMalformed, std::string(name) + ": at byte " + std::to_string(end.damaged_at) + what, 0};
}

// Where the text ends although the compressed data does not. The importer has usually seen the end of the text for
// itself; this is for a cut in the trailer.
void NoteDamage(const TextEnd& end, int64_t offset, TraceBuilder* builder) {
  if (end.damaged_at < 0 || builder->HasProblem("truncated") || builder->HasProblem("syntax_error")) return;
  builder->AddProblem("truncated", offset, 1, "the compressed data is damaged");
}

Status ImportDecompressed(const Format& format, std::span<const std::byte> bytes, CompressedFormat compression,
                          std::string_view name, const ImportOptions& options, TraceBuilder* builder) {
  const Result<Decompressed> plain = Decompress(bytes, compression, name, options.max_memory);
  if (!plain.ok()) return plain.error();
  const Decompressed& content = plain.value();
  OPSCOPE_TRY(ImportWhole(format, content.bytes(), false, name, options, builder));
  const auto end = static_cast<int64_t>(content.size);
  if (content.over_limit) {
    builder->AddProblem("over_memory_limit", end);
  } else {
    NoteDamage({content.damaged_at, content.cut}, end, builder);
  }
  return {};
}

Status ImportCompressed(std::span<const std::byte> bytes, CompressedFormat compression, bool is_file_mapping,
                        std::string_view name, const ImportOptions& options, TraceBuilder* builder) {
  CompressedText text(bytes, compression, is_file_mapping);
  text.Extend(kHeadBytes);
  if (text.text().empty() && text.end().damaged_at >= 0) return NothingDecompressed(text.end(), name);
  const Result<const Format*> format = FindFormat(HeadOf(text.text()), name);
  if (!format.ok()) return format.error();
  if (format.value()->stream == nullptr) {
    OPSCOPE_TRY(ImportDecompressed(*format.value(), bytes, compression, name, options, builder));
  } else {
    OPSCOPE_TRY(format.value()->stream(&text, name, options, builder));
    NoteDamage(text.end(), static_cast<int64_t>(text.offset() + text.text().size()), builder);
  }
  builder->info().compressed = compression == CompressedFormat::kGzip ? "gzip" : "zstd";
  return {};
}

Result<Trace> Import(std::span<const std::byte> bytes, bool is_file_mapping, std::string_view name,
                     const ImportOptions& options) {
  TraceBuilder builder;
  const CompressedFormat compression = DetectCompression(bytes);
  const Status imported = compression == CompressedFormat::kNone
                              ? ImportPlain(bytes, is_file_mapping, name, options, &builder)
                              : ImportCompressed(bytes, compression, is_file_mapping, name, options, &builder);
  if (!imported.ok()) return imported.error();
  ReadRanks(&builder);
  if (options.on_progress) options.on_progress(bytes.size(), bytes.size());
  return builder.Build(options.max_threads);
}

}  // namespace

Result<Trace> ImportBytes(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options) {
  return OrShortMemory(name, [&] { return Import(bytes, false, name, options); });
}

Result<Trace> ImportFile(const std::string& path, const ImportOptions& options) {
  return OrShortMemory(path, [&]() -> Result<Trace> {
    Result<FileBytes> file = FileBytes::Open(path);
    if (file.ok() && MayChange(file.value().bytes())) file = FileBytes::Read(path);
    if (!file.ok()) return file.error();
    return Import(file.value().bytes(), file.value().is_mapped(), path, options);
  });
}

}  // namespace opscope
