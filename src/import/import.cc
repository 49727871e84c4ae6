// The public entry points: open, decompress, detect the format by content, build.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/import.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/short_memory.h"
#include "base/text.h"
#include "import/importer.h"
#include "import/ranks.h"
#include "import/recording/recording.h"
#include "import/text/decompress.h"
#include "import/text/file_pieces.h"
#include "import/text/json_number.h"
#include "import/text/pieced_text.h"
#include "import/text/text_source.h"
#include "import/text/utf16.h"
#include "opscope/megengine/operator_profile.h"
#include "wire/container.h"

namespace opscope {
namespace {

// What detection looks at: the first bytes of the content, or all of it where there is less.
constexpr size_t kHeadBytes = size_t{64} << 10;

// `import` gets the whole content, `stream` reads it through a window; each format has one of them.
struct Format {
  std::array<std::string_view, 6> names;  // in TraceInfo::format; of dialects, which share an importer, several
  bool (*detect)(std::span<const std::byte> head);
  Status (*import)(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
                   TraceBuilder* builder) = nullptr;
  Status (*stream)(TextSource* text, std::string_view name, const ImportOptions& options,
                   TraceBuilder* builder) = nullptr;
  // In place of `stream`, where operators of MegEngine are wanted and not a Trace.
  Status (*operators)(TextSource* text, std::string_view name, const ImportOptions& options, TraceBuilder* builder,
                      MegEngineProfile* profile) = nullptr;

  bool IsNamed(std::string_view name) const { return std::find(names.begin(), names.end(), name) != names.end(); }
};

// Where the content goes.
struct Target {
  TraceBuilder* builder = nullptr;
  MegEngineProfile* profile = nullptr;
};

// One row per format, tried in order.
constexpr Format kFormats[] = {
    {.names = {"opscope"}, .detect = LooksLikeOpscope, .import = ImportOpscope},
    {.names = {"paddle-protobuf"}, .detect = LooksLikePaddleProtobuf, .import = ImportPaddleProtobuf},
    {.names = {"xplane"}, .detect = LooksLikeXPlane, .import = ImportXPlane},
    {.names = {"megengine-graph-profile"},
     .detect = LooksLikeMegEngineGraph,
     .stream = ImportMegEngineGraph,
     .operators = ReadMegEngineOperators},
    {.names = {"torch-memory-timeline"}, .detect = LooksLikeMemoryTimeline, .stream = ImportMemoryTimeline},
    {.names = {"torch-execution-trace"}, .detect = LooksLikeExecutionTrace, .stream = ImportExecutionTrace},
    {.names = {"torch-memory-snapshot"}, .detect = LooksLikePickle, .import = ImportMemorySnapshotPickle},
    {.names = {"torch-memory-snapshot"}, .detect = LooksLikeMemorySnapshotJson, .stream = ImportMemorySnapshotJson},
    {.names = {"chrome-json", "paddle-json", "megengine-json", "onnxruntime-json", "viztracer-json", "xla-json"},
     .detect = LooksLikeJson,
     .stream = ImportChromeOfAnyWriter},
    {.names = {"collapsed-stacks"},
     .detect = LooksLikeCollapsedStacks,
     .stream = ImportCollapsedStacks},  // any other text may begin like a stack
};

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// The format that the user names, whatever the content looks like; of two that share the name the one that it looks
// like.
Result<const Format*> FindNamedFormat(std::span<const std::byte> head, const std::string& wanted) {
  const Format* named = nullptr;
  for (const Format& format : kFormats) {
    if (!format.IsNamed(wanted)) continue;
    if (format.detect(head)) return &format;
    named = &format;
  }
  if (named != nullptr) return named;
  std::string message = "there is no format '" + wanted + "'; choose from";
  for (const std::string_view name : ImportFormatNames())
    message.append(message.ends_with("from") ? " " : ", ").append(name);
  return Error{ErrorCode::kInvalidArgument, message};
}

Result<const Format*> FindFormat(std::span<const std::byte> content, std::string_view name, const std::string& wanted) {
  const std::span<const std::byte> head = content.first(std::min(content.size(), kHeadBytes));
  if (!wanted.empty() && !head.empty()) return FindNamedFormat(head, wanted);
  for (const Format& format : kFormats) {
    if (format.detect(head)) return &format;
  }
  const char* what = head.empty() ? ": at byte 0: the file is empty"
                                  : ": at byte 0: not a trace in a format that opscope reads (also in gzip or zstd)";
  return Error{head.empty() ? ErrorCode::kMalformed : ErrorCode::kUnsupported, std::string(name) + what, 0};
}

Status ImportStream(const Format& format, TextSource* text, std::string_view name, const ImportOptions& options,
                    const Target& target) {
  if (target.profile != nullptr && format.operators != nullptr)
    return format.operators(text, name, options, target.builder, target.profile);
  return format.stream(text, name, options, target.builder);
}

// Behind no mark and not JSON it must look like collapsed stacks.
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

Status ImportUtf16(TextSource* text, Utf16Order order, std::string_view name, const ImportOptions& options,
                   const Target& target);

Status ImportPlain(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
                   const Target& target) {
  if (const Utf16Order order = OrderOf(bytes); order != Utf16Order::kNone) {
    PlainText text(bytes);
    return ImportUtf16(&text, order, name, options, target);
  }
  const Result<const Format*> format = FindFormat(bytes, name, options.format);
  if (!format.ok()) return format.error();
  if (format.value()->import != nullptr) return format.value()->import(bytes, name, options, target.builder);
  PlainText text(bytes);
  return ImportStream(*format.value(), &text, name, options, target);
}

// A binary format gets all that is left of the text, as far as the limit allows.
Status ImportGathered(const Format& format, PiecedText* text, std::string_view name, const ImportOptions& options,
                      TraceBuilder* builder) {
  const size_t limit = options.max_memory == 0 ? SIZE_MAX : static_cast<size_t>(options.max_memory);
  text->Extend(limit);
  const std::string_view bytes = text->text().substr(0, limit);
  OPSCOPE_TRY(format.import(BytesOf(bytes), name, options, builder));
  const bool is_whole = text->ended() && bytes.size() == text->text().size();
  if (!is_whole && !builder->HasProblem("over_memory_limit"))
    builder->AddProblem("over_memory_limit", static_cast<int64_t>(bytes.size()));
  return {};
}

Status ImportUtf8(PiecedText* text, std::string_view name, const ImportOptions& options, const Target& target) {
  text->Extend(kHeadBytes);
  const Result<const Format*> format = FindFormat(BytesOf(text->text()), name, options.format);
  if (!format.ok()) return format.error();
  if (format.value()->import != nullptr) return ImportGathered(*format.value(), text, name, options, target.builder);
  return ImportStream(*format.value(), text, name, options, target);
}

Status ImportPieces(PiecedText* text, std::string_view name, const ImportOptions& options, const Target& target) {
  text->Extend(kHeadBytes);
  const Utf16Order order = OrderOf(BytesOf(text->text()));
  return order == Utf16Order::kNone ? ImportUtf8(text, name, options, target)
                                    : ImportUtf16(text, order, name, options, target);
}

Error NothingDecompressed(const TextEnd& end, std::string_view name) {
  const char* what =
      end.cut ? ": the compressed data ends before its first byte of content" : ": the compressed data is damaged";
  return {ErrorCode::kMalformed, std::string(name) + ": at byte " + std::to_string(end.damaged_at) + what, 0};
}

// Where the text ends although the compressed data does not. The importer has usually seen the end of the text for
// itself; this is for a cut in the trailer.
void NoteDamage(const TextEnd& end, int64_t offset, const char* complaint, TraceBuilder* builder) {
  if (end.damaged_at < 0) return;
  for (const char* told : {"truncated", "syntax_error", "over_memory_limit"}) {
    if (builder->HasProblem(told)) return;
  }
  builder->AddProblem("truncated", offset, 1, complaint);
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

Status ImportUtf16(TextSource* text, Utf16Order order, std::string_view name, const ImportOptions& options,
                   const Target& target) {
  Utf16Offsets offsets;
  PiecedText utf8(ReadUtf16(text, order, &offsets), text->total_bytes());
  const Status imported = ImportUtf8(&utf8, name, options, target);
  if (!imported.ok()) return InUtf16(imported.error(), name, offsets);
  NoteDamage(utf8.end(), static_cast<int64_t>(utf8.offset() + utf8.text().size()), "half a character of UTF-16",
             target.builder);
  target.builder->MoveProblems([&](uint64_t offset) { return offsets.Utf16Of(offset); });
  return {};
}

Status ImportCompressed(std::unique_ptr<TextSource> compressed, CompressedFormat compression, std::string_view name,
                        const ImportOptions& options, const Target& target) {
  const uint64_t total = compressed->total_bytes();
  PiecedText text(Decompress(std::move(compressed), compression), total);
  text.Extend(kHeadBytes);
  if (text.text().empty() && text.end().damaged_at >= 0) return NothingDecompressed(text.end(), name);
  OPSCOPE_TRY(ImportPieces(&text, name, options, target));
  NoteDamage(text.end(), static_cast<int64_t>(text.offset() + text.text().size()), "the compressed data is damaged",
             target.builder);
  target.builder->info().compressed = compression == CompressedFormat::kGzip ? "gzip" : "zstd";
  return {};
}

Status ImportInMemory(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
                      const Target& target) {
  const CompressedFormat compression = DetectCompression(bytes);
  Status imported = compression == CompressedFormat::kNone
                        ? ImportPlain(bytes, name, options, target)
                        : ImportCompressed(std::make_unique<PlainText>(bytes), compression, name, options, target);
  if (imported.ok() && options.on_progress) options.on_progress(bytes.size(), bytes.size());
  return imported;
}

Status ImportOpened(InputFile* file, std::string_view name, const ImportOptions& options, const Target& target) {
  FileEnd end;
  auto text = std::make_unique<PiecedText>(std::make_unique<FilePieces>(file, &end), file->size());
  text->Extend(kHeadBytes);
  const CompressedFormat compression = DetectCompression(BytesOf(text->text()));
  Status imported = compression == CompressedFormat::kNone
                        ? ImportPieces(text.get(), name, options, target)
                        : ImportCompressed(std::move(text), compression, name, options, target);
  if (!end.status.ok()) return end.status;
  if (!imported.ok()) return imported;
  // An .opscope file says itself where it ends, and becomes shorter when a recording into it does.
  if (end.was_reached && end.bytes < file->size() && target.builder->info().format != "opscope")
    target.builder->AddProblem("input_shrank", static_cast<int64_t>(end.bytes));
  const uint64_t total = std::max(end.bytes, file->size());
  if (options.on_progress) options.on_progress(total, total);
  return {};
}

// fill(TraceBuilder*), and what is the same for all formats.
template <typename Fill>
Result<Trace> ImportWith(const ImportOptions& options, const Fill& fill) {
  TraceBuilder builder;
  const Status imported = fill(&builder);
  if (!imported.ok()) return imported.error();
  ReadRanksAndHosts(&builder);
  if (!options.stands_in_because.empty()) builder.AddProblem("framework_file", -1, 1, options.stands_in_because);
  return builder.Build(options.max_threads);
}

Result<Trace> ImportFrom(Result<InputFile> opened, std::string_view name, const ImportOptions& options,
                         MegEngineProfile* profile = nullptr) {
  if (!opened.ok()) return opened.error();
  return ImportWith(
      options, [&](TraceBuilder* builder) { return ImportOpened(&opened.value(), name, options, {builder, profile}); });
}

// read(MegEngineProfile*) gives a Trace beside it.
template <typename Read>
Result<MegEngineProfile> ProfileWith(std::string_view name, const Read& read) {
  return OrShortMemory(name, [&]() -> Result<MegEngineProfile> {
    MegEngineProfile profile;
    Result<Trace> trace = read(&profile);
    if (!trace.ok()) return trace.error();
    profile.trace = std::move(trace).value();
    return profile;
  });
}

std::string NameOfDescriptor(int descriptor, const ImportOptions& options) {
  return options.name.empty() ? "descriptor " + std::to_string(descriptor) : options.name;
}

}  // namespace

std::span<const std::string_view> ImportFormatNames() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const Format& format : kFormats) {
      for (const std::string_view name : format.names) {
        if (!name.empty() && std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
      }
    }
    return all;
  }();
  return names;
}

Result<Trace> ImportBytes(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options) {
  return OrShortMemory(name, [&] {
    return ImportWith(options, [&](TraceBuilder* builder) { return ImportInMemory(bytes, name, options, {builder}); });
  });
}

Result<Trace> ImportFile(const std::string& path, const ImportOptions& options) {
  const std::string_view name = options.name.empty() ? std::string_view(path) : options.name;
  return OrShortMemory(name, [&] { return ImportFrom(InputFile::Open(path), name, options); });
}

Result<Trace> ImportDescriptor(int descriptor, const ImportOptions& options) {
  return OrShortMemory(options.name, [&] {
    const std::string name = NameOfDescriptor(descriptor, options);
    return ImportFrom(InputFile::OfDescriptor(descriptor, name), name, options);
  });
}

Result<MegEngineProfile> ReadMegEngineProfile(const std::string& path, const ImportOptions& options) {
  const std::string_view name = options.name.empty() ? std::string_view(path) : options.name;
  return ProfileWith(
      name, [&](MegEngineProfile* profile) { return ImportFrom(InputFile::Open(path), name, options, profile); });
}

Result<MegEngineProfile> ReadMegEngineProfile(int descriptor, const ImportOptions& options) {
  const std::string name = NameOfDescriptor(descriptor, options);
  return ProfileWith(name, [&](MegEngineProfile* profile) {
    return ImportFrom(InputFile::OfDescriptor(descriptor, name), name, options, profile);
  });
}

Result<MegEngineProfile> ReadMegEngineProfile(std::span<const std::byte> bytes, std::string_view name,
                                              const ImportOptions& options) {
  return ProfileWith(name, [&](MegEngineProfile* profile) {
    return ImportWith(options,
                      [&](TraceBuilder* builder) { return ImportInMemory(bytes, name, options, {builder, profile}); });
  });
}

Result<Trace> ImportRecording(std::span<const RecordingBlock> blocks, const ImportOptions& options) {
  return OrShortMemory("the recording", [&]() -> Result<Trace> {
    TraceBuilder builder;
    builder.info().format = "opscope";
    AppendUint(&builder.info().format_version, kFormatMajor);
    builder.info().format_version += '.';
    AppendUint(&builder.info().format_version, kPlainMinor);
    RecordingReader reader(&builder);
    uint64_t bytes = 0;
    for (const RecordingBlock& block : blocks) {
      reader.AddBlock(block.type, block.bytes, -1);
      bytes += block.bytes.size();
    }
    reader.Finish(options, bytes);
    ReadRanksAndHosts(&builder);
    return builder.Build(options.max_threads);
  });
}

}  // namespace opscope
