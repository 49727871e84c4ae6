// What a fuzz target of an importer checks: any bytes give an error that names the place, or a Trace that leaves as
// `.opscope` and as Chrome JSON and comes back without loss. A text gives the same in whatever pieces it comes.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "import/importer.h"
#include "import/text/tiny_pieces_for_test.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "opscope/result.h"
#include "trace/builder.h"

namespace opscope {

using Importer = Status (*)(std::span<const std::byte>, std::string_view, const ImportOptions&, TraceBuilder*);
using TextImporter = Status (*)(TextSource*, std::string_view, const ImportOptions&, TraceBuilder*);

inline const ImportOptions kFuzzOptions{.max_memory = uint64_t{256} << 20};

inline void CheckStored(const Trace& trace) {
  const std::string stored = OpscopeBytes(trace).value();
  const Result<Trace> again = ImportBytes(std::as_bytes(std::span(stored)), "stored");
  OPSCOPE_CHECK(again.ok());
  OPSCOPE_CHECK(again.value().spans().size() == trace.spans().size());
  OPSCOPE_CHECK(again.value().argument_list_count() == trace.argument_list_count());
}

// Its export as Chrome JSON; nothing where there is no trace.
inline std::string CheckImported(const Status& status, TraceBuilder* builder) {
  if (!status.ok()) {
    OPSCOPE_CHECK(status.error().code == ErrorCode::kMalformed);
    OPSCOPE_CHECK(status.error().message.starts_with("input: at byte "));
    return "";
  }
  const Trace trace = builder->Build();
  CheckStored(trace);
  const std::string text = ChromeTraceText(trace).value();
  const Result<Trace> chrome = ImportBytes(std::as_bytes(std::span(text)), "export");
  OPSCOPE_CHECK(chrome.ok() && !chrome.value().is_partial());
  OPSCOPE_CHECK(chrome.value().spans().size() == trace.spans().size());
  return text;
}

inline void FuzzImporter(Importer importer, std::span<const uint8_t> input) {
  TraceBuilder builder;
  CheckImported(importer(std::as_bytes(input), "input", kFuzzOptions, &builder), &builder);
}

inline void FuzzImporter(TextImporter importer, std::span<const uint8_t> input) {
  TraceBuilder builder, by_pieces;
  PlainText text(std::as_bytes(input));
  const Status status = importer(&text, "input", kFuzzOptions, &builder);
  TinyText pieces({reinterpret_cast<const char*>(input.data()), input.size()});
  const Status same = importer(&pieces, "input", kFuzzOptions, &by_pieces);
  OPSCOPE_CHECK(same.ok() == status.ok() && (status.ok() || same.error().message == status.error().message));
  const std::string exported = CheckImported(status, &builder);
  OPSCOPE_CHECK(!status.ok() || ChromeTraceText(by_pieces.Build()).value() == exported);
}

}  // namespace opscope
