// The reports of allocators, in Paddle's terms, from any Trace.
//
//   for (const PaddleMemoryRow& row : trees.memory_of(node)) {
//     const PaddleMemoryEvent event = PaddleMemoryEventOf(trace, row);
//     if (event.type == PaddleMemoryType::kAllocate) Print(event.place, event.increase_bytes);
//   }
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opscope/paddle/node_trees.h"
#include "opscope/trace.h"

namespace opscope {

// Paddle's TracerMemEventType. Reserved: memory that the allocator took from the
// system.
enum class PaddleMemoryType : uint8_t { kAllocate = 0, kFree = 1, kReservedAllocate = 2, kReservedFree = 3 };
// Paddle's spelling, by number.
inline constexpr std::string_view kPaddleMemoryTypeNames[] = {"Allocate", "Free", "ReservedAllocate", "ReservedFree"};

// One report.
struct PaddleMemoryEvent {
  PaddleMemoryType type = PaddleMemoryType::kAllocate;
  Timestamp time;
  // Thread that allocated or freed.
  TrackId track = TrackId::kNone;
  // Of the memory; 0: unknown.
  uint64_t address = 0;
  // Bytes; negative for a free.
  int64_t increase_bytes = 0;
  // "Place(cpu)", "Place(gpu:0)".
  std::string place;
  // Bytes in use after the event; 0: unknown.
  uint64_t current_allocated = 0, current_reserved = 0;
  // Highest bytes so far. If the input does not say them: the current bytes.
  uint64_t peak_allocated = 0, peak_reserved = 0;
};

// The report behind a row of PaddleNodeTrees::memory. O(bytes of the instant's extra
// members).
[[nodiscard]] PaddleMemoryEvent PaddleMemoryEventOf(const Trace& trace, const PaddleMemoryRow& row);

}  // namespace opscope
