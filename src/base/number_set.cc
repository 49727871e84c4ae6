// Chooses between a bitmap and a sorted array. Correlation numbers count up, so a bitmap with a prefix
// count per 64-bit word finds the index of a number in two loads and a popcount. Bits count from the
// smallest number:
//
//   {3, 5, 70}: words {bits 0b101, before 0}, {bits 1 << 3, before 2}      index of 70 = 2 + popcount(0) = 2
//
// A hostile file may use 0 and 4294967295, for which a bitmap would take 512 MiB; below one number in 256
// the array is used.
// SPDX-License-Identifier: Apache-2.0
#include "base/number_set.h"

namespace opscope {

bool NumberSet::UseBits(size_t count, uint32_t first, uint32_t last) {
  constexpr size_t kSparsest = 256;  // numbers of the range for each in it: 64 bytes
  if ((last - first) / kSparsest >= count) return false;
  first_ = first;
  words_.resize((last - first) / 64 + 1);
  return true;
}

void NumberSet::CountWords() {
  for (Word& word : words_) {
    word.before = size_;
    size_ += static_cast<size_t>(std::popcount(word.bits));
  }
}

void NumberSet::SortNumbers() {
  std::sort(sorted_.begin(), sorted_.end());
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
  size_ = sorted_.size();
}

size_t NumberSet::IndexInSorted(uint32_t number) const {
  const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), number);
  return found != sorted_.end() && *found == number ? static_cast<size_t>(found - sorted_.begin()) : kNone;
}

}  // namespace opscope
