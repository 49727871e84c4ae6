// SPDX-License-Identifier: Apache-2.0
#include "analysis/duration_spread.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace opscope {
namespace {

// The value of rank ceil(share * n), which is moved to its place.
int64_t NearestRank(std::span<int64_t> values, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
  const size_t at = std::clamp<size_t>(rank, 1, values.size()) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(at), values.end());
  return values[at];
}

// Around the mean, so that large durations that differ little keep their digits.
int64_t StandardDeviation(std::span<const int64_t> values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const int64_t value : values)
    sum += static_cast<double>(value);
  const double mean = sum / count;
  double squares = 0;
  for (const int64_t value : values)
    squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
  return std::llround(std::min(std::sqrt(squares / count), 9e18));
}

}  // namespace

void DurationSpreads::Reserve(size_t count) {
  groups_.reserve(count);
  durations_.reserve(count);
}

std::vector<DurationSpread> DurationSpreads::Take(size_t group_count) {
  std::vector<size_t> ends(group_count + 1);
  for (const uint32_t group : groups_)
    ++ends[group + 1];
  for (size_t group = 0; group < group_count; ++group)
    ends[group + 1] += ends[group];
  std::vector<int64_t> sorted(durations_.size());
  std::vector<size_t> next(ends.begin(), ends.end() - 1);
  for (size_t i = 0; i < durations_.size(); ++i)
    sorted[next[groups_[i]]++] = durations_[i];
  std::vector<DurationSpread> spreads(group_count);
  for (size_t group = 0; group < group_count; ++group) {
    const std::span<int64_t> values(sorted.data() + ends[group], ends[group + 1] - ends[group]);
    if (values.empty()) continue;
    spreads[group] = {NearestRank(values, 0.5), NearestRank(values, 0.99), StandardDeviation(values)};
  }
  groups_.clear(), durations_.clear();
  return spreads;
}

}  // namespace opscope
