// A blocking call asks for the last work that ended before it did, of those launched before it began. Works that other
// threads launched meanwhile lie in between, any number of them, so the search must not look at each: over the works by
// end lies a tree of the least launch begins, in which the last one below a limit is found in O(log n).
//
//   launch begins by end   5 9 9 7 | 8 8 9 9      the last one below 8 of the first 8:
//   least of each block    5       | 8            block 1 has none, block 0 has 7
// SPDX-License-Identifier: Apache-2.0
#include "analysis/critical_path_launched.h"

#include <algorithm>

#include "base/natural_sort.h"

namespace opscope {
namespace {

constexpr size_t kBlock = 16;

}  // namespace

void LaunchedWorks::OrderByLaunch() {
  if (!latest_so_far_.empty() || works_.empty()) return;
  latest_so_far_.reserve(works_.size());
  for (const uint32_t work : works_)
    latest_so_far_.push_back(all_->LaunchBegin(work));
  earliest_onwards_ = latest_so_far_;
  for (size_t i = 1; i < works_.size(); ++i) {
    latest_so_far_[i] = std::max(latest_so_far_[i], latest_so_far_[i - 1]);
    const size_t at = works_.size() - 1 - i;
    earliest_onwards_[at] = std::min(earliest_onwards_[at], earliest_onwards_[at + 1]);
  }
}

uint32_t LaunchedWorks::LastLaunchedBefore(int64_t time) {
  OrderByLaunch();
  const auto end = std::lower_bound(earliest_onwards_.begin(), earliest_onwards_.end(), time);
  return end == earliest_onwards_.begin() ? kNoPathNode
                                          : works_[static_cast<size_t>(end - earliest_onwards_.begin()) - 1];
}

uint32_t LaunchedWorks::FirstLaunchedAfter(int64_t time) {
  OrderByLaunch();
  const auto first = std::upper_bound(latest_so_far_.begin(), latest_so_far_.end(), time);
  return first == latest_so_far_.end() ? kNoPathNode : works_[static_cast<size_t>(first - latest_so_far_.begin())];
}

void LaunchedWorks::OrderByEnd() {
  if (!by_end_.empty() || works_.empty()) return;
  by_end_ = works_;
  NaturalSort(&by_end_,
              [&](uint32_t a, uint32_t b) {  // of works that end together, the last is the one that began first
                return all_->End(a) != all_->End(b) ? all_->End(a) < all_->End(b) : a > b;
              });
  std::vector<int64_t> level;
  level.reserve(by_end_.size());
  for (const uint32_t work : by_end_)
    level.push_back(all_->LaunchBegin(work));
  while (true) {
    const size_t size = level.size();
    least_launch_.push_back(std::move(level));
    if (size <= kBlock) return;
    const std::vector<int64_t>& below = least_launch_.back();
    level = std::vector<int64_t>((size + kBlock - 1) / kBlock, INT64_MAX);
    for (size_t i = 0; i < size; ++i)
      level[i / kBlock] = std::min(level[i / kBlock], below[i]);
  }
}

// The last of by_end_ up to `at` whose launch began before `launch`.
uint32_t LaunchedWorks::LastBelow(size_t at, int64_t launch) const {
  // Upwards until a block has one, then down into its last child that has one.
  size_t level = 0;
  const auto find_in_block = [&] {
    for (size_t block = at / kBlock * kBlock;; --at) {
      if (least_launch_[level][at] < launch) return true;
      if (at == block) return false;
    }
  };
  while (!find_in_block()) {
    at /= kBlock;
    if (at == 0) return kNoPathNode;
    --at;
    ++level;
  }
  while (level > 0) {
    --level;
    at = std::min(at * kBlock + kBlock, least_launch_[level].size()) - 1;
    find_in_block();
  }
  return by_end_[at];
}

uint32_t LaunchedWorks::LastEnded(int64_t begin, int64_t end) {
  OrderByEnd();
  const auto behind = std::upper_bound(by_end_.begin(), by_end_.end(), end,
                                       [&](int64_t time, uint32_t work) { return time < all_->End(work); });
  if (behind == by_end_.begin()) return kNoPathNode;
  const uint32_t work = LastBelow(static_cast<size_t>(behind - by_end_.begin()) - 1, begin);
  return work != kNoPathNode && all_->End(work) > begin ? work : kNoPathNode;
}

}  // namespace opscope
