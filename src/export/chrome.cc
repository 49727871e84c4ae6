// Writes Kineto's Chrome trace JSON. ChromePlan fixes the order of all events and cuts them into blocks; several
// threads format and compress the blocks, and ExportOutput writes them in order. The bytes do not depend on the number
// of threads. An export right after stop() takes a twelfth of torch's time (docs/reference/benchmarks_files.md).
// SPDX-License-Identifier: Apache-2.0
#include "opscope/export/chrome.h"

#include <string>

#include "base/catch_bad_alloc.h"
#include "export/chrome_buffer.h"
#include "export/chrome_head.h"
#include "export/chrome_pieces.h"
#include "export/chrome_plan.h"
#include "export/chrome_rows.h"
#include "export/compress.h"
#include "export/write_output.h"

namespace opscope {
namespace {

// Rows per block. A compressor needs about a megabyte of text to find repetitions. Plain text is formatted in pieces
// that fit the cache, because the page faults of larger buffers cost more than the formatting.
constexpr size_t kCompressedRows = 4096, kPlainRows = 512;

void WriteChrome(const Trace& trace, Compression compression, const ChromeExportOptions& options,
                 std::string_view trace_name, ExportOutput* output) {
  const ChromePlan plan(trace, compression == Compression::kNone ? kPlainRows : kCompressedRows);
  const ChromePieces pieces(trace);
  const ChromeRowWriter rows(trace, plan, pieces, options.only_categories);
  const ChromeHead head = MakeChromeHead(trace, plan, pieces, options.without_metadata);
  output->Write(head.text);
  output->WriteBlocks<ChromeBuffer>(plan.blocks().size(), [&](size_t i, ChromeBuffer* text) {
    rows.WriteBlock(plan.blocks()[i], head.has_events || i != 0, text);
  });
  output->Write(MakeChromeTail(trace, trace_name));
}

Status Export(const Trace& trace, const std::string& path, const ChromeExportOptions& options) {
  const Compression compression = options.compression_from_name ? CompressionOfName(path) : options.compression;
  const std::string& trace_name = options.trace_name.empty() ? path : options.trace_name;
  return WriteToFile(path, compression, GzipLevel(options.small_gzip), options.on_progress,
                     [&](ExportOutput* output) { WriteChrome(trace, compression, options, trace_name, output); });
}

}  // namespace

std::vector<uint32_t> ChromeEventNumbers(const Trace& trace) {
  const ChromePlan plan(trace, kPlainRows);
  std::vector<uint32_t> numbers(trace.spans().size());
  for (size_t place = 0; place < plan.spans().size(); ++place)
    numbers[plan.spans()[place]] = static_cast<uint32_t>(place);
  return numbers;
}

Status ExportChromeTrace(const Trace& trace, const std::string& path, const ChromeExportOptions& options) {
  return CatchBadAlloc(path, [&] { return Export(trace, path, options); });
}

Result<std::string> ChromeTraceText(const Trace& trace, const ChromeExportOptions& options) {
  return CatchBadAlloc("", [&]() -> Result<std::string> {
    return WriteToText(
        options.compression, GzipLevel(options.small_gzip), options.on_progress,
        [&](ExportOutput* output) { WriteChrome(trace, options.compression, options, options.trace_name, output); });
  });
}

}  // namespace opscope
