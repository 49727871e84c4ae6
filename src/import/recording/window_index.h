// Finds the window of a chunk by process and generation, and its thread by number.
// Generations count from 1 in every process, so two processes of one file have windows of equal generations. A window
// of process 0, whose block gives no pid, holds for every process that has no window of its own of that generation.
//
// A recording has a stream for each thread that ever ran, so a search through the threads of a window for each stream
// would take O(threads^2).
//
// Thread rule: immutable. The windows must stay as they are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "import/recording/chunk.h"
#include "import/recording/window.h"

namespace opscope {

class WindowIndex {
 public:
  explicit WindowIndex(const std::vector<WindowInfo>& windows) {
    for (const WindowInfo& window : windows) {
      windows_.try_emplace({window.process, window.window}, &window);
      for (const WindowThread& thread : window.threads)
        threads_.try_emplace({&window, thread.index}, &thread);
    }
  }

  // Null if no block describes the window of the chunk. Of equal blocks the first counts.
  const WindowInfo* Window(const RecordingChunk& chunk) const {
    const auto own = windows_.find({static_cast<int64_t>(chunk.process()), chunk.window()});
    if (own != windows_.end()) return own->second;
    const auto of_any_process = windows_.find({0, chunk.window()});
    return of_any_process == windows_.end() ? nullptr : of_any_process->second;
  }

  // Null if the window of the chunk does not list its thread; an open window lists no threads.
  const WindowThread* Thread(const RecordingChunk& chunk) const {
    const auto found = threads_.find({Window(chunk), chunk.thread_index()});
    return found == threads_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::pair<int64_t, uint64_t>, const WindowInfo*> windows_;              // by process and generation
  std::map<std::pair<const WindowInfo*, uint32_t>, const WindowThread*> threads_;  // by window and index
};

}  // namespace opscope
