// A record of kind kNative has an event's type, time, thread and one value; names and lists are payloads in the chunk.
// Records refer to threads and devices by number; each new chunk defines these numbers again (Define).
// SPDX-License-Identifier: Apache-2.0
#include "sources/megengine/record_writer.h"

#include <algorithm>
#include <cstring>

namespace opscope::megengine {
namespace {

constexpr uint32_t Tag(ArgKind kind, uint64_t count, uint32_t flags) {
  return static_cast<uint32_t>(kind) | kUnknownElement << 4 | flags | static_cast<uint32_t>(count) << 16;
}

uint64_t Dimensions(const TensorLayout& layout) {
  return std::min<uint64_t>(layout.shape.dimensions, std::size(layout.shape.sizes));
}
bool IsDense(const TensorLayout& layout) {
  int64_t stride = 1;
  for (uint64_t i = Dimensions(layout); i-- > 0;) {
    if (layout.strides[i] != stride) return false;
    stride *= static_cast<int64_t>(layout.shape.sizes[i]);
  }
  return true;
}

// The count of a tag has 16 bits. Longer lists are cut; no operator has so many tensors.
constexpr size_t kMaxTensors = 0xffff;

uint32_t ArgumentBytes(const Entries& entries) {
  uint64_t words = 0;
  if (entries.has_lists)
    words += 2 + 2 * (std::min(entries.inputs.size(), kMaxTensors) + std::min(entries.outputs.size(), kMaxTensors));
  if (entries.layout != nullptr) words += 1 + 2 * Dimensions(*entries.layout) * (IsDense(*entries.layout) ? 1 : 2);
  return static_cast<uint32_t>(words * 4);
}

uint32_t FieldBytes(const Entries& entries) {
  return (entries.has_address ? 16u : 0) + (entries.has_device ? 16u : 0) + (entries.members.empty() ? 0 : 8u) +
         (entries.has_totals ? 16u : 0);
}

template <typename T>
char* Put(char* place, const T& value) {
  std::memcpy(place, &value, sizeof(value));
  return place + sizeof(value);
}

char* PutWords(char* place, const void* words, uint64_t count) {
  std::memcpy(place, words, count * 8);
  return place + count * 8;
}

char* PutList(char* place, std::span<const uint64_t> ids) {
  const size_t count = std::min(ids.size(), kMaxTensors);
  return PutWords(Put(place, Tag(ArgKind::kIntList, count, arg_flags::kWide)), ids.data(), count);
}

char* PutLayout(char* place, const TensorLayout& layout) {
  const uint64_t dimensions = Dimensions(layout);
  const bool dense = IsDense(layout);
  place = Put(place, Tag(ArgKind::kTensor, dimensions, arg_flags::kWide | (dense ? arg_flags::kContiguous : 0)));
  place = PutWords(place, layout.shape.sizes, dimensions);
  return dense ? place : PutWords(place, layout.strides, dimensions);
}

void FillPayload(char* place, uint32_t bytes, const Entries& entries, uint32_t members) {
  char* const end = place + bytes;
  PayloadHeader header{bytes, 0, static_cast<uint16_t>(entries.has_lists ? 2 : entries.layout != nullptr ? 1 : 0)};
  if (entries.has_address) header.fields |= payload_fields::kAddress;
  if (entries.has_device) header.fields |= payload_fields::kDevice;
  if (!entries.members.empty()) header.fields |= payload_fields::kKeywords;
  if (entries.has_totals) header.fields |= payload_fields::kTotals;
  place = Put(place, header);
  if (entries.has_address) place = Put(Put(Put(place, entries.address), uint32_t{0}), entries.device);
  if (entries.has_device) place = Put(Put(Put(place, entries.device), uint32_t{0}), entries.correlation);
  if (!entries.members.empty()) place = Put(Put(place, members), uint32_t{0});
  if (entries.has_totals) place = Put(Put(place, entries.used), entries.total);
  if (entries.has_lists) place = PutList(PutList(place, entries.inputs), entries.outputs);
  if (entries.layout != nullptr) place = PutLayout(place, *entries.layout);
  std::memset(place, 0, static_cast<size_t>(end - place));
}

}  // namespace

void RecordWriter::Append(const Record& event, const Entries& entries) {
  const uint32_t inside = FieldBytes(entries) + ArgumentBytes(entries);
  const uint32_t entry_bytes = inside == 0 ? 0 : (static_cast<uint32_t>(sizeof(PayloadHeader)) + inside + 7) & ~7u;
  uint32_t members = 0;
  const auto intern = [&] {
    if (!entries.members.empty()) members = InternText(stream_, entries.members.data(), entries.members.size());
    return entries.name.empty() ? 0 : InternText(stream_, entries.name.data(), entries.name.size());
  };
  AppendNamed(stream_, event, intern, entry_bytes,
              [&](char* place) { FillPayload(place, entry_bytes, entries, members); });
}

void RecordWriter::DefineOne(MegEngineEvent event, size_t number, std::string_view name) {
  Record record = RecordOf(event, false, start_, 0);
  if (event == MegEngineEvent::kThread) record.depth = static_cast<uint16_t>(number);
  if (event == MegEngineEvent::kDevice) record.reserved = static_cast<uint16_t>(number);
  if (event == MegEngineEvent::kStart) record.value = number;
  Append(record, {.name = name});
}

// Writes the definitions of the numbers that records refer to, because each chunk is self-contained.
void RecordWriter::Define() {
  defined_in_ = stream_->chunk_sequence;
  DefineOne(MegEngineEvent::kStart, piece_, {});
  for (size_t i = 0; i < threads_.names.size(); ++i)
    DefineOne(MegEngineEvent::kThread, i, threads_.names[i]);
  for (size_t i = 0; i < devices_.names.size(); ++i)
    DefineOne(MegEngineEvent::kDevice, i, devices_.names[i]);
}

void RecordWriter::Begin(int64_t start) {
  start_ = start;
  ++piece_;
  Define();
}

void RecordWriter::Write(Record event, const Entries& entries) {
  Append(event, entries);
  ++written_;
  if (__builtin_expect(stream_->chunk_sequence != defined_in_, 0)) Define();
}

void RecordWriter::WriteBare(const Record& event) {
  if (__builtin_expect(!HasRoom(stream_, 0), 0)) return Write(event, {});
  AppendRecord(stream_, event);
  ++written_;
}

template <typename Key>
uint16_t RecordWriter::Number(Numbering<Key>* numbering, MegEngineEvent event, Key key, std::string_view name) {
  auto& [numbers, names] = *numbering;
  const auto [found, is_new] = numbers.try_emplace(key, static_cast<uint16_t>(names.size()));
  if (is_new && names.size() < kNoNumber) {
    names.emplace_back(name);
    DefineOne(event, found->second, name);
  }
  return found->second;
}

uint16_t RecordWriter::NumberThread(uint64_t thread, std::string_view name) {
  return Number(&threads_, MegEngineEvent::kThread, thread, name);
}

uint16_t RecordWriter::NumberDevice(const void* node, std::string_view names) {
  return Number(&devices_, MegEngineEvent::kDevice, node, names);
}

}  // namespace opscope::megengine
