// One record per window and up to 256 tensors: its value is the owner, its payload a list of identity, size, role and
// name. All records of one call have the same time, which is how a reader recognises them.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/tensors/referenced_tensors.h"

#include <ATen/record_function.h>
#include <c10/core/TensorImpl.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "opscope/recorder.h"
#include "sources/streams/failures.h"
#include "sources/streams/stream_of.h"
#include "sources/torch/callbacks/callback_pool.h"
#include "sources/torch/tensors/tensor_identity.h"

namespace opscope {
namespace {

constexpr size_t kPerRecord = 256;  // 8 KiB; an owner of more tensors has several records
constexpr size_t kLongestName = 256;

// The bytes from the first to the last element, as torch's own profiler counts them; -1: unknown.
int64_t SpannedBytes(const c10::TensorImpl& tensor) {
  if (tensor.layout() != c10::kStrided || tensor.is_nested() || tensor.has_symbolic_sizes_strides()) return -1;
  int64_t elements = tensor.dim() == 0 ? 1 : 0;
  for (int64_t i = 0; i < tensor.dim(); ++i)
    elements = std::max(elements, tensor.sizes()[static_cast<size_t>(i)] * tensor.strides()[static_cast<size_t>(i)]);
  return elements * static_cast<int64_t>(tensor.itemsize());
}

struct ReferencedPayload {
  PayloadHeader header;
  uint32_t count = 0, reserved = 0;
  ReferencedTensor tensors[kPerRecord];
};

// Sets the offsets of the names in the stream's chunk. Long names are cut, so that all fit into one chunk.
void InternNames(Stream* stream, const ReferencedTensorImpl* tensors, ReferencedPayload* payload) {
  for (size_t i = 0; i < payload->count; ++i) {
    const char* name = tensors[i].name;
    const size_t size = name == nullptr ? 0 : strnlen(name, kLongestName);
    payload->tensors[i].name = size == 0 ? 0 : InternText(stream, name, size);
  }
}

void AppendReferences(Stream* stream, uint64_t time, uint64_t owner, const ReferencedTensorImpl* tensors,
                      ReferencedPayload* payload) {
  const Writing writing(stream);
  if (!writing.allowed()) return;
  Record record{.start = time, .value = owner, .kind = RecordKind::kHeld, .source = RecordSource::kTorch};
  const NameAndRoom room = InternAndReserve(stream, payload->header.bytes, [&] {
    InternNames(stream, tensors, payload);
    return 0u;
  });
  if (room.payload != nullptr) {
    std::memcpy(room.payload, payload, payload->header.bytes);
    record.payload = OffsetInChunk(stream, room.payload);
  }
  AppendRecord(stream, record);  // without room it counts as dropped
}

void RecordSome(uint64_t time, uint64_t owner, const ReferencedTensorImpl* tensors, size_t count) {
  ReferencedPayload payload;
  payload.header.fields = payload_fields::kHeld;
  for (size_t i = 0; i < count; ++i) {
    auto* tensor = static_cast<c10::TensorImpl*>(const_cast<void*>(tensors[i].tensor));
    payload.tensors[i] = {IdentityOf(tensor, tensor->layout()), SpannedBytes(*tensor), tensors[i].role};
  }
  payload.count = static_cast<uint32_t>(count);
  payload.header.bytes = static_cast<uint32_t>(offsetof(ReferencedPayload, tensors) + count * sizeof(ReferencedTensor));
  IdentityInstances().ForEach([&](uint32_t instance) {
    if (!SeesThisThread(instance)) return;
    Stream* stream = StreamOf(callback_bindings[instance], &at::RecordFunction::currentThreadId);
    if (stream != nullptr) AppendReferences(stream, time, owner, tensors, &payload);
  });
}

}  // namespace

void RecordReferencedTensors(uint64_t owner, const ReferencedTensorImpl* tensors, size_t count) {
  if (IdentityInstances().empty()) return;  // else the table would take references that no window's stop releases
  const uint64_t time = ReadTicks();
  try {
    for (size_t first = 0; first < count; first += kPerRecord)
      RecordSome(time, owner, tensors + first, std::min(kPerRecord, count - first));
  } catch (...) {
    CountFailure();
  }
}

}  // namespace opscope
