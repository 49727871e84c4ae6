// For tests: one window of the recorder fed by the PyTorch source, and its records decoded straight
// from the chunks (record.h), without the importer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "opscope/record.h"
#include "opscope/recorder.h"
#include "opscope/torch_source.h"

namespace opscope {

inline const TorchSource& TheTorchSource() {
  return *opscope_torch_source();
}
inline const Source& TheSource() {
  return TheTorchSource().source;
}

struct RecordedRange {
  Record record;
  std::string name;
  std::string overload;
  std::string keywords;
  bool has_sequence = false;
  int64_t sequence = -1;
  uint64_t forward_thread = 0;
  uint64_t logical_thread = 0;
  uint64_t os_thread = 0;
  uint64_t address = 0;
  int32_t device = -1;
  int64_t total_allocated = -1, total_reserved = -1;
  uint16_t arguments = 0;
  std::vector<uint32_t> words;  // the encoded arguments
  std::vector<TensorIdentity> tensors;
  std::vector<ReferencedTensor> held;
  std::vector<std::string> held_names;
};

class RecordedWindow {
 public:
  explicit RecordedWindow(uint64_t max_bytes = uint64_t{64} << 20) {
    WindowOptions options;
    options.native_threads = NativeThreads::kNone;
    options.max_bytes = max_bytes;
    const char* error = nullptr;
    window_ = opscope_window_open(&options, &error);
    EXPECT_NE(window_, nullptr) << (error != nullptr ? error : "");
  }
  RecordedWindow(const RecordedWindow&) = delete;
  RecordedWindow& operator=(const RecordedWindow&) = delete;
  ~RecordedWindow() { opscope_window_free(window_); }

  // A session of the source in this window, on the calling thread.
  void* Start(uint32_t flags = 0, const char** error = nullptr) const {
    return TheSource().start(&TheSource(), window_, flags, error);
  }
  void Close() const { opscope_window_close(window_); }
  WindowCounts Counts() const { return opscope_window_counts(window_); }

  // What it says of itself (JSON), open or closed.
  std::string Info() const {
    std::string info;
    opscope_window_dump(
        window_, nullptr,
        [](void* context, uint16_t type, const void* data, uint64_t bytes) {
          if (type == block_types::kWindowInfo) {
            static_cast<std::string*>(context)->assign(static_cast<const char*>(data), bytes);
          }
          return true;
        },
        &info);
    return info;
  }
  // The value of kTorchCaptureModeKey: how its operators were recorded.
  std::string Route() const {
    const std::string info = Info(), key = '"' + std::string(kTorchCaptureModeKey) + "\":\"";
    const size_t at = info.find(key);
    if (at == std::string::npos) return {};
    return info.substr(at + key.size(), info.find('"', at + key.size()) - at - key.size());
  }

  // REQUIRES: closed. In the order of chunks and records (a scope stands behind its children).
  std::vector<RecordedRange> Ranges() const {
    std::vector<RecordedRange> ranges;
    opscope_window_read(
        window_,
        [](void* context, uint16_t type, const void* data, uint64_t /*bytes*/) {
          if (type == block_types::kRawChunk) {
            DecodeChunk(static_cast<const char*>(data), static_cast<std::vector<RecordedRange>*>(context));
          }
        },
        &ranges);
    return ranges;
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const RecordedRange& range : Ranges())
      names.push_back(range.name);
    return names;
  }

  // The ranges of this name.
  std::vector<RecordedRange> Named(const std::string& name) const {
    std::vector<RecordedRange> ranges = Ranges();
    std::erase_if(ranges, [&name](const RecordedRange& range) { return range.name != name; });
    return ranges;
  }

 private:
  template <typename T>
  static T Load(const char* place) {
    T value;
    std::memcpy(&value, place, sizeof(value));
    return value;
  }

  static std::string NameAt(const char* chunk, uint32_t offset) {
    if (offset == 0) return {};
    return std::string(chunk + offset + sizeof(NameEntry), Load<NameEntry>(chunk + offset).size);
  }

  template <typename Entry>
  static const char* LoadEntries(const char* place, std::vector<Entry>* entries) {
    entries->resize(Load<uint64_t>(place));
    std::memcpy(entries->data(), place + 8, entries->size() * sizeof(Entry));
    return place + 8 + entries->size() * sizeof(Entry);
  }

  static void DecodePayload(const char* chunk, RecordedRange* range) {
    const char* place = chunk + range->record.payload;
    const auto header = Load<PayloadHeader>(place);
    const char* end = place + header.bytes;
    place += sizeof(header);
    if ((header.fields & payload_fields::kSequence) != 0) {
      range->has_sequence = true;
      range->sequence = Load<int64_t>(place);
      range->forward_thread = Load<uint64_t>(place + 8);
      place += 16;
    }
    if ((header.fields & payload_fields::kOverload) != 0) {
      range->overload = NameAt(chunk, Load<uint32_t>(place));
      place += 8;
    }
    if ((header.fields & payload_fields::kStartThread) != 0) place += 8;
    if ((header.fields & payload_fields::kAddress) != 0) {
      range->address = Load<uint64_t>(place);
      range->device = Load<int32_t>(place + 12);
      place += 16;
    }
    if ((header.fields & payload_fields::kKeywords) != 0) {
      range->keywords = NameAt(chunk, Load<uint32_t>(place));
      place += 8;
    }
    if ((header.fields & payload_fields::kRecordHandle) != 0) place += 8;
    if ((header.fields & payload_fields::kTotals) != 0) {
      range->total_allocated = Load<int64_t>(place);
      range->total_reserved = Load<int64_t>(place + 8);
      place += 16;
    }
    if ((header.fields & payload_fields::kTensors) != 0) place = LoadEntries(place, &range->tensors);
    if ((header.fields & payload_fields::kHeld) != 0) place = LoadEntries(place, &range->held);
    for (const ReferencedTensor& held : range->held)
      range->held_names.push_back(NameAt(chunk, held.name));
    range->arguments = header.arg_count;
    range->words.resize(static_cast<size_t>(end - place) / sizeof(uint32_t));
    std::copy_n(place, range->words.size() * sizeof(uint32_t), reinterpret_cast<char*>(range->words.data()));
  }

  static void DecodeChunk(const char* chunk, std::vector<RecordedRange>* ranges) {
    const auto* header = reinterpret_cast<const ChunkHeader*>(chunk);
    ASSERT_EQ(header->magic, kChunkMagic);
    const uint32_t count = header->record_count.load(std::memory_order_acquire);
    const size_t begin = header->header_bytes != 0 ? header->header_bytes : sizeof(ChunkHeader);
    for (uint32_t i = 0; i < count; ++i) {
      RecordedRange range;
      range.record = Load<Record>(chunk + begin + i * sizeof(Record));
      if (HasEntries(range.record)) range.name = NameAt(chunk, range.record.name);
      range.logical_thread = header->logical_thread;
      range.os_thread = header->os_thread;
      if (HasEntries(range.record) && range.record.payload != 0) DecodePayload(chunk, &range);
      ranges->push_back(range);
    }
  }

  Window* window_ = nullptr;
};

}  // namespace opscope
