// How durations spread within each group: median, 99th percentile, standard deviation.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace opscope {

// Percentiles are durations that occurred (nearest rank: the smallest that at least so many per cent do not exceed).
// stddev is that of the population, rounded.
struct DurationSpread {
  int64_t p50_ns = 0;
  int64_t p99_ns = 0;
  int64_t stddev_ns = 0;
};

class DurationSpreads {
 public:
  void Reserve(size_t count);
  void Add(uint32_t group, int64_t duration_ns) {
    groups_.push_back(group);
    durations_.push_back(duration_ns);
  }
  // One per group; groups without a duration have zeros. Consumes what was added. O(durations).
  std::vector<DurationSpread> Take(size_t group_count);

 private:
  std::vector<uint32_t> groups_;
  std::vector<int64_t> durations_;
};

}  // namespace opscope
