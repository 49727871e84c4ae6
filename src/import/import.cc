// The public entry points: open, decompress, detect the format by content, build.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/import.h"

#include <simdjson.h>

#include <algorithm>

#include "base/file.h"
#include "base/short_memory.h"
#include "import/decompress.h"
#include "import/file_pieces.h"
#include "import/importer.h"
#include "import/pieced_text.h"
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

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

Result<const Format*> FindFormat(std::span<const std::byte> content, std::string_view name) {
  const std::span<const std::byte> head = content.first(std::min(content.size(), kHeadBytes));
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
  const Result<const Format*> format = FindFormat(bytes, name);
  if (!format.ok()) return format.error();
  if (format.value()->stream == nullptr)
    return ImportWhole(*format.value(), bytes, is_file_mapping, name, options, builder);
  PlainText text(bytes, is_file_mapping);
  return format.value()->stream(&text, name, options, builder);
}

void NoteLimit(int64_t offset, TraceBuilder* builder) {
  if (!builder->HasProblem("over_memory_limit")) builder->AddProblem("over_memory_limit", offset);
}

// All that is left of the text, as far as the limit allows; `over_limit`: that was not all.
std::span<const std::byte> Gather(PiecedText* text, const ImportOptions& options, bool* over_limit) {
  const size_t limit = options.max_memory == 0 ? SIZE_MAX : static_cast<size_t>(options.max_memory);
  text->Extend(limit);
  *over_limit = !text->ended() || text->text().size() > limit;
  return BytesOf(text->text().substr(0, limit));
}

Status ImportPieces(PiecedText* text, std::string_view name, const ImportOptions& options, TraceBuilder* builder) {
  text->Extend(kHeadBytes);
  const Result<const Format*> format = FindFormat(BytesOf(text->text()), name);
  if (!format.ok()) return format.error();
  if (format.value()->stream != nullptr) return format.value()->stream(text, name, options, builder);
  bool over_limit = false;
  const std::span<const std::byte> whole = Gather(text, options, &over_limit);
  OPSCOPE_TRY(ImportWhole(*format.value(), whole, false, name, options, builder));
  if (over_limit) NoteLimit(static_cast<int64_t>(whole.size()), builder);
  return {};
}

Error NothingDecompressed(const TextEnd& end, std::string_view name) {
  const char* what =
      end.cut ? ": the compressed data ends before its first byte of content" : ": the compressed data is damaged";
  return {ErrorCode::kMalformed, std::string(name) + ": at byte " + std::to_string(end.damaged_at) + what, 0};
}

// Where the text ends although the compressed data does not. The importer has usually seen the end of the text for
// itself; this is for a cut in the trailer.
void NoteDamage(const TextEnd& end, int64_t offset, TraceBuilder* builder) {
  if (end.damaged_at < 0) return;
  for (const char* told : {"truncated", "syntax_error", "over_memory_limit"}) {
    if (builder->HasProblem(told)) return;
  }
  builder->AddProblem("truncated", offset, 1, "the compressed data is damaged");
}

// over_limit: the bytes end where the memory did, which is no damage.
Status ImportCompressed(std::span<const std::byte> bytes, CompressedFormat compression, bool is_file_mapping,
                        bool over_limit, std::string_view name, const ImportOptions& options, TraceBuilder* builder) {
  PiecedText text(Decompress(bytes, compression), bytes, is_file_mapping);
  text.Extend(kHeadBytes);
  if (text.text().empty() && text.end().damaged_at >= 0) return NothingDecompressed(text.end(), name);
  OPSCOPE_TRY(ImportPieces(&text, name, options, builder));
  if (over_limit) {
    NoteLimit(static_cast<int64_t>(bytes.size()), builder);
  } else {
    NoteDamage(text.end(), static_cast<int64_t>(text.offset() + text.text().size()), builder);
  }
  builder->info().compressed = compression == CompressedFormat::kGzip ? "gzip" : "zstd";
  return {};
}

Status ImportInMemory(std::span<const std::byte> bytes, bool is_file_mapping, std::string_view name,
                      const ImportOptions& options, TraceBuilder* builder) {
  const CompressedFormat compression = DetectCompression(bytes);
  const Status imported = compression == CompressedFormat::kNone
                              ? ImportPlain(bytes, is_file_mapping, name, options, builder)
                              : ImportCompressed(bytes, compression, is_file_mapping, false, name, options, builder);
  if (imported.ok() && options.on_progress) options.on_progress(bytes.size(), bytes.size());
  return imported;
}

// A pipe: a text that is read as a stream never lies in memory as a whole; what is compressed does so compressed.
Status ImportInOrder(InputFile* file, std::string_view name, const ImportOptions& options, TraceBuilder* builder) {
  auto pieces = std::make_unique<FilePieces>(file);
  const FilePieces& source = *pieces;
  PiecedText text(std::move(pieces), file->size());
  text.Extend(kHeadBytes);
  const CompressedFormat compression = DetectCompression(BytesOf(text.text()));
  Status imported;
  if (compression == CompressedFormat::kNone) {
    imported = ImportPieces(&text, name, options, builder);
  } else {
    bool over_limit = false;
    const std::span<const std::byte> whole = Gather(&text, options, &over_limit);
    imported = ImportCompressed(whole, compression, false, over_limit, name, options, builder);
  }
  if (!source.status().ok()) return source.status();
  if (imported.ok() && options.on_progress) options.on_progress(source.consumed(), source.consumed());
  return imported;
}

// fill(TraceBuilder*), and what is the same for all formats.
template <typename Fill>
Result<Trace> ImportWith(const ImportOptions& options, const Fill& fill) {
  TraceBuilder builder;
  const Status imported = fill(&builder);
  if (!imported.ok()) return imported.error();
  ReadRanks(&builder);
  return builder.Build(options.max_threads);
}

Result<InputFile> OpenInput(const std::string& path) {
  Result<InputFile> file = InputFile::Open(path);
  return file.ok() && MayChange(file.value().bytes()) ? InputFile::OpenInOrder(path) : std::move(file);
}

}  // namespace

Result<Trace> ImportBytes(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options) {
  return OrShortMemory(name, [&] {
    return ImportWith(options,
                      [&](TraceBuilder* builder) { return ImportInMemory(bytes, false, name, options, builder); });
  });
}

Result<Trace> ImportFile(const std::string& path, const ImportOptions& options) {
  const std::string_view name = options.name.empty() ? std::string_view(path) : options.name;
  return OrShortMemory(name, [&]() -> Result<Trace> {
    Result<InputFile> opened = OpenInput(path);
    if (!opened.ok()) return opened.error();
    InputFile& file = opened.value();
    return ImportWith(options, [&](TraceBuilder* builder) {
      return file.is_mapped() ? ImportInMemory(file.bytes(), true, name, options, builder)
                              : ImportInOrder(&file, name, options, builder);
    });
  });
}

}  // namespace opscope
