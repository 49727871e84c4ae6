// Writes a Trace as an `.opscope` column file: strings and small tables first, then the spans in slices of time, then
// tables that refer to spans, then the footer. Several threads encode the blocks (opscope_plan.h), the caller
// concatenates them in order. The sums of the footer are computed as one more block, first of all, because they take
// longest.
// SPDX-License-Identifier: Apache-2.0
#include "export/opscope_file.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/catch_bad_alloc.h"
#include "base/file.h"
#include "base/thread_team.h"
#include "export/opscope_plan.h"
#include "export/opscope_spans.h"
#include "export/ordered_blocks.h"
#include "opscope/export/opscope_file.h"
#include "wire/container.h"
#include "wire/zstd_contexts.h"

namespace opscope {
namespace {

// Smallest number of rows for which starting a thread pays off.
constexpr size_t kRowsPerThread = 30'000;

size_t ThreadsFor(const Trace& trace) {
  const size_t rows = trace.spans().size() + trace.string_count() + trace.flows().size() + trace.allocations().size() +
                      trace.instants().size() + trace.counters().size();
  return std::min(DefaultThreadCount(), rows / kRowsPerThread);
}

struct BuiltBlock {
  std::string bytes;
  FooterBlock footer;
};

Status ExportTo(const std::string& path, const Trace& trace) {
  constexpr size_t kPiece = size_t{1} << 20;  // bytes per system call
  Result<AtomicFile> file = AtomicFile::Create(path);
  if (!file.ok()) return file.error();
  Status status;
  std::string piece;
  const auto write = [&] {
    status = file.value().Write(piece);
    piece.clear();
    return status.ok();
  };
  WriteOpscope(trace, ThreadsFor(trace), [&](std::string_view bytes) {
    piece += bytes;
    return piece.size() < kPiece || write();
  });
  if (!status.ok() || !write()) return status;
  return file.value().Commit();
}

}  // namespace

void WriteOpscope(const Trace& trace, size_t threads, const TakeBytes& take) {
  const std::vector<PlannedBlock> plan = PlanOpscope(trace);
  Footer footer;
  struct Worker {
    BlockMaker maker;
    const Trace& trace;
    const std::vector<PlannedBlock>& plan;
    Footer* of_file;

    BuiltBlock operator()(size_t i, BuiltBlock made) {
      made.bytes.clear();
      if (i == 0) {  // the longest task, needed only by the footer: started first
        of_file->sums = SumByName(trace.spans());
        return made;
      }
      const PlannedBlock& planned = plan[i - 1];
      made.footer = {.type = planned.type, .table = planned.table, .rows = planned.rows};
      maker.payload.clear();
      planned.make(&maker, &made.footer);
      AppendBlock(&made.bytes, planned.type, maker.payload, planned.compress);
      return made;
    }
  };
  const auto make_worker = [&] { return Worker{{}, trace, plan, &footer}; };
  std::string header;
  AppendFileHeader(&header);
  uint64_t written = header.size();
  if (!take(header)) return;
  bool go_on = true;
  const auto take_block = [&](const BuiltBlock& made) {
    if (made.bytes.empty()) return true;
    if (made.footer.type == block_types::kTable) {
      footer.blocks.push_back(made.footer);
      footer.blocks.back().offset = written;
    }
    written += made.bytes.size();
    return go_on = take(made.bytes);
  };
  OrderedBlocks<BuiltBlock, decltype(make_worker), decltype(take_block)>(plan.size() + 1, make_worker, take_block)
      .Run(threads);
  if (!go_on) return;
  std::string end;
  AppendBlock(&end, block_types::kFooter, EncodeFooter(footer));
  AppendEnd(&end, written);
  take(end);
}

Result<std::string> OpscopeBytes(const Trace& trace) {
  const ZstdContexts contexts;
  return CatchBadAlloc("", [&]() -> Result<std::string> {
    std::string bytes;
    WriteOpscope(trace, ThreadsFor(trace), [&](std::string_view piece) {
      bytes += piece;
      return true;
    });
    return bytes;
  });
}

Status ExportOpscope(const Trace& trace, const std::string& path) {
  const ZstdContexts contexts;
  return CatchBadAlloc(path, [&] { return ExportTo(path, trace); });
}

}  // namespace opscope
