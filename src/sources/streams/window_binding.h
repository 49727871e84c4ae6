// The window that a callback of a framework records into. A framework may call a callback after the window has closed,
// from copies in tasks that run later. So the callback reads its binding at each call: the window's generation, which
// is never reused, and its slot, which is the index of a thread's stream for this window.
//
// All members are atomic and constant-initialised, because callbacks come until the process ends.
//
// Thread rule: any thread reads; one caller at a time of Bind, Pause and Unbind.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace opscope {

// Values that no window and no stream has as its generation.
inline constexpr uint64_t kDisarmed = ~uint64_t{0};
inline constexpr uint64_t kPaused = kDisarmed - 1;

struct WindowBinding {
  std::atomic<uint64_t> generation{kDisarmed};  // of the window; kPaused or kDisarmed: record nothing
  std::atomic<uint32_t> slot{0};
  std::atomic<uint64_t> window{kDisarmed};  // the window's generation, also while paused

  // Slot before generation: a late caller that mixes an old and a new value finds no window with both.
  void Bind(uint32_t window_slot, uint64_t window_generation) {
    slot.store(window_slot);
    window.store(window_generation);
    generation.store(window_generation);
  }
  // The callback stays registered and costs one comparison. REQUIRES: bound.
  void Pause(bool paused) { generation.store(paused ? kPaused : window.load()); }
  void Unbind() {
    generation.store(kDisarmed);
    window.store(kDisarmed);
  }
};

}  // namespace opscope
