// Which window a callback of a framework records into. A framework keeps a callback longer than its window lives
// (copies of it lie in tasks that run later), so the callback asks its binding each time: what is bound is the
// window's generation, which is never used again, and the slot where a thread has its stream.
//
// All is atomic and constant-initialised, for bindings lie where callbacks come until the process ends.
//
// Thread rule: any thread reads; Bind, Pause and Unbind take turns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace opscope {

// Generations that no window and no stream has.
inline constexpr uint64_t kDisarmed = ~uint64_t{0};
inline constexpr uint64_t kPaused = kDisarmed - 1;

struct WindowBinding {
  std::atomic<uint64_t> generation{kDisarmed};  // of what may begin to be recorded
  std::atomic<uint32_t> slot{0};
  std::atomic<uint64_t> window{kDisarmed};  // the generation, while paused too

  // Slot before generation: a late caller that mixes an old and a new value finds no window with both.
  void Bind(uint32_t window_slot, uint64_t window_generation) {
    slot.store(window_slot);
    window.store(window_generation);
    generation.store(window_generation);
  }
  // The callback stays where it is, and what is left of it is one comparison. REQUIRES: bound.
  void Pause(bool paused) { generation.store(paused ? kPaused : window.load()); }
  void Unbind() {
    generation.store(kDisarmed);
    window.store(kDisarmed);
  }
};

}  // namespace opscope
