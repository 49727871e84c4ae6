// A tensor's identity is 64 bits: 48 of number, 8 of device type, 8 of device index. A part is filled backwards through
// its spans, so its rows are collected first and added in the order of the spans afterwards.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/tensors.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace opscope {
namespace {

struct Unpacked {
  uint64_t number = 0;
  int32_t device_type = 0, device = -1;
};

Unpacked Unpack(uint64_t tensor) {
  return {tensor & 0xffffffffffffu, static_cast<int32_t>(tensor >> 48 & 0xff), static_cast<int8_t>(tensor >> 56)};
}

template <typename Entry>
Entry EntryAt(std::span<const std::byte> entries, size_t row) {
  Entry entry;
  std::memcpy(&entry, entries.data() + row * sizeof(Entry), sizeof(Entry));
  return entry;
}

}  // namespace

void RecordingTensors::AppendBackward(const RecordingPart& part, const PartScope& scope, AddedSpan span,
                                      std::vector<TensorRow>* rows) {
  const Record record = part.record(scope);
  const auto extent = part.chunk->payload_extent(record.payload);
  if (!extent || (extent->fields & payload_fields::kTensors) == 0) return;
  const std::optional<Payload> payload = part.chunk->payload(record.payload);
  if (!payload) return;  // Unreachable: PartDecoder has checked it
  for (size_t i = payload->tensors.size() / sizeof(TensorIdentity); i-- > 0;) {
    const auto identity = EntryAt<TensorIdentity>(payload->tensors, i);
    const Unpacked tensor = Unpack(identity.tensor);
    rows->push_back({span, tensor.number, identity.storage, tensor.device_type, tensor.device});
  }
}

void RecordingTensors::Add(std::span<const TensorRow> backward) {
  std::for_each(backward.rbegin(), backward.rend(), [this](const TensorRow& row) {
    unnumbered_ += row.tensor == 0 ? 1 : 0;
    builder_->AddTensor(row);
  });
}

bool RecordingTensors::AddHeld(const RecordingChunk& chunk, const Record& record, TrackId track) {
  const std::optional<Payload> payload = record.payload == 0 ? std::nullopt : chunk.payload(record.payload);
  if (!payload) return false;
  for (size_t i = 0; i < payload->held.size() / sizeof(ReferencedTensor); ++i) {
    const auto held = EntryAt<ReferencedTensor>(payload->held, i);
    if (held.role > TensorRole::kState) continue;  // written by a newer version
    const Unpacked tensor = Unpack(held.identity.tensor);
    const std::string_view name = held.name == 0 ? "" : chunk.name(held.name).value_or("");
    builder_->AddHeldTensor({.time = clock_->At(record.start),
                             .track = track,
                             .owner = record.value,
                             .held_as = static_cast<StoredAs>(held.role),
                             .tensor = tensor.number,
                             .storage = held.identity.storage,
                             .device_type = tensor.device_type,
                             .device = tensor.device,
                             .bytes = held.bytes,
                             .name = name.empty() ? StringId::kNone : builder_->Intern(name)});
  }
  return true;
}

void RecordingTensors::Finish() {
  if (unnumbered_ > 0) builder_->AddProblem("unnumbered_tensor", -1, unnumbered_);
}

}  // namespace opscope
