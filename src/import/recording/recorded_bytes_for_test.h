// Makes recordings for tests, byte by byte as opscope/record.h describes them, without the recorder:
// times and layouts are exact, and what the recorder would never write can be written too.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "base/varint.h"
#include "opscope/import.h"
#include "opscope/record.h"
#include "opscope/recorder.h"

namespace opscope {

// A payload under construction: fixed fields first, then arguments word by word.
class PayloadBytes {
 public:
  PayloadBytes& Sequence(int64_t sequence, uint64_t forward_thread) {
    fields_ |= payload_fields::kSequence;
    Append(sequence), Append(forward_thread);
    return *this;
  }
  PayloadBytes& Field(uint16_t field, std::initializer_list<uint64_t> words) {
    fields_ |= field;
    for (const uint64_t word : words)
      Append(word);
    return *this;
  }
  PayloadBytes& Argument(ArgKind kind, uint32_t count = 0, uint32_t flags = 0, uint32_t element = 0,
                         std::initializer_list<uint32_t> words = {}) {
    ++arguments_;
    return Element(kind, count, flags, element, words);
  }
  // Those of another payload of the chunk.
  PayloadBytes& ArgumentsOf(uint32_t offset, uint16_t count) {
    arguments_ = count;
    return Field(payload_fields::kArgumentsOf, {offset});
  }
  // A tensor of a list.
  PayloadBytes& Element(ArgKind kind, uint32_t count = 0, uint32_t flags = 0, uint32_t element = 0,
                        std::initializer_list<uint32_t> words = {}) {
    Append(static_cast<uint32_t>(kind) | element << 4 | flags | count << 16);
    for (const uint32_t word : words)
      Append(word);
    return *this;
  }
  PayloadBytes& Double(double value) {
    Append(value);
    return *this;
  }
  std::string Finish() const {
    std::string padded = body_;
    while (padded.size() % 8 != 0)
      padded.push_back('\0');
    std::string all;
    AppendFixed(&all, static_cast<uint32_t>(padded.size() + sizeof(PayloadHeader)));
    AppendFixed(&all, fields_);
    AppendFixed(&all, arguments_);
    return all + padded;
  }

 private:
  template <typename T>
  void Append(T value) {
    AppendFixed(&body_, value);
  }

  uint16_t fields_ = 0;
  uint16_t arguments_ = 0;
  std::string body_;
};

struct ChunkFacts {
  uint32_t size = kChunkBytes;
  uint32_t sequence = 0;
  uint64_t window = 1;
  uint64_t os_thread = 100;
  uint32_t thread_index = 1;
  uint32_t process = 4242;
  uint64_t logical_thread = 1;
  uint64_t dropped_before = 0;
  std::string thread_name = {};
};

class ChunkBytes {
 public:
  explicit ChunkBytes(const ChunkFacts& facts) : bytes_(facts.size, '\0'), side_(facts.size) {
    Put(0, kChunkMagic), Put(4, kChunkLayout), Put(6, static_cast<uint16_t>(sizeof(ChunkHeader))), Put(8, facts.size);
    Put(12, facts.sequence), Put(16, facts.window), Put(24, facts.os_thread), Put(32, facts.thread_index);
    Put(36, facts.process), Put(40, facts.logical_thread), Put(48, facts.dropped_before);
    std::memcpy(bytes_.data() + 72, facts.thread_name.data(), std::min<size_t>(facts.thread_name.size(), 31));
  }

  bool HasRoomFor(size_t entry_bytes) const { return end() + sizeof(Record) + entry_bytes + 16 <= side_; }

  uint32_t Name(std::string_view text) {
    if (text.empty()) return 0;
    const auto [found, added] = names_.try_emplace(std::string(text), 0u);
    if (added) {
      std::string entry;
      AppendFixed(&entry, static_cast<uint32_t>(text.size()));
      AppendFixed(&entry, uint32_t{0});
      found->second = Side(entry.append(text) + '\0');
    }
    return found->second;
  }

  uint32_t Side(std::string_view entry) {
    side_ -= static_cast<uint32_t>((entry.size() + 7) / 8 * 8);
    std::memcpy(bytes_.data() + side_, entry.data(), entry.size());
    return side_;
  }

  void Add(const Record& record) {
    std::memcpy(bytes_.data() + end(), static_cast<const void*>(&record), sizeof(record));
    Put(104, ++count_);
    Put(108, side_);
  }

  // A scope of torch.
  void Scope(std::string_view name, uint64_t start, uint64_t duration, uint16_t depth, const std::string& payload = {},
             uint8_t scope = 0, uint8_t flags = 0) {
    Record record;
    record.start = start, record.value = duration, record.depth = depth, record.flags = flags;
    record.kind = RecordKind::kScope, record.source = RecordSource::kTorch, record.scope = scope;
    record.name = Name(name);
    if (!payload.empty()) record.payload = Side(payload);
    Add(record);
  }

  template <typename T>
  void Put(size_t at, T value) {
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  size_t end() const { return sizeof(ChunkHeader) + count_ * sizeof(Record); }

  std::string bytes_;
  uint32_t side_;
  uint32_t count_ = 0;
  std::map<std::string, uint32_t> names_;
};

// Ticks are nanoseconds after the calibration at 1000 ticks, unless a test says otherwise.
inline std::string WindowInfoText(std::string_view members = {}) {
  return "{\"generation\":1,\"pid\":4242,\"process_name\":\"train\",\"at_cap\":\"stop\","
         "\"calibrations\":[[1000,1700000000000000000],[1000001000,1700000001000000000]]" +
         std::string(members.empty() ? "" : ",") + std::string(members) + "}";
}

struct RecordingBytes {
  std::deque<std::string> payloads;
  std::vector<RecordingBlock> blocks;

  void Add(uint16_t type, std::string payload) {
    payloads.push_back(std::move(payload));
    blocks.push_back({type, std::as_bytes(std::span(payloads.back()))});
  }
};

}  // namespace opscope
