// Any bytes through the Chrome JSON importer: a Trace or an error that names the input, never a crash.
// Divided into small blocks it must give the same. What was read is exported, and our own export must be read back
// without loss.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <span>
#include <string>

#include "import/importer.h"
#include "import/text/text_source.h"
#include "opscope/export.h"
#include "opscope/result.h"
#include "trace/builder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace opscope;
  TraceBuilder builder;
  PlainText whole(std::as_bytes(std::span(data, size)));
  const Status status = ImportChromeOfAnyWriter(&whole, "input", {}, &builder);
  TraceBuilder by_blocks;
  PlainText source(std::as_bytes(std::span(data, size)));
  const Status divided = ImportChromeText(&source, "input", {.max_threads = 1}, AllChromeDialects(),
                                          {.first = 5, .block = 40}, &by_blocks);
  OPSCOPE_CHECK(divided.ok() == status.ok() && (status.ok() || divided.error().message == status.error().message));
  if (!status.ok()) {
    OPSCOPE_CHECK(status.error().code == ErrorCode::kMalformed);
    OPSCOPE_CHECK(status.error().message.starts_with("input: at byte "));
    return 0;
  }
  const Trace trace = builder.Build();
  const std::string text = ChromeTraceText(trace).value();
  OPSCOPE_CHECK(ChromeTraceText(by_blocks.Build()).value() == text);
  TraceBuilder again;
  PlainText exported(std::as_bytes(std::span(text)));
  OPSCOPE_CHECK(ImportChromeOfAnyWriter(&exported, "export", {}, &again).ok());
  const Trace copy = again.Build();
  OPSCOPE_CHECK(!copy.is_partial());
  OPSCOPE_CHECK(copy.spans().size() == trace.spans().size());
  OPSCOPE_CHECK(ChromeTraceText(copy).value() == text);
  return 0;
}
