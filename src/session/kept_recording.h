// The bytes of a recording that is over, apart from the window that made them: recordings of several cycles that add up
// are kept so, and are imported as one Trace.
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

struct KeptRecording {
  struct Block {
    uint16_t type = 0;
    std::string bytes;
  };
  std::vector<Block> blocks;
  uint64_t bytes = 0;     // of all blocks
  uint64_t recorded = 0;  // events
  uint64_t dropped = 0;
};

// What a closed window recorded. kOutOfMemory: memory is short; the window has it still.
[[nodiscard]] Result<SharedRecording> KeepWindow(const Window* window);

// Bytes for a further recording beside `earlier`, of `max_bytes` for all of them. With kKeepNewest the oldest give way
// until half of it is free: that their events were dropped is what is left of them.
[[nodiscard]] uint64_t MakeRoom(uint64_t max_bytes, AtCap at_cap, std::vector<SharedRecording>* earlier);

// One Trace of all recordings: clock, threads and processes joined, in order of time.
[[nodiscard]] Result<std::shared_ptr<const Trace>> ImportKept(std::span<const SharedRecording> recordings);

}  // namespace opscope
