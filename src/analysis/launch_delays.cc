// Measures how long device work waited after its launch, and how many launches were queued. The queue's largest length
// is a sweep over the edges of [launch, begin of work), its mean is the total waiting time divided by the window
// (Little's law).
// SPDX-License-Identifier: Apache-2.0
#include "analysis/launch_delays.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "analysis/duration_quantiles.h"
#include "base/natural_sort.h"
#include "base/saturating.h"

namespace opscope {
namespace {

// The largest number of intervals [begin, end) that overlap at one moment.
int64_t MaxConcurrent(std::span<const Interval> intervals) {
  std::vector<int64_t> begins, ends;
  begins.reserve(intervals.size());
  ends.reserve(intervals.size());
  for (const Interval& interval : intervals) {
    begins.push_back(interval.begin);
    ends.push_back(interval.end);
  }
  NaturalSort(&begins, std::less<>());
  NaturalSort(&ends, std::less<>());
  int64_t most = 0;
  size_t ended = 0;
  for (size_t begun = 1; begun <= begins.size(); ++begun) {
    while (ends[ended] <= begins[begun - 1])  // an end comes before a begin at the same time
      ++ended;
    most = std::max(most, static_cast<int64_t>(begun - ended));
  }
  return most;
}

}  // namespace

LaunchDelays MeasureLaunches(std::span<const LaunchedWork> works, int64_t window_ns) {
  LaunchDelays result;
  std::vector<int64_t> delays;
  std::vector<Interval> waits;
  for (const LaunchedWork& each : works) {
    if (!each.launch) continue;
    const Interval& launch = *each.launch;
    const bool is_shorter =
        SaturatingSubtract(each.work.end, each.work.begin) < SaturatingSubtract(launch.end, launch.begin);
    result.shorter_than_launch += is_shorter ? 1 : 0;
    delays.push_back(std::max<int64_t>(0, SaturatingSubtract(each.work.begin, launch.end)));
    if (launch.begin < each.work.begin) waits.push_back({launch.begin, each.work.begin});
  }
  result.launched = delays.size();
  if (delays.empty()) return result;
  int64_t sum = 0, waited = 0;
  for (const int64_t delay : delays)
    sum = SaturatingAdd(sum, delay);
  for (const Interval& wait : waits)
    waited = SaturatingAdd(waited, SaturatingSubtract(wait.end, wait.begin));
  const int64_t largest = *std::max_element(delays.begin(), delays.end());
  const DurationQuantiles quantiles = QuantilesOf(delays);
  result.delay = {sum / static_cast<int64_t>(delays.size()), quantiles.p50_ns, quantiles.p99_ns, largest};
  result.queue_max = MaxConcurrent(waits);
  result.queue_mean = window_ns > 0 ? static_cast<double>(waited) / static_cast<double>(window_ns) : 0;
  return result;
}

}  // namespace opscope
