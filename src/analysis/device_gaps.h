// The times in which nothing ran on a device or a stream, and why. docs/reference/devices.md has the rules.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/launch_delays.h"

namespace opscope {

enum class GapCause : uint8_t {
  kHostWait,    // the host launched the work behind the gap too late
  kKernelWait,  // it was launched in time, and the gap is shorter than the limit
  kOtherWait,
};

struct DeviceGap {
  int64_t begin = 0, end = 0;  // ns, begin < end
  GapCause cause = GapCause::kOtherWait;
  size_t next = 0;  // index of a work that begins at the end
};

// The gaps between works that are sorted by begin. O(n).
[[nodiscard]] std::vector<DeviceGap> FindGaps(std::span<const LaunchedWork> works, int64_t kernel_gap_ns);

}  // namespace opscope
