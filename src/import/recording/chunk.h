// Reads one raw chunk and checks every offset before it follows it. The layout is in opscope/record.h.
//
// Thread rule: immutable views of the caller's bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "opscope/record.h"

namespace opscope {

// The fixed fields of a payload, and its encoded arguments.
struct Payload {
  int64_t sequence = -1;
  uint64_t forward_thread = 0;
  uint32_t overload = 0;  // offset of a name; 0: none
  uint32_t keywords = 0;  // offset of a name; 0: none
  uint32_t start_thread = 0;
  bool has_start_thread = false;
  bool has_address = false;
  bool has_device = false;
  int64_t total_allocated = -1;
  int64_t total_reserved = -1;
  uint64_t address = 0;
  uint32_t device_type = 0;
  int32_t device = -1;
  int32_t stream = 0;
  uint64_t correlation = 0;
  uint64_t record_handle = 0;
  std::span<const std::byte> tensors;  // an array of TensorIdentity
  std::span<const std::byte> held;     // an array of ReferencedTensor
  uint16_t argument_count = 0;
  std::span<const std::byte> arguments;  // whole words
};

// A payload, by its header.
struct PayloadExtent {
  uint16_t fields = 0;
  uint16_t argument_count = 0;
  std::span<const std::byte> body;  // after the header
};

class RecordingChunk {
 public:
  // nullopt: not a chunk, or of an unknown layout. A truncated chunk has the records that its bytes hold.
  static std::optional<RecordingChunk> Open(std::span<const std::byte> bytes, int64_t file_offset);

  // A kLiveChunk block: the chunk with the scopes that were open.
  enum class Live {
    kWhole,
    kDamaged,
    kUnused,    // the unit was never used, or another chunk is being placed there
    kReplaced,  // another chunk was placed there while the file was read
  };
  static Live OpenLive(std::span<const std::byte> block, int64_t file_offset, std::optional<RecordingChunk>* chunk);

  uint32_t sequence() const { return sequence_; }
  uint64_t window() const { return window_; }
  uint64_t os_thread() const { return os_thread_; }
  uint32_t thread_index() const { return thread_index_; }
  uint32_t process() const { return process_; }
  uint64_t logical_thread() const { return logical_thread_; }
  uint64_t dropped_before() const { return dropped_before_; }
  uint64_t recorded_before() const { return recorded_before_; }
  // The newest count: that of the open table, if there is one.
  uint64_t dropped() const { return std::max(dropped_before_, dropped_in_table_); }
  Calibration calibration() const { return calibration_; }
  std::string_view thread_name() const { return thread_name_; }
  int64_t file_offset() const { return file_offset_; }

  size_t byte_size() const { return bytes_.size(); }
  uint32_t record_count() const { return record_count_; }
  // More than record_count() if the chunk is damaged.
  uint32_t claimed_record_count() const { return claimed_record_count_; }
  Record record(uint32_t row) const {
    Record record;
    std::memcpy(&record, bytes_.data() + first_record_ + row * sizeof(Record), sizeof(Record));
    return record;
  }
  uint64_t start(uint32_t row) const {
    uint64_t start = 0;
    std::memcpy(&start, bytes_.data() + first_record_ + row * sizeof(Record) + offsetof(Record, start), sizeof(start));
    return start;
  }
  int64_t record_offset(uint32_t row) const;  // in the file, -1 in memory

  std::optional<std::string_view> name(uint32_t offset) const;
  std::optional<PayloadExtent> payload_extent(uint32_t offset) const {
    PayloadHeader header;
    if (offset < first_record_ || offset % 8 != 0 || bytes_.size() < sizeof(header) ||
        offset > bytes_.size() - sizeof(header)) {
      return std::nullopt;
    }
    std::memcpy(&header, bytes_.data() + offset, sizeof(header));
    if (header.bytes < sizeof(header) || header.bytes % 8 != 0 || header.bytes > bytes_.size() - offset) {
      return std::nullopt;
    }
    return PayloadExtent{header.fields, header.arg_count,
                         bytes_.subspan(offset + sizeof(header), header.bytes - sizeof(header))};
  }
  std::optional<Payload> payload(uint32_t offset) const;

  const std::vector<OpenTableEntry>& open_entries() const { return open_entries_; }  // by depth; start 0: none
  uint32_t open_flags() const { return open_flags_; }                                // open_table_flags
  bool has_unix_times() const { return has_unix_times_; }
  // Replaces the bytes by a copy with times in ticks.
  void UseTicks(std::span<const std::byte> copy) {
    bytes_ = copy;
    has_unix_times_ = false;
  }
  std::span<const std::byte> bytes() const { return bytes_; }
  uint32_t first_record() const { return first_record_; }

 private:
  RecordingChunk() = default;
  void ReadOpenEntries(std::span<const std::byte> entries, uint32_t capacity);

  std::span<const std::byte> bytes_;
  int64_t file_offset_ = -1;
  uint32_t first_record_ = 0;
  uint32_t sequence_ = 0, thread_index_ = 0, process_ = 0, record_count_ = 0, claimed_record_count_ = 0;
  uint64_t window_ = 0, os_thread_ = 0, logical_thread_ = 0, dropped_before_ = 0, recorded_before_ = 0;
  Calibration calibration_;
  std::string_view thread_name_;
  std::vector<OpenTableEntry> open_entries_;
  uint64_t dropped_in_table_ = 0;
  uint32_t open_flags_ = 0;
  bool has_unix_times_ = false;
};

// Chunks of one thread in one window: the recorder's stream. Their sequence numbers order them.
[[nodiscard]] inline bool AreOfOneStream(const RecordingChunk& a, const RecordingChunk& b) {
  return a.process() == b.process() && a.thread_index() == b.thread_index() && a.window() == b.window();
}

// A record with a length on its thread: `value` is its duration.
[[nodiscard]] inline bool IsScope(const Record& record) {
  return record.kind == RecordKind::kScope || record.kind == RecordKind::kAsync;
}

}  // namespace opscope
