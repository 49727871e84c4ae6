// The bytes of a recording that is over, apart from the window that made them: recordings of several cycles
// (acc_events) are kept so, and are imported as one Trace.
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
#include "opscope/trace.h"

namespace opscope::python {

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
using SharedRecording = std::shared_ptr<const KeptRecording>;

// What a closed window recorded. kOutOfMemory: memory is short; the window has it still.
[[nodiscard]] Result<SharedRecording> KeepWindow(const Window* window);

// What is left of a recording for which there is no room any more: that its events were dropped.
[[nodiscard]] SharedRecording DropRecording(const KeptRecording& recording);

// One Trace of all recordings: clock, threads and processes joined, in order of time.
[[nodiscard]] Result<std::shared_ptr<const Trace>> ImportKept(std::span<const SharedRecording> recordings);

}  // namespace opscope::python
