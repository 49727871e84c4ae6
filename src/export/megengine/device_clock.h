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

class DeviceClock {
 public:
  // By track, each built from the kernels of its track. O(kernels log kernels).
  static std::vector<DeviceClock> OfTracks(const Trace& trace, const MegEngineFacts& facts) {
    const SpanColumns& spans = trace.spans();
    std::vector<DeviceClock> clocks(trace.tracks().size());
    for (const MegEngineCall& op : facts.operators()) {
      if (op.execute == kNoRow || op.kernel == kNoRow) continue;
      const int64_t launched = facts.LaunchTime(op.execute).ns, left = facts.OutputTime(op.execute).ns;
      for (uint32_t kernel = op.kernel; kernel != kNoRow; kernel = facts.NextKernel(kernel)) {
        auto& points = clocks[Row(spans.track[kernel])].points_;
        const int64_t start = spans.start[kernel].ns, end = SaturatingAdd(start, spans.duration[kernel].ns);
        points.emplace_back(launched, SaturatingSubtract(start, launched));
        points.emplace_back(left, SaturatingSubtract(end, left));
      }
    }
    for (DeviceClock& clock : clocks)
      std::sort(clock.points_.begin(), clock.points_.end());
    return clocks;
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
