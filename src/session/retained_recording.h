// The bytes of a finished recording, copied out of its window. Recordings of several cycles that add up are
// kept so, and imported as one Trace.
//
// Thread rule: immutable, any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "opscope/recorder_abi.h"
#include "opscope/result.h"
#include "opscope/session.h"
#include "opscope/trace.h"

namespace opscope {

struct RetainedRecording {
  struct Block {
    uint16_t type = 0;
    std::string bytes;
  };
  std::vector<Block> blocks;
  uint64_t bytes = 0;     // of all blocks
  uint64_t recorded = 0;  // events
  uint64_t dropped = 0;
};

// Copies a closed window. kOutOfMemory: the window is unchanged.
[[nodiscard]] Result<SharedRecording> RetainWindow(const Window* window);

// Bytes left for a further recording beside `earlier`, of `max_bytes` for all. Under kKeepNewest the oldest
// recordings are reduced to the number of their events, counted as dropped, until half of max_bytes is
// free.
[[nodiscard]] uint64_t MakeRoom(uint64_t max_bytes, AtCap at_cap, std::vector<SharedRecording>* earlier);

// One Trace of all recordings: clock, threads and processes joined, in order of time.
[[nodiscard]] Result<std::shared_ptr<const Trace>> ImportRetained(std::span<const SharedRecording> recordings);

}  // namespace opscope
