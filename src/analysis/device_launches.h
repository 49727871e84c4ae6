// Which host span launched which device time. A device span carries the number of the op that it belongs to and of the
// call of the device's runtime that launched it; the first host span with the number is meant, the op before the call.
//
// Thread rule: immutable once made.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/thread_team.h"
#include "opscope/trace.h"

namespace opscope {

// Rows [first, end).
struct RowRange {
  size_t first = 0, end = 0;
};

// A set of numbers, which have places in their order. A bit for each number of a range with a count per word where they
// lie close, else a sorted list, so that hostile numbers cost no memory.
class NumberSet {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  NumberSet() = default;
  // Of the numbers of these rows that are not 0.
  NumberSet(std::span<const uint32_t> numbers, std::span<const RowRange> rows);

  size_t size() const { return size_; }
  // kNone: not in the set.
  size_t PlaceOf(uint32_t number) const {
    const size_t at = size_t{number} - first_;  // wraps below first_
    const size_t word = at / 64;
    if (word >= words_.size()) return sorted_.empty() ? kNone : PlaceInList(number);
    const uint64_t bit = uint64_t{1} << at % 64;
    if ((words_[word].bits & bit) == 0) return kNone;
    return words_[word].before + static_cast<size_t>(std::popcount(words_[word].bits & (bit - 1)));
  }

 private:
  struct Word {
    uint64_t bits = 0;
    size_t before = 0;  // numbers in the words before
  };
  size_t PlaceInList(uint32_t number) const;

  size_t size_ = 0;
  size_t first_ = 0;  // the smallest number
  std::vector<Word> words_;
  std::vector<uint32_t> sorted_;
};

// By number that device spans carry: the first host span that has it, and the device time that it launched.
class LaunchNumbers {
 public:
  LaunchNumbers() = default;
  explicit LaunchNumbers(NumberSet numbers)
      : numbers_(std::move(numbers)), owners_(numbers_.size()), times_(numbers_.size()) {}

  bool Expects(uint32_t number) const { return numbers_.PlaceOf(number) != NumberSet::kNone; }
  // The host span has the number. REQUIRES: Expects(number). Any thread.
  void Offer(uint32_t number, size_t row) {
    std::atomic<uint32_t>& owner = owners_[numbers_.PlaceOf(number)];
    const auto mark = ~static_cast<uint32_t>(row);
    uint32_t known = owner.load(std::memory_order_relaxed);
    while (known < mark && !owner.compare_exchange_weak(known, mark, std::memory_order_relaxed)) {
    }
  }
  // False when no host span has the number. Any thread.
  bool AddTime(uint32_t number, Duration time) {
    const size_t place = numbers_.PlaceOf(number);
    if (place == NumberSet::kNone || owners_[place].load(std::memory_order_relaxed) == 0) return false;
    times_[place].fetch_add(static_cast<uint64_t>(time.ns), std::memory_order_relaxed);
    return true;
  }
  // Of the host span that is the first with the number, else 0.
  uint64_t TimeOf(uint32_t number, size_t row) const {
    const size_t place = numbers_.PlaceOf(number);
    if (place == NumberSet::kNone) return 0;
    const bool is_owner = owners_[place].load(std::memory_order_relaxed) == ~static_cast<uint32_t>(row);
    return is_owner ? times_[place].load(std::memory_order_relaxed) : 0;
  }

 private:
  NumberSet numbers_;
  std::vector<std::atomic<uint32_t>> owners_;  // ~row, so that the first row is the largest; 0: none
  std::vector<std::atomic<uint64_t>> times_;
};

class DeviceLaunches {
 public:
  DeviceLaunches(const Trace& trace, ThreadTeam* team);  // O(spans)

  bool has_device() const { return has_device_; }
  // Durations of the device spans that the span launched, 0 for spans outside of threads.
  uint64_t LaunchedBy(size_t row) const {
    return ops_.TimeOf(external_id_[row], row) + calls_.TimeOf(correlation_[row], row);
  }

 private:
  void FindOwners(const Trace& trace, ThreadTeam* team);
  void AddTimes(const Trace& trace, std::span<const RowRange> device_rows, ThreadTeam* team);

  std::span<const uint32_t> external_id_, correlation_;
  bool has_device_ = false;
  LaunchNumbers ops_, calls_;
};

}  // namespace opscope
