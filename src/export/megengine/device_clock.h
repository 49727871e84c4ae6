// When a device came to what a thread asked of it: between the kernels, whose times on both sides are known, the
// distance of the two clocks is what lies between theirs.
//
// Thread rule: immutable once made.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "export/megengine/facts.h"
#include "opscope/trace.h"

namespace opscope {

// Of the kernels of one track.
class DeviceClock {
 public:
  DeviceClock(const Trace& trace, const MegEngineFacts& facts, TrackId track) {
    const SpanColumns& spans = trace.spans();
    for (const MegEngineCall& op : facts.operators()) {
      if (op.execute == kNoRow) continue;
      for (uint32_t kernel = op.kernel; kernel != kNoRow; kernel = facts.NextKernel(kernel)) {
        if (spans.track[kernel] != track) continue;
        const int64_t launched = facts.LaunchTime(op.execute).ns, left = facts.OutputTime(op.execute).ns;
        const int64_t start = spans.start[kernel].ns, end = start + spans.duration[kernel].ns;
        points_.emplace_back(launched, start - launched);
        points_.emplace_back(left, end - left);
      }
    }
    std::sort(points_.begin(), points_.end());
  }

  int64_t OnDevice(int64_t time) const {
    if (points_.empty()) return time;
    const auto behind = std::lower_bound(points_.begin(), points_.end(), std::pair(time, INT64_MIN));
    if (behind == points_.end()) return time + points_.back().second;
    if (behind == points_.begin() || behind->first == time) return time + behind->second;
    const auto before = std::prev(behind);
    const double share = static_cast<double>(time - before->first) / static_cast<double>(behind->first - before->first);
    return time + before->second + static_cast<int64_t>(share * static_cast<double>(behind->second - before->second));
  }

 private:
  std::vector<std::pair<int64_t, int64_t>> points_;  // time of the threads, how much the device's is ahead
};

}  // namespace opscope
