// A file may be truncated, overwritten or forged. Each field is read by a ByteReader that does not pass the end, and
// each offset is checked for alignment and range before use; a failed check loses only the record that refers to it. A
// live chunk (of a process that was killed or still records) has its numbers twice, at its front and its end: if they
// differ, it was replaced while it was read.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/chunk.h"

#include <algorithm>

#include "base/varint.h"

namespace opscope {

std::optional<RecordingChunk> RecordingChunk::Open(std::span<const std::byte> bytes, int64_t file_offset) {
  ByteReader reader(bytes);
  RecordingChunk chunk;
  chunk.bytes_ = bytes;
  chunk.file_offset_ = file_offset;
  const auto magic = reader.Fixed<uint32_t>();
  const auto layout = reader.Fixed<uint16_t>();
  const auto header_bytes = reader.Fixed<uint16_t>();
  const auto size = reader.Fixed<uint32_t>();
  chunk.sequence_ = reader.Fixed<uint32_t>();
  chunk.window_ = reader.Fixed<uint64_t>();
  chunk.os_thread_ = reader.Fixed<uint64_t>();
  chunk.thread_index_ = reader.Fixed<uint32_t>();
  chunk.process_ = reader.Fixed<uint32_t>();
  chunk.logical_thread_ = reader.Fixed<uint64_t>();
  chunk.dropped_before_ = reader.Fixed<uint64_t>();
  chunk.calibration_.ticks = reader.Fixed<uint64_t>();
  chunk.calibration_.unix_ns = reader.Fixed<int64_t>();
  const std::string_view name = reader.Text(sizeof(ChunkHeader::thread_name));
  chunk.thread_name_ = name.substr(0, std::min(name.find('\0'), name.size()));
  chunk.claimed_record_count_ = reader.Fixed<uint32_t>();
  reader.Fixed<uint32_t>();
  chunk.recorded_before_ = reader.Fixed<uint64_t>();
  reader.Fixed<uint64_t>();
  const uint32_t header = header_bytes == 0 ? sizeof(ChunkHeader) : header_bytes;
  if (!reader.ok() || magic != kChunkMagic || (layout & ~kUnixTimes) != kChunkLayout || header < sizeof(ChunkHeader) ||
      header > bytes.size()) {
    return std::nullopt;
  }
  if (size >= header && size < bytes.size()) chunk.bytes_ = bytes.first(size);
  chunk.has_unix_times_ = (layout & kUnixTimes) != 0;
  chunk.first_record_ = header;
  const size_t room = (chunk.bytes_.size() - header) / sizeof(Record);
  chunk.record_count_ = static_cast<uint32_t>(std::min<size_t>(chunk.claimed_record_count_, room));
  return chunk;
}

RecordingChunk::Live RecordingChunk::OpenLive(std::span<const std::byte> block, int64_t file_offset,
                                              std::optional<RecordingChunk>* chunk) {
  ByteReader reader(block);
  const auto magic = reader.Fixed<uint32_t>();
  const auto capacity = reader.Fixed<uint32_t>();
  const auto dropped = reader.Fixed<uint64_t>();
  const auto flags = reader.Fixed<uint32_t>();
  const auto thread_index = reader.Fixed<uint32_t>();
  const auto sequence = reader.Fixed<uint32_t>();
  const auto chunk_at = reader.Fixed<uint32_t>();
  if (reader.ok() && magic == 0) return Live::kUnused;
  if (!reader.ok() || magic != kOpenTableMagic || chunk_at < sizeof(OpenTable) || chunk_at > block.size()) {
    return Live::kDamaged;
  }
  const std::span<const std::byte> bytes = block.subspan(chunk_at);
  if (ByteReader(bytes).Fixed<uint32_t>() == 0) return Live::kUnused;
  *chunk = Open(bytes, file_offset < 0 ? -1 : file_offset + chunk_at);
  if (!chunk->has_value()) return Live::kDamaged;
  RecordingChunk& opened = **chunk;
  ByteReader trailer(bytes.subspan(opened.bytes_.size()));
  const bool is_named = trailer.Fixed<uint32_t>() == thread_index && trailer.Fixed<uint32_t>() == sequence;
  if (!is_named || opened.thread_index_ != thread_index || opened.sequence_ != sequence) return Live::kReplaced;
  opened.dropped_in_table_ = dropped;
  opened.open_flags_ = flags;
  opened.ReadOpenEntries(block.subspan(sizeof(OpenTable), chunk_at - sizeof(OpenTable)), capacity);
  return Live::kWhole;
}

void RecordingChunk::ReadOpenEntries(std::span<const std::byte> bytes, uint32_t capacity) {
  const size_t count = std::min<size_t>(capacity, bytes.size() / sizeof(OpenTableEntry));
  size_t used = 0;  // most tables are nearly empty
  std::vector<OpenTableEntry> entries(count);
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(&entries[i], bytes.data() + i * sizeof(OpenTableEntry), sizeof(OpenTableEntry));
    if (entries[i].start != 0) used = i + 1;
  }
  open_entries_.assign(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(used));
}

int64_t RecordingChunk::record_offset(uint32_t row) const {
  return file_offset_ < 0 ? -1 : file_offset_ + first_record_ + static_cast<int64_t>(row * sizeof(Record));
}

std::optional<std::string_view> RecordingChunk::name(uint32_t offset) const {
  if (offset < first_record_ || offset % 8 != 0 || offset >= bytes_.size()) return std::nullopt;
  ByteReader reader(bytes_.subspan(offset));
  const auto size = reader.Fixed<uint32_t>();
  reader.Fixed<uint32_t>();
  const std::string_view text = reader.Text(size);
  if (!reader.ok()) return std::nullopt;
  return text;
}

std::optional<Payload> RecordingChunk::payload(uint32_t offset) const {
  const std::optional<PayloadExtent> extent = payload_extent(offset);
  if (!extent) return std::nullopt;
  const uint16_t fields = extent->fields;
  Payload payload;
  payload.argument_count = extent->argument_count;
  ByteReader reader(extent->body);
  if ((fields & payload_fields::kSequence) != 0) {
    payload.sequence = reader.Fixed<int64_t>();
    payload.forward_thread = reader.Fixed<uint64_t>();
  }
  if ((fields & payload_fields::kOverload) != 0) payload.overload = static_cast<uint32_t>(reader.Fixed<uint64_t>());
  if ((fields & payload_fields::kStartThread) != 0) {
    payload.has_start_thread = true;
    payload.start_thread = static_cast<uint32_t>(reader.Fixed<uint64_t>());
  }
  if ((fields & payload_fields::kAddress) != 0) {
    payload.has_address = true;
    payload.address = reader.Fixed<uint64_t>();
    payload.device_type = reader.Fixed<uint32_t>();
    payload.device = reader.Fixed<int32_t>();
  }
  if ((fields & payload_fields::kDevice) != 0) {
    payload.has_device = true;
    payload.device = reader.Fixed<int32_t>();
    payload.stream = reader.Fixed<int32_t>();
    payload.correlation = reader.Fixed<uint64_t>();
  }
  if ((fields & payload_fields::kKeywords) != 0) payload.keywords = static_cast<uint32_t>(reader.Fixed<uint64_t>());
  if ((fields & payload_fields::kRecordHandle) != 0) payload.record_handle = reader.Fixed<uint64_t>();
  if ((fields & payload_fields::kTotals) != 0) {
    payload.total_allocated = reader.Fixed<int64_t>();
    payload.total_reserved = reader.Fixed<int64_t>();
  }
  const auto entries = [&reader](size_t bytes) {
    return reader.Bytes(uint64_t{reader.Fixed<uint64_t>() & 0xffffffffu} * bytes);
  };
  if ((fields & payload_fields::kTensors) != 0) payload.tensors = entries(sizeof(TensorIdentity));
  if ((fields & payload_fields::kHeld) != 0) payload.held = entries(sizeof(ReferencedTensor));
  const bool elsewhere = (fields & payload_fields::kArgumentsOf) != 0;
  const auto of = elsewhere ? static_cast<uint32_t>(reader.Fixed<uint64_t>()) : 0;
  if (!reader.ok()) return std::nullopt;
  payload.arguments = reader.Bytes(reader.remaining());
  if (!elsewhere) return payload;
  const std::optional<PayloadExtent> other = payload_extent(of);
  if (!other || (other->fields & payload_fields::kArgumentsOf) != 0 ||
      other->argument_count != extent->argument_count) {
    return std::nullopt;
  }
  const std::optional<Payload> theirs = this->payload(of);
  if (!theirs) return std::nullopt;
  payload.arguments = theirs->arguments;
  return payload;
}

}  // namespace opscope
