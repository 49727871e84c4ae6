// Content is in memory, or comes in pieces from a file. Up to three steps prepare it: decompression, conversion from
// UTF-16, detection of its format. An importer that reads a stream gets a window over the result, so a file of any size
// needs only the memory of the window and of its rows; the bytes for a binary format are gathered.
//
//   trace.json.gz:  FilePieces -> Decompress -> PiecedText -> ImportChromeOfAnyWriter
//
// SPDX-License-Identifier: Apache-2.0
#include "import/content.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "import/collapsed/importer.h"
#include "import/formats.h"
#include "import/ranks.h"
#include "import/text/decompress.h"
#include "import/text/file_pieces.h"
#include "import/text/json_number.h"
#include "import/text/pieced_text.h"
#include "import/text/utf16.h"

namespace opscope {
namespace {

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// UTF-16 without a byte-order mark that is not JSON must look like collapsed stacks.
Utf16Order OrderOf(std::span<const std::byte> content) {
  const std::span<const std::byte> head = content.first(std::min(content.size(), kHeadBytes));
  const Utf16Order order = DetectUtf16(head), guess = GuessUtf16(head);
  if (order != Utf16Order::kNone || guess == Utf16Order::kNone) return order;
  PlainText text(head);
  Utf16Offsets offsets;
  PiecedText utf8(ReadUtf16(&text, guess, &offsets), head.size());
  utf8.Extend(head.size());
  return LooksLikeCollapsedStacks(BytesOf(utf8.text())) ? guess : Utf16Order::kNone;
}

class ContentImport {
 public:
  ContentImport(std::string_view name, const ImportOptions& options, TraceBuilder* builder,
                const FormatOverride* instead)
      : name_(name), options_(options), builder_(builder), instead_(instead) {}

  Status FromMemory(std::span<const std::byte> bytes);
  Status FromFile(InputFile* file);

 private:
  Status FromPlain(std::span<const std::byte> bytes);
  Status FromCompressed(std::unique_ptr<TextSource> compressed, CompressedFormat compression);
  Status FromPieces(PiecedText* text);
  Status FromUtf8(PiecedText* text);
  Status FromUtf16(TextSource* text, Utf16Order order);
  Status Stream(const Format& format, TextSource* text);
  Status ImportGathered(const Format& format, PiecedText* text);
  void AddDamage(const TextEnd& end, int64_t offset, const char* complaint);

  std::string_view name_;
  const ImportOptions& options_;
  TraceBuilder* builder_;
  const FormatOverride* instead_;
};

Error NothingDecompressed(const TextEnd& end, std::string_view name) {
  const char* what =
      end.cut ? ": the compressed data ends before its first byte of content" : ": the compressed data is damaged";
  return {ErrorCode::kMalformed, std::string(name) + ": at byte " + std::to_string(end.damaged_at) + what, 0};
}

// "name: at byte 12: ..." with the offset in the UTF-16.
Error InUtf16(Error error, std::string_view name, const Utf16Offsets& offsets) {
  const std::string place = std::string(name) + ": at byte ";
  if (!error.message.starts_with(place)) return error;
  const size_t end = std::min(error.message.find_first_not_of("0123456789", place.size()), error.message.size());
  const auto offset = ParseUnsigned(std::string_view(error.message).substr(place.size(), end - place.size()));
  if (offset) error.message.replace(place.size(), end - place.size(), std::to_string(offsets.Utf16Of(*offset)));
  return error;
}

// Reports where a damaged compressed text ends. The importer has usually noticed the end itself, but not a cut in the
// trailer.
void ContentImport::AddDamage(const TextEnd& end, int64_t offset, const char* complaint) {
  if (end.damaged_at < 0) return;
  for (const char* known : {"truncated", "syntax_error", "over_memory_limit"}) {
    if (builder_->HasProblem(known)) return;
  }
  builder_->AddProblem("truncated", offset, 1, complaint);
}

Status ContentImport::Stream(const Format& format, TextSource* text) {
  if (instead_ != nullptr && instead_->format == format.name) return instead_->stream(text, name_, options_, builder_);
  return format.stream(text, name_, options_, builder_);
}

Status ContentImport::FromPlain(std::span<const std::byte> bytes) {
  if (const Utf16Order order = OrderOf(bytes); order != Utf16Order::kNone) {
    PlainText text(bytes);
    return FromUtf16(&text, order);
  }
  const Result<const Format*> format = FindFormat(bytes, name_, options_.format);
  if (!format.ok()) return format.error();
  if (format.value()->import != nullptr) return format.value()->import(bytes, name_, options_, builder_);
  PlainText text(bytes);
  return Stream(*format.value(), &text);
}

// Gathers the rest of the text for a binary format, as far as the limit allows.
Status ContentImport::ImportGathered(const Format& format, PiecedText* text) {
  const size_t limit = options_.max_memory == 0 ? SIZE_MAX : static_cast<size_t>(options_.max_memory);
  text->Extend(limit);
  const std::string_view bytes = text->text().substr(0, limit);
  const bool is_whole = text->ended() && bytes.size() == text->text().size();
  Status imported = format.import(BytesOf(bytes), name_, options_, builder_);
  // the importer treats the limit as the end of the file
  if (!imported.ok() && imported.error().code == ErrorCode::kMalformed && !is_whole) {
    return Error{ErrorCode::kOutOfMemory,
                 std::string(name_) + ": at byte " + std::to_string(bytes.size()) +
                     ": the memory limit was reached before the first whole event",
                 0};
  }
  OPSCOPE_TRY(std::move(imported));
  if (!is_whole && !builder_->HasProblem("over_memory_limit"))
    builder_->AddProblem("over_memory_limit", static_cast<int64_t>(bytes.size()));
  return {};
}

Status ContentImport::FromUtf8(PiecedText* text) {
  text->Extend(kHeadBytes);
  const Result<const Format*> format = FindFormat(BytesOf(text->text()), name_, options_.format);
  if (!format.ok()) return format.error();
  return format.value()->import != nullptr ? ImportGathered(*format.value(), text) : Stream(*format.value(), text);
}

Status ContentImport::FromPieces(PiecedText* text) {
  text->Extend(kHeadBytes);
  const Utf16Order order = OrderOf(BytesOf(text->text()));
  return order == Utf16Order::kNone ? FromUtf8(text) : FromUtf16(text, order);
}

Status ContentImport::FromUtf16(TextSource* text, Utf16Order order) {
  Utf16Offsets offsets;
  PiecedText utf8(ReadUtf16(text, order, &offsets), text->total_bytes());
  const Status imported = FromUtf8(&utf8);
  if (!imported.ok()) return InUtf16(imported.error(), name_, offsets);
  AddDamage(utf8.end(), static_cast<int64_t>(utf8.offset() + utf8.text().size()), "half a character of UTF-16");
  builder_->RemapProblemOffsets([&](uint64_t offset) { return offsets.Utf16Of(offset); });
  return {};
}

Status ContentImport::FromCompressed(std::unique_ptr<TextSource> compressed, CompressedFormat compression) {
  const uint64_t total = compressed->total_bytes();
  PiecedText text(Decompress(std::move(compressed), compression), total);
  text.Extend(kHeadBytes);
  if (text.text().empty() && text.end().damaged_at >= 0) return NothingDecompressed(text.end(), name_);
  OPSCOPE_TRY(FromPieces(&text));
  AddDamage(text.end(), static_cast<int64_t>(text.offset() + text.text().size()), "the compressed data is damaged");
  builder_->info().compressed = compression == CompressedFormat::kGzip ? "gzip" : "zstd";
  return {};
}

Status ContentImport::FromMemory(std::span<const std::byte> bytes) {
  const CompressedFormat compression = DetectCompression(bytes);
  Status imported = compression == CompressedFormat::kNone
                        ? FromPlain(bytes)
                        : FromCompressed(std::make_unique<PlainText>(bytes), compression);
  if (imported.ok() && options_.on_progress) options_.on_progress(bytes.size(), bytes.size());
  return imported;
}

Status ContentImport::FromFile(InputFile* file) {
  FileEnd end;
  auto text = std::make_unique<PiecedText>(std::make_unique<FilePieces>(file, &end), file->size());
  text->Extend(kHeadBytes);
  const CompressedFormat compression = DetectCompression(BytesOf(text->text()));
  Status imported =
      compression == CompressedFormat::kNone ? FromPieces(text.get()) : FromCompressed(std::move(text), compression);
  if (!end.status.ok()) return end.status;
  if (!imported.ok()) return imported;
  // An .opscope file contains its size, and may become shorter when its recording ends.
  if (end.was_reached && end.bytes < file->size() && builder_->info().format != "opscope")
    builder_->AddProblem("input_shrank", static_cast<int64_t>(end.bytes));
  const uint64_t total = std::max(end.bytes, file->size());
  if (options_.on_progress) options_.on_progress(total, total);
  return {};
}

// Runs fill(ContentImport*) with the steps that all formats share.
template <typename Fill>
Result<Trace> BuildTrace(std::string_view name, const ImportOptions& options, const FormatOverride* instead,
                         const Fill& fill) {
  TraceBuilder builder;
  ContentImport content(name, options, &builder, instead);
  OPSCOPE_TRY(fill(&content));
  ReadRanksAndHosts(&builder);
  if (!options.fallback_reason.empty()) builder.AddProblem("framework_file", -1, 1, options.fallback_reason);
  return builder.Build(options.max_threads);
}

}  // namespace

Result<Trace> ImportContent(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
                            const FormatOverride* instead) {
  return BuildTrace(name, options, instead, [&](ContentImport* content) { return content->FromMemory(bytes); });
}

Result<Trace> ImportContent(Result<InputFile> opened, std::string_view name, const ImportOptions& options,
                            const FormatOverride* instead) {
  if (!opened.ok()) return opened.error();
  return BuildTrace(name, options, instead, [&](ContentImport* content) { return content->FromFile(&opened.value()); });
}

std::string NameOfDescriptor(int descriptor, const ImportOptions& options) {
  return options.name.empty() ? "descriptor " + std::to_string(descriptor) : options.name;
}

}  // namespace opscope
