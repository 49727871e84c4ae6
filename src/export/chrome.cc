// Writes Kineto's Chrome trace JSON. ChromePlan fixes the order of all events and cuts them into blocks; several
// threads format and compress blocks; OrderedBlocks hands them to the file in order. The bytes do not depend on the
// number of threads. An export right after stop() takes a twelfth of torch's time (docs/reference/benchmarks_files.md).
// SPDX-License-Identifier: Apache-2.0
#include "opscope/export/chrome.h"

#include <string>

#include "base/catch_bad_alloc.h"
#include "base/file.h"
#include "base/thread_team.h"
#include "export/chrome_buffer.h"
#include "export/chrome_head.h"
#include "export/chrome_pieces.h"
#include "export/chrome_plan.h"
#include "export/chrome_rows.h"
#include "export/compress.h"
#include "export/ordered_blocks.h"

namespace opscope {
namespace {

// Rows per block. A compressor needs about a megabyte of text to find repetitions. Plain text is formatted in pieces
// that fit the cache, because the page faults of larger buffers cost more than the formatting.
constexpr size_t kCompressedRows = 4096, kPlainRows = 512;

// Calls take(std::string_view) with consecutive pieces of the file; stops if it returns false.
template <typename Take>
void WritePieces(const Trace& trace, Compression compression, const ChromeExportOptions& options,
                 std::string_view trace_name, Take take) {
  const int gzip_level = GzipLevel(options.small_gzip);
  const ChromePlan plan(trace, compression == Compression::kNone ? kPlainRows : kCompressedRows);
  const ChromePieces pieces(trace);
  const ChromeRowWriter rows(trace, plan, pieces, options.only_categories);
  const ChromeHead head = MakeChromeHead(trace, plan, pieces, options.without_metadata);
  const std::string tail = MakeChromeTail(trace, trace_name);
  const size_t count = plan.blocks().size();

  struct Worker {
    BlockCompressor compressor;
    ChromeBuffer text;
    const ChromePlan& plan;
    const ChromeRowWriter& rows;
    bool head_has_events;
    bool compresses;

    ChromeBuffer operator()(size_t i, ChromeBuffer spare) {
      spare.clear();
      ChromeBuffer* out = compresses ? &text : &spare;
      out->clear();
      rows.WriteBlock(plan.blocks()[i], head_has_events || i != 0, out);
      if (compresses) spare.Append(compressor.Compress(text.text()));
      return spare;
    }
  };
  const auto make_worker = [&] {
    return Worker{BlockCompressor(compression, gzip_level), {}, plan, rows, head.has_events,
                  compression != Compression::kNone};
  };
  size_t written = 0;
  const auto take_block = [&](const ChromeBuffer& block) {
    const bool taken = take(block.text());
    if (options.on_progress) options.on_progress(++written, count);
    return taken;
  };
  BlockCompressor ends(compression, gzip_level);
  if (!take(ends.Compress(head.text))) return;
  OrderedBlocks<ChromeBuffer, decltype(make_worker), decltype(take_block)>(count, make_worker, take_block)
      .Run(DefaultThreadCount());
  take(ends.Compress(tail));
}

Status Export(const Trace& trace, const std::string& path, const ChromeExportOptions& options) {
  const Compression compression = options.compression_from_name ? CompressionOfName(path) : options.compression;
  Result<AtomicFile> file = AtomicFile::Create(path);
  if (!file.ok()) return file.error();
  Status status;
  const std::string& trace_name = options.trace_name.empty() ? path : options.trace_name;
  WritePieces(trace, compression, options, trace_name, [&](std::string_view piece) {
    if (status.ok()) status = file.value().Write(piece);
    return status.ok();
  });
  if (!status.ok()) return status;
  return file.value().Commit();
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
    std::string text;
    WritePieces(trace, options.compression, options, options.trace_name, [&](std::string_view piece) {
      text.append(piece);
      return true;
    });
    return text;
  });
}

}  // namespace opscope
