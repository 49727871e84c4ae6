// Paddle reports every allocation to its own recorder; the hook records it first. Paddle also reports the size of a
// freed block, so no table of live blocks is needed. Records of devices have a payload with the device.
// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/memory_events.h"

#include <bit>

#include "opscope/recorder.h"
#include "sources/paddle/paddle_library.h"
#include "sources/paddle/ranges.h"
#include "sources/streams/block_records.h"

namespace opscope {
namespace {

using paddle_layout::MemoryEvent;
using paddle_layout::Place;
using paddle_layout::PlaceType;

// Torch's device types, which record.h uses.
uint32_t DeviceTypeOf(int8_t place) {
  constexpr uint32_t kCuda = 1, kXpu = 12, kPrivate = 20;
  switch (static_cast<PlaceType>(place)) {
    case PlaceType::kGpu:
      return kCuda;
    case PlaceType::kXpu:
      return kXpu;
    default:
      return kPrivate;
  }
}

struct DevicePayload {
  PayloadHeader header = {sizeof(DevicePayload), payload_fields::kAddress, 0};
  uint64_t address;
  uint32_t device_type;
  int32_t device;
};
static_assert(sizeof(DevicePayload) == 24);

void AppendDeviceBlock(Stream* stream, const void* block, int64_t bytes, const Place& place) {
  DevicePayload payload;
  payload.address = reinterpret_cast<uint64_t>(block);
  payload.device_type = DeviceTypeOf(place.type);
  payload.device = place.device;
  const Record record{.start = ReadTicks(),
                      .value = static_cast<uint64_t>(bytes),
                      .kind = RecordKind::kAllocation,
                      .source = RecordSource::kPaddle};
  AppendWithPayload(stream, record, payload);
}

bool IsOfHost(int8_t place) {
  const auto type = static_cast<PlaceType>(place);
  return type == PlaceType::kCpu || type == PlaceType::kGpuPinned || type == PlaceType::kXpuPinned;
}

}  // namespace

void RecordMemory(const void* block, const Place& place, size_t bytes, uint32_t event) {
  const bool is_freed = event == static_cast<uint32_t>(MemoryEvent::kFree);
  if (!is_freed && event != static_cast<uint32_t>(MemoryEvent::kAllocate)) return;
  for (uint64_t left = recorded.memory.load(std::memory_order_relaxed); left != 0; left &= left - 1) {
    // Also while ranges are paused: a block that is allocated in a pause may be freed after it.
    const WindowBinding& binding = recorded.bindings[static_cast<size_t>(std::countr_zero(left))];
    Stream* stream = StreamOf(binding.slot.load(std::memory_order_relaxed),
                              binding.window.load(std::memory_order_relaxed), &NoThreadNumber);
    if (stream == nullptr) continue;
    const Writing writing(stream);
    if (!writing.allowed()) continue;
    if (__builtin_expect(IsOfHost(place.type), 1)) {
      AppendHostBlock(
          stream, RecordSource::kPaddle, [] { return ReadTicks(); }, reinterpret_cast<uint64_t>(block), bytes,
          is_freed ? record_flags::kFreed : uint8_t{0});
    } else {
      const auto size = static_cast<int64_t>(bytes);
      AppendDeviceBlock(stream, block, is_freed ? -size : size, place);
    }
  }
}

std::string HostMemoryJson() {
  if (paddle.memory_now == nullptr || paddle.memory_peak == nullptr) return {};
  const std::string allocated = "Allocated", reserved = "Reserved";
  std::string json = "[";
  json.append(std::to_string(ReadTicks()));
  for (const int64_t bytes : {paddle.memory_now(allocated, 0), paddle.memory_now(reserved, 0),
                              paddle.memory_peak(allocated, 0), paddle.memory_peak(reserved, 0)}) {
    json.append(",").append(std::to_string(bytes));
  }
  return json.append("]");
}

}  // namespace opscope
