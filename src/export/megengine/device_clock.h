// Maps host times of a device's queue to device times. Each kernel has a launch time on the host and a start on the
// device; between two kernels the lag is interpolated linearly. The original draws memory on the device's clock, but
// records produced and released times on the host.
//
// Thread rule: immutable after construction. O(log kernels) per look-up.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "export/megengine/facts.h"
#include "opscope/trace.h"

namespace opscope {

// Built from the kernels of one track.
class DeviceClock {
 public:
  DeviceClock(const Trace& trace, const MegEngineFacts& facts, TrackId track) {
    const SpanColumns& spans = trace.spans();
    for (const MegEngineCall& op : facts.operators()) {
      if (op.execute == kNoRow) continue;
      for (uint32_t kernel = op.kernel; kernel != kNoRow; kernel = facts.NextKernel(kernel)) {
        if (spans.track[kernel] != track) continue;
        const int64_t launched = facts.LaunchTime(op.execute).ns, left = facts.OutputTime(op.execute).ns;
        const int64_t start = spans.start[kernel].ns, end = SaturatingAdd(start, spans.duration[kernel].ns);
        points_.emplace_back(launched, SaturatingSubtract(start, launched));
        points_.emplace_back(left, SaturatingSubtract(end, left));
      }
    }
    std::sort(points_.begin(), points_.end());
  }

  int64_t OnDevice(int64_t time) const {
    if (points_.empty()) return time;
    const auto behind = std::lower_bound(points_.begin(), points_.end(), std::pair(time, INT64_MIN));
    if (behind == points_.end()) return SaturatingAdd(time, points_.back().second);
    if (behind == points_.begin() || behind->first == time) return SaturatingAdd(time, behind->second);
    const auto before = std::prev(behind);
    const double share = Distance(before->first, time) / Distance(before->first, behind->first);
    const int64_t more = ClampToInt64(share * Distance(before->second, behind->second));
    return SaturatingAdd(SaturatingAdd(time, before->second), more);
  }

 private:
  static double Distance(int64_t from, int64_t to) { return static_cast<double>(SaturatingSubtract(to, from)); }

  std::vector<std::pair<int64_t, int64_t>> points_;  // host time; device time minus host time
};

}  // namespace opscope
