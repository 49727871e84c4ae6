// The bound of a pair of readings is the time between the two reads around it: a thread that was interrupted between
// them gives a pair that is off by milliseconds. So pairs with a bound above 5 us (or above the best bound, if that is
// larger) are dropped; between the remaining pairs the clocks' difference is linear.
// SPDX-License-Identifier: Apache-2.0
#include "import/cuda/cuda_clock.h"

#include <algorithm>

namespace opscope {
namespace {

constexpr int64_t kGoodBoundNs = 5000;

}  // namespace

void CudaClock::Add(uint64_t cupti_ns, Timestamp time, Duration bound) {
  pairs_.push_back({cupti_ns, time, bound, 0});
}

void CudaClock::Order() {
  std::sort(pairs_.begin(), pairs_.end(), [](const Pair& a, const Pair& b) { return a.cupti_ns < b.cupti_ns; });
  Duration best{INT64_MAX};
  for (const Pair& pair : pairs_)
    best = std::min(best, pair.bound);
  const Duration worst{std::max<int64_t>(kGoodBoundNs, best.ns)};
  bound_ = {};
  std::vector<Pair> kept;
  for (const Pair& pair : pairs_) {
    if (pair.bound > worst) continue;
    bound_ = std::max(bound_, pair.bound);
    if (!kept.empty() && (pair.cupti_ns == kept.back().cupti_ns || pair.time <= kept.back().time)) continue;
    kept.push_back(pair);
  }
  for (size_t i = 0; i + 1 < kept.size(); ++i) {
    const auto ticked = static_cast<double>(kept[i + 1].cupti_ns - kept[i].cupti_ns);
    const auto passed = static_cast<double>((kept[i + 1].time - kept[i].time).ns);
    kept[i].excess = (passed - ticked) / ticked;
  }
  if (kept.size() > 1) kept.back().excess = kept[kept.size() - 2].excess;
  pairs_ = std::move(kept);
  current_ = 0;
}

}  // namespace opscope
