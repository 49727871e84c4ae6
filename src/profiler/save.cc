// SPDX-License-Identifier: Apache-2.0
#include "profiler/save.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "wire/container.h"

namespace opscope {
namespace {

struct RecordingFile {
  AtomicFile file;
  Status status;
  std::string block;  // as it is written
  std::string chunk;  // with its unused middle cleared

  void Write() {
    if (status.ok()) status = file.Write(block);
    block.clear();
  }
};

// The bytes between records and side entries are left over from whatever the memory was used for
// before: nobody's business, and they would not compress.
std::string_view ClearedChunk(RecordingFile* out, const void* data, uint64_t bytes) {
  out->chunk.assign(static_cast<const char*>(data), bytes);
  const PublishedExtent extent = LoadPublished(static_cast<const ChunkHeader*>(data));
  const uint64_t records_end = sizeof(ChunkHeader) + uint64_t{extent.record_count} * sizeof(Record);
  if (records_end < extent.side_begin) std::memset(out->chunk.data() + records_end, 0, extent.side_begin - records_end);
  return out->chunk;
}

void WriteOneBlock(void* context, uint16_t type, const void* data, uint64_t bytes) {
  auto* out = static_cast<RecordingFile*>(context);
  const std::string_view payload = type == block_types::kRawChunk
                                       ? ClearedChunk(out, data, bytes)
                                       : std::string_view(static_cast<const char*>(data), bytes);
  AppendBlock(&out->block, type, payload, /*compress=*/true);
  out->Write();
}

}  // namespace

Status SaveRecording(const Window* window, const std::string& path) {
  Result<AtomicFile> file = AtomicFile::Create(path);
  if (!file.ok()) return file.error();
  RecordingFile out{std::move(file).value(), {}, {}, {}};
  AppendFileHeader(&out.block);
  out.Write();
  opscope_window_read(window, WriteOneBlock, &out);
  AppendEnd(&out.block, 0);
  out.Write();
  OPSCOPE_TRY(out.status);
  return out.file.Commit();
}

}  // namespace opscope
