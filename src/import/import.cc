// The public entry points: open, decompress, detect the format by content, build.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/import.h"

#include <simdjson.h>

#include "base/file.h"
#include "base/short_memory.h"
#include "import/decompress.h"
#include "import/importer.h"
#include "import/ranks.h"
#include "wire/container.h"

namespace opscope {
namespace {

// simdjson looks at the processor when it is first used, and cannot bear to be refused memory meanwhile.
[[maybe_unused]] const bool simdjson_has_chosen = !simdjson::get_active_implementation()->name().empty();

struct Format {
  bool (*detect)(std::span<const std::byte> bytes);
  Status (*import)(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
                   TraceBuilder* builder);
};

// One row per format, tried in order.
constexpr Format kFormats[] = {
    {LooksLikeOpscope, ImportOpscope},
    {LooksLikeJson, ImportChromeJson},
};

Status ImportPlain(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
                   TraceBuilder* builder) {
  for (const Format& format : kFormats) {
    if (format.detect(bytes)) return format.import(bytes, name, options, builder);
  }
  const char* what =
      bytes.empty() ? ": the file is empty" : ": not a trace: neither .opscope nor JSON (also in gzip or zstd)";
  return Error{bytes.empty() ? ErrorCode::kMalformed : ErrorCode::kUnsupported, std::string(name) + what, 0};
}

Status ImportCompressed(std::span<const std::byte> bytes, CompressedFormat format, std::string_view name,
                        const ImportOptions& options, TraceBuilder* builder) {
  Result<Decompressed> plain = Decompress(bytes, format, name, options.max_memory);
  if (!plain.ok()) return plain.error();
  const Decompressed& content = plain.value();
  OPSCOPE_TRY(ImportPlain(content.bytes(), name, options, builder));
  builder->info().compressed = format == CompressedFormat::kGzip ? "gzip" : "zstd";
  const auto end = static_cast<int64_t>(content.size);
  if (content.over_limit) {
    builder->AddProblem("over_memory_limit", end);
  } else if (content.damaged_at >= 0 && !builder->HasProblem("truncated") && !builder->HasProblem("syntax_error")) {
    // The importer has usually seen the end of the text for itself; this is for a cut in the trailer.
    builder->AddProblem("truncated", end, 1, "the compressed data is damaged");
  }
  return {};
}

}  // namespace

Result<Trace> ImportBytes(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options) {
  return OrShortMemory(name, [&]() -> Result<Trace> {
    TraceBuilder builder;
    const CompressedFormat compression = DetectCompression(bytes);
    Status imported = compression == CompressedFormat::kNone
                          ? ImportPlain(bytes, name, options, &builder)
                          : ImportCompressed(bytes, compression, name, options, &builder);
    if (!imported.ok()) return imported.error();
    ReadRanks(&builder);
    return builder.Build();
  });
}

Result<Trace> ImportFile(const std::string& path, const ImportOptions& options) {
  return OrShortMemory(path, [&]() -> Result<Trace> {
    Result<FileBytes> file = FileBytes::Open(path);
    if (file.ok() && MayChange(file.value().bytes())) file = FileBytes::Read(path);
    if (!file.ok()) return file.error();
    return ImportBytes(file.value().bytes(), path, options);
  });
}

}  // namespace opscope
