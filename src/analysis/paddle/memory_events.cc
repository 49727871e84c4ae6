// Reads a memory event in Paddle's terms from the row where it is stored: an allocation (with its instant, if it has
// extra members), or an instant alone for reserved memory. Numbers that the Trace lacks follow from the allocation: a
// recording knows no peaks, so the current total takes their place.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/paddle/memory_events.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/json_members.h"
#include "base/text.h"

namespace opscope {
namespace {

constexpr int kCpu = 0;  // c10::DeviceType of the CPU

template <typename Number>
void ReadNumber(std::string_view text, Number* number) {
  if (text.starts_with('"')) text.remove_prefix(1);
  std::from_chars(text.data(), text.data() + text.size(), *number);
}

void ReadType(std::string_view name, PaddleMemoryType* type) {
  const auto found = std::find(std::begin(kPaddleMemoryTypeNames), std::end(kPaddleMemoryTypeNames), name);
  if (found == std::end(kPaddleMemoryTypeNames)) return;
  *type = static_cast<PaddleMemoryType>(found - std::begin(kPaddleMemoryTypeNames));
}

void ReadMembers(std::string_view members, PaddleMemoryEvent* event) {
  ForEachJsonMember(members, [&](std::string_view key, std::string_view value) {
    if (key == "type") ReadType(Unquoted(value), &event->type);
    if (key == "place") event->place = Unquoted(value);
    if (key == "addr") ReadNumber(value, &event->address);
    if (key == "increase_bytes") ReadNumber(value, &event->increase_bytes);
    if (key == "current_allocated") ReadNumber(value, &event->current_allocated);
    if (key == "current_reserved") ReadNumber(value, &event->current_reserved);
    if (key == "peak_allocated") ReadNumber(value, &event->peak_allocated);
    if (key == "peak_reserved") ReadNumber(value, &event->peak_reserved);
    return true;
  });
}

void ReadAllocation(const AllocationColumns& allocations, size_t row, PaddleMemoryEvent* event) {
  event->time = allocations.time[row];
  event->track = allocations.track[row];
  event->address = allocations.address[row];
  event->increase_bytes = allocations.bytes[row];
  event->type = event->increase_bytes < 0 ? PaddleMemoryType::kFree : PaddleMemoryType::kAllocate;
  const auto known = [](int64_t bytes) { return bytes < 0 ? 0 : static_cast<uint64_t>(bytes); };
  event->current_allocated = event->peak_allocated = known(allocations.total_allocated[row]);
  event->current_reserved = event->peak_reserved = known(allocations.total_reserved[row]);
  if (allocations.device_type[row] == kCpu) {
    event->place = "Place(cpu)";
  } else {
    event->place = "Place(gpu:";
    AppendInt(&event->place, std::max(0, allocations.device[row]));
    event->place += ')';
  }
}

}  // namespace

PaddleMemoryEvent PaddleMemoryEventOf(const Trace& trace, const PaddleMemoryRow& row) {
  PaddleMemoryEvent event;
  const InstantColumns& instants = trace.instants();
  if (row.allocation != UINT32_MAX) {
    ReadAllocation(trace.allocations(), row.allocation, &event);
  } else if (row.instant != UINT32_MAX) {
    event.time = instants.time[row.instant];
    event.track = instants.track[row.instant];
    ReadType(trace.text(instants.category[row.instant]), &event.type);
  }
  if (row.instant != UINT32_MAX) ReadMembers(trace.text(instants.extra[row.instant]), &event);
  return event;
}

}  // namespace opscope
