// An immutable set of 32-bit numbers that gives each number its index in ascending order: a bitmap with
// prefix counts if the numbers are dense, else a sorted array, so that hostile numbers cost no memory.
//
//   const NumberSet set = NumberSet::Of([&](const auto& use) { for (uint32_t n : numbers) use(n); });
//   set.IndexOf(70);    // index of 70, or kNone; O(1) dense, O(log n) sparse
//
// Thread rule: immutable once made.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace opscope {

class NumberSet {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  NumberSet() = default;
  // `for_each(use)` calls use(number) for each number, always the same ones; it runs twice.
  template <typename ForEach>
  static NumberSet Of(const ForEach& for_each) {
    size_t count = 0;
    uint32_t first = UINT32_MAX, last = 0;
    for_each([&](uint32_t number) { ++count, first = std::min(first, number), last = std::max(last, number); });
    NumberSet set;
    if (count == 0) return set;
    if (set.UseBits(count, first, last)) {
      for_each(
          [&](uint32_t number) { set.words_[(number - first) / 64].bits |= uint64_t{1} << (number - first) % 64; });
      set.CountWords();
    } else {
      set.sorted_.reserve(count);
      for_each([&](uint32_t number) { set.sorted_.push_back(number); });
      set.SortNumbers();
    }
    return set;
  }

  size_t size() const { return size_; }
  // Index of the number in ascending order; kNone: not in the set.
  size_t IndexOf(uint32_t number) const {
    const size_t at = size_t{number} - first_;  // wraps below first_
    const size_t word = at / 64;
    if (word >= words_.size()) return sorted_.empty() ? kNone : IndexInSorted(number);
    const uint64_t bit = uint64_t{1} << at % 64;
    if ((words_[word].bits & bit) == 0) return kNone;
    return words_[word].before + static_cast<size_t>(std::popcount(words_[word].bits & (bit - 1)));
  }

 private:
  struct Word {
    uint64_t bits = 0;
    size_t before = 0;  // numbers in the words before
  };
  bool UseBits(size_t count, uint32_t first, uint32_t last);  // false: they lie too far from each other
  void CountWords();
  void SortNumbers();
  size_t IndexInSorted(uint32_t number) const;

  size_t size_ = 0;
  size_t first_ = 0;  // the smallest number
  std::vector<Word> words_;
  std::vector<uint32_t> sorted_;
};

}  // namespace opscope
