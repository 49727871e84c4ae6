// For tests: a closed window as plain values, decoded from the blocks that opscope_window_read gives.
// Written against record.h alone, so that it checks the recorder and not the importer.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/recorder.h"

namespace opscope {

struct DecodedRecord {
  Record record;
  std::string name;
  uint64_t handle = 0;        // kRecordHandle
  uint32_t start_thread = 0;  // kStartThread
  std::string overload;       // kOverload
  std::string keywords;       // kKeywords
  bool unfinished() const { return (record.flags & record_flags::kUnfinished) != 0; }
};

struct DecodedThread {
  std::vector<DecodedRecord> records;  // in the order of the file
  std::vector<uint32_t> sequences;     // of the chunks
  std::string name;
  uint32_t process = 0;
  uint64_t logical_thread = 0;
  uint64_t recorded = 0, dropped = 0;  // as the window's information says
};

struct DecodedWindow {
  std::string info;
  std::map<uint32_t, DecodedThread> threads;  // by index

  const DecodedThread& only_thread() const {
    EXPECT_EQ(threads.size(), 1u) << info;
    return threads.begin()->second;
  }
};

// The number after `"key":`, searched from `from`.
inline uint64_t NumberAfter(const std::string& json, const std::string& key, size_t from = 0) {
  const size_t at = json.find("\"" + key + "\":", from);
  if (at == std::string::npos) return ~uint64_t{0};
  return std::strtoull(json.c_str() + at + key.size() + 3, nullptr, 10);
}

class ChunkReader {
 public:
  ChunkReader(const void* data, uint64_t bytes) : data_(static_cast<const char*>(data)), bytes_(bytes) {}

  void AddTo(DecodedWindow* window) const {
    const auto* header = reinterpret_cast<const ChunkHeader*>(data_);
    ASSERT_EQ(header->magic, kChunkMagic);
    ASSERT_EQ(header->size, bytes_);
    const PublishedExtent extent = LoadPublished(header);
    ASSERT_LE(header->header_bytes + extent.record_count * sizeof(Record), extent.entries_begin);
    ASSERT_LE(extent.entries_begin, bytes_);
    DecodedThread& thread = window->threads[header->thread_index];
    thread.sequences.push_back(header->sequence);
    thread.name = header->thread_name;
    thread.process = header->process;
    thread.logical_thread = header->logical_thread;
    for (uint32_t i = 0; i < extent.record_count; ++i) {
      DecodedRecord decoded;
      std::memcpy(&decoded.record, data_ + header->header_bytes + i * sizeof(Record), sizeof(Record));
      decoded.name = NameAt(decoded.record.name, extent.entries_begin);
      if (decoded.record.payload != 0) ReadPayload(&decoded, extent.entries_begin);
      thread.records.push_back(std::move(decoded));
    }
  }

 private:
  template <typename T>
  T At(uint64_t offset) const {
    T value;
    std::memcpy(&value, data_ + offset, sizeof(value));
    return value;
  }
  std::string NameAt(uint32_t offset, uint32_t entries_begin) const {
    if (offset == 0) return {};
    EXPECT_GE(offset, entries_begin);
    const auto entry = At<NameEntry>(offset);
    EXPECT_LE(offset + NameEntryBytes(entry.size), bytes_);
    return std::string(data_ + offset + sizeof(NameEntry), entry.size);
  }
  void ReadPayload(DecodedRecord* decoded, uint32_t entries_begin) const {
    EXPECT_GE(decoded->record.payload, entries_begin);
    const auto header = At<PayloadHeader>(decoded->record.payload);
    uint64_t at = decoded->record.payload + sizeof(PayloadHeader);
    for (uint32_t bit = 1; bit < 0x10000u; bit <<= 1) {
      if ((header.fields & bit) == 0) continue;
      if (bit == payload_fields::kOverload) decoded->overload = NameAt(At<uint32_t>(at), entries_begin);
      if (bit == payload_fields::kStartThread) decoded->start_thread = At<uint32_t>(at);
      if (bit == payload_fields::kKeywords) decoded->keywords = NameAt(At<uint32_t>(at), entries_begin);
      if (bit == payload_fields::kRecordHandle) decoded->handle = At<uint64_t>(at);
      at += payload_fields::BytesOf(static_cast<uint16_t>(bit));
    }
    EXPECT_LE(at, uint64_t{decoded->record.payload} + header.bytes);
  }

  const char* data_;
  uint64_t bytes_;
};

inline void DecodeBlock(void* context, uint16_t type, const void* data, uint64_t bytes) {
  auto* window = static_cast<DecodedWindow*>(context);
  if (type == block_types::kWindowInfo) {
    window->info.assign(static_cast<const char*>(data), bytes);
    for (size_t at = window->info.find("{\"index\":"); at != std::string::npos;
         at = window->info.find("{\"index\":", at + 1)) {
      DecodedThread& thread = window->threads[static_cast<uint32_t>(NumberAfter(window->info, "index", at))];
      thread.recorded = NumberAfter(window->info, "recorded", at);
      thread.dropped = NumberAfter(window->info, "dropped", at);
    }
  } else {
    ASSERT_EQ(type, block_types::kRawChunk);
    ChunkReader(data, bytes).AddTo(window);
  }
}

// Closes the window and decodes it. What holds for every recording is checked here.
inline DecodedWindow CloseAndDecode(Window* window) {
  opscope_window_close(window);
  DecodedWindow decoded;
  opscope_window_read(window, DecodeBlock, &decoded);
  uint64_t recorded = 0, dropped = 0;
  for (const auto& [index, thread] : decoded.threads) {
    EXPECT_EQ(thread.recorded, thread.records.size()) << "thread " << index << " " << decoded.info;
    for (size_t i = 1; i < thread.sequences.size(); ++i) {
      EXPECT_EQ(thread.sequences[i], thread.sequences[i - 1] + 1) << "thread " << index;
    }
    recorded += thread.recorded;
    dropped += thread.dropped;
  }
  EXPECT_EQ(NumberAfter(decoded.info, "broken_invariants"), 0u);
  const WindowCounts counts = opscope_window_counts(window);
  EXPECT_EQ(counts.recorded, recorded);
  EXPECT_EQ(counts.dropped, dropped);
  return decoded;
}

struct FreeWindow {
  void operator()(Window* window) const { opscope_window_free(window); }
};
using OwnedWindow = std::unique_ptr<Window, FreeWindow>;

inline OwnedWindow OpenTestWindow(WindowOptions options = {}) {
  const char* error = nullptr;
  OwnedWindow window(opscope_window_open(&options, &error));
  EXPECT_NE(window, nullptr) << error;
  return window;
}

// The calling thread's stream of the window.
inline Stream* StreamIn(const OwnedWindow& window) {
  return opscope_stream_attach(opscope_window_slot(window.get()), 0);
}

inline OpenScope* OpenNamed(Stream* stream, const std::string& name, RecordKind kind = RecordKind::kScope) {
  const uint32_t offset = opscope_intern_slow(stream, name.data(), name.size());
  return OpenScopeOn(stream, offset, 0, RecordSource::kAnnotation, 0, 0, kind);
}

// A scope that carries a number, to be found again wherever its record ends up.
inline OpenScope* OpenNumbered(Stream* stream, const char* name, uint64_t number) {
  constexpr uint32_t kBytes = sizeof(PayloadHeader) + 8;
  const NameAndRoom room = InternAndReserve(stream, kBytes, [=] { return InternStable(stream, name); });
  uint32_t payload = 0;
  if (room.payload != nullptr) {
    PayloadHeader header;
    header.bytes = kBytes;
    header.fields = payload_fields::kRecordHandle;
    std::memcpy(room.payload, &header, sizeof(header));
    std::memcpy(room.payload + sizeof(header), &number, sizeof(number));
    payload = OffsetInChunk(stream, room.payload);
  }
  return OpenScopeOn(stream, room.name, payload, RecordSource::kAnnotation, 0);
}

inline void End(OpenScope* scope) {
  if (scope == nullptr) return;  // refused: at the cap, or the window was closed
  CloseScope(scope, ReadTicks());
  ReleaseScope(scope);
}

}  // namespace opscope
