// Writes the blocks of a window into a file, one at a time, so that a dump of 256 MiB needs the memory of
// one chunk. Chunks are written as they are, zstd-compressed, without decoding. The free space inside a
// chunk holds bytes of earlier use of the memory; it is cleared first, because it could hold data of the
// program and would not compress.
// SPDX-License-Identifier: Apache-2.0
#include "flight/save.h"

#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "base/catch_bad_alloc.h"
#include "base/file.h"
#include "wire/container.h"
#include "wire/zstd_contexts.h"

namespace opscope {
namespace {

struct BlockFileWriter {
  AtomicFile file;
  const std::string& path;
  Status status;
  std::string block;  // as it is written
  std::string chunk;  // with its unused middle cleared

  bool has_blocks = false;  // false at the end: the recorder had no memory for the first one

  void Write() {
    if (status.ok()) status = file.Write(block);
    block.clear();
  }
};

// The bytes between records and entries are left over from whatever the memory was used for
// before: possibly private, and they would not compress.
std::string_view ClearedChunk(BlockFileWriter* out, const void* data, uint64_t bytes) {
  out->chunk.assign(static_cast<const char*>(data), bytes);
  const PublishedExtent extent = LoadPublished(static_cast<const ChunkHeader*>(data));
  const uint64_t records_end = sizeof(ChunkHeader) + uint64_t{extent.record_count} * sizeof(Record);
  if (records_end < extent.entries_begin)
    std::memset(out->chunk.data() + records_end, 0, extent.entries_begin - records_end);
  return out->chunk;
}

void WriteBlock(BlockFileWriter* out, uint16_t type, const void* data, uint64_t bytes) {
  if (!out->status.ok()) return;
  const std::string_view payload = type == block_types::kRawChunk
                                       ? ClearedChunk(out, data, bytes)
                                       : std::string_view(static_cast<const char*>(data), bytes);
  AppendBlock(&out->block, type, payload, /*compress=*/true);
  out->Write();
  out->has_blocks = true;
}

// Called by the recorder, through which nothing may be thrown.
void WriteOneBlock(void* context, uint16_t type, const void* data, uint64_t bytes) {
  auto* out = static_cast<BlockFileWriter*>(context);
  try {
    WriteBlock(out, type, data, bytes);
  } catch (const std::bad_alloc&) {
    out->status = OutOfMemoryError(out->path);
  }
}

bool WriteDumpBlock(void* context, uint16_t type, const void* data, uint64_t bytes) {
  WriteOneBlock(context, type, data, bytes);
  return static_cast<BlockFileWriter*>(context)->status.ok();
}

template <typename WriteBlocks>
Status WriteFile(const std::string& path, unsigned mode, const WriteBlocks& write_blocks) {
  Result<AtomicFile> file = AtomicFile::Create(path, mode);
  if (!file.ok()) return file.error();
  const ZstdContexts contexts;
  BlockFileWriter out{std::move(file).value(), path, {}, {}, {}};
  AppendFileHeader(&out.block);
  out.Write();
  write_blocks(&out);
  if (!out.has_blocks && out.status.ok()) out.status = OutOfMemoryError(path);
  AppendEnd(&out.block, 0);
  out.Write();
  OPSCOPE_TRY(out.status);
  return out.file.Commit();
}

}  // namespace

Status SaveRecording(const Window* window, const std::string& path) {
  return CatchBadAlloc(path, [&] {
    return WriteFile(path, 0666, [&](BlockFileWriter* out) { opscope_window_read(window, WriteOneBlock, out); });
  });
}

Status SaveDump(Window* window, const std::string& about, const std::string& path) {
  return CatchBadAlloc(path, [&] {
    return WriteFile(path, 0600, [&](BlockFileWriter* out) {
      const bool whole = opscope_window_dump(window, about.c_str(), WriteDumpBlock, out);
      if (!whole && out->status.ok()) out->status = OutOfMemoryError(path);
    });
  });
}

}  // namespace opscope
