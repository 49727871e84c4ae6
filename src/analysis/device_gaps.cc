// A gap lasts from the largest end so far to the next begin. Several works may begin at its end, for example on two
// streams that wait for one event; the launch among theirs that begins earliest decides the cause:
//
//   work     [10, 30)                  [60, 65)
//   launch                     [50, 53)              begins after 30, so the gap [30, 60) is a host wait
// SPDX-License-Identifier: Apache-2.0
#include "analysis/device_gaps.h"

#include <algorithm>
#include <optional>

#include "base/saturating.h"

namespace opscope {

std::vector<DeviceGap> FindGaps(std::span<const LaunchedWork> works, int64_t kernel_gap_ns) {
  std::vector<DeviceGap> gaps;
  if (works.empty()) return gaps;
  int64_t reached = works.front().work.end;
  for (size_t at = 1; at < works.size();) {
    const size_t next = at;
    const int64_t begin = works[at].work.begin;
    std::optional<int64_t> called;
    int64_t end = reached;
    for (; at < works.size() && works[at].work.begin == begin; ++at) {
      if (works[at].launch) called = std::min(called.value_or(INT64_MAX), works[at].launch->begin);
      end = std::max(end, works[at].work.end);
    }
    if (begin > reached) {
      const bool is_late = called && *called > reached;
      const bool is_short = SaturatingSubtract(begin, reached) < kernel_gap_ns;
      gaps.push_back({reached, begin,
                      is_late    ? GapCause::kHostWait
                      : is_short ? GapCause::kKernelWait
                                 : GapCause::kOtherWait,
                      next});
    }
    reached = end;
  }
  return gaps;
}

}  // namespace opscope
