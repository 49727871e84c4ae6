// What an allocator reported, in Paddle's words, of any Trace.
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

enum class PaddleMemoryType : uint8_t { kAllocate = 0, kFree = 1, kReservedAllocate = 2, kReservedFree = 3 };
inline constexpr std::string_view kPaddleMemoryTypeNames[] = {"Allocate", "Free", "ReservedAllocate", "ReservedFree"};

struct PaddleMemoryEvent {
  PaddleMemoryType type = PaddleMemoryType::kAllocate;
  Timestamp time;
  TrackId track = TrackId::kNone;
  uint64_t address = 0;
  int64_t increase_bytes = 0;  // of a free below 0
  std::string place;           // "Place(cpu)"
  uint64_t current_allocated = 0, current_reserved = 0;
  uint64_t peak_allocated = 0, peak_reserved = 0;  // where nothing says them: what is allocated now
};

[[nodiscard]] PaddleMemoryEvent PaddleMemoryEventOf(const Trace& trace, const PaddleMemoryRow& row);

}  // namespace opscope
