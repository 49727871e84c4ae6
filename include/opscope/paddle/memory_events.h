// The reports of allocators, in Paddle's terms, from any Trace.
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
inline constexpr std::string_view kPaddleMemoryTypeNames[] = {"Allocate", "Free", "ReservedAllocate", "ReservedFree"};

// One report.
struct PaddleMemoryEvent {
  PaddleMemoryType type = PaddleMemoryType::kAllocate;
  Timestamp time;
  TrackId track = TrackId::kNone;
  uint64_t address = 0;
  // Bytes; negative for a free.
  int64_t increase_bytes = 0;
  // "Place(cpu)", "Place(gpu:0)".
  std::string place;
  // Bytes after the event.
  uint64_t current_allocated = 0, current_reserved = 0;
  // Highest bytes so far. If the input does not say them: the current bytes.
  uint64_t peak_allocated = 0, peak_reserved = 0;
};

// The report behind a row of PaddleNodeTrees::memory.
[[nodiscard]] PaddleMemoryEvent PaddleMemoryEventOf(const Trace& trace, const PaddleMemoryRow& row);

}  // namespace opscope
