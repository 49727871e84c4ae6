// Calibrations tie ticks to time. The TSC and the kernel's clock drift apart by 60 to 640 ns per second, so
// a long recording needs more than its two ends: a thread that takes a new chunk adds one if the last is a
// second old. CPU cost: one read of the coarse clock per chunk.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/calibrations.h"

#include "recorder/clock.h"

namespace opscope {

Calibration AddCalibration(Window* window) {
  const Calibration now = Calibrate(window->wall_clock.offset_ns());
  MutexLock lock(window->mutex);
  window->calibrated_at_ns = CoarseMonotonicNs();
  if (window->calibrations.empty() || window->calibrations.back().ticks < now.ticks) {
    [[maybe_unused]] const bool kept = window->calibrations.Push(now);
  }
  return now;
}

void KeepCalibrated(Window* window) {
  if (window->closed.load(std::memory_order_relaxed)) return;  // a deferred track: the window's time is over
  {
    MutexLock lock(window->mutex);
    if (CoarseMonotonicNs() - window->calibrated_at_ns < 1000000000) return;
  }
  AddCalibration(window);
}

Calibration NewestCalibration(Window* window) {
  MutexLock lock(window->mutex);
  return window->calibrations.empty() ? Calibration{} : window->calibrations.back();
}

}  // namespace opscope
