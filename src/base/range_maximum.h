// Finds the largest number in any range of a list. A tree has the maxima of blocks of 64 numbers; the numbers before
// the first whole block and after the last one are read one by one. A tree over single numbers would be three times as
// large as the list.
//
//   const RangeMaximum levels(level_after_event);
//   levels.In(10, 20);  // the largest of levels 10 to 19
//
// Thread rule: immutable after construction, any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace opscope {

class RangeMaximum {
 public:
  // `numbers` outlives this. O(n).
  explicit RangeMaximum(std::span<const int64_t> numbers)
      : numbers_(numbers), blocks_(numbers.size() / kBlock), nodes_(2 * blocks_) {
    for (size_t block = 0; block < blocks_; ++block)
      nodes_[blocks_ + block] = Scan(block * kBlock, (block + 1) * kBlock);
    for (size_t i = blocks_; i-- > 1;)
      nodes_[i] = std::max(nodes_[2 * i], nodes_[2 * i + 1]);
  }

  // INT64_MIN if the range is empty. REQUIRES: end <= the length of the list. O(log n).
  int64_t In(size_t begin, size_t end) const {
    size_t first = (begin + kBlock - 1) / kBlock, last = end / kBlock;
    if (first >= last) return Scan(begin, end);
    int64_t largest = std::max(Scan(begin, first * kBlock), Scan(last * kBlock, end));
    for (first += blocks_, last += blocks_; first < last; first /= 2, last /= 2) {
      if (first % 2 == 1) largest = std::max(largest, nodes_[first++]);
      if (last % 2 == 1) largest = std::max(largest, nodes_[--last]);
    }
    return largest;
  }

 private:
  static constexpr size_t kBlock = 64;

  int64_t Scan(size_t begin, size_t end) const {
    int64_t largest = INT64_MIN;
    for (size_t i = begin; i < end; ++i)
      largest = std::max(largest, numbers_[i]);
    return largest;
  }

  std::span<const int64_t> numbers_;
  size_t blocks_;               // whole ones
  std::vector<int64_t> nodes_;  // node i has the children 2i and 2i + 1; the leaves are the blocks
};

}  // namespace opscope
