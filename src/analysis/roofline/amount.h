// A count that may be unknown: sizes of a damaged file multiply to anything, and a product that does not fit is unknown
// rather than wrong.
//
//   Amount(3) * Amount(5) + Amount(1)   16
//   Amount(INT64_MAX) * Amount(2)       unknown, and so is all that is computed from it
//
// Thread rule: plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace opscope {

class Amount {
 public:
  // Unknown.
  constexpr Amount() = default;
  // A negative count is unknown.
  constexpr explicit Amount(int64_t value) : value_(value < 0 ? kUnknown : value) {}

  constexpr bool is_known() const { return value_ != kUnknown; }
  constexpr std::optional<int64_t> value() const { return is_known() ? std::optional(value_) : std::nullopt; }
  // The count; `otherwise` if it is unknown.
  constexpr int64_t Or(int64_t otherwise) const { return is_known() ? value_ : otherwise; }

  friend constexpr Amount operator*(Amount a, Amount b) {
    int64_t product = 0;
    if (!a.is_known() || !b.is_known() || __builtin_mul_overflow(a.value_, b.value_, &product)) return {};
    return Amount(product);
  }
  friend constexpr Amount operator+(Amount a, Amount b) {
    int64_t sum = 0;
    if (!a.is_known() || !b.is_known() || __builtin_add_overflow(a.value_, b.value_, &sum)) return {};
    return Amount(sum);
  }

 private:
  static constexpr int64_t kUnknown = -1;
  int64_t value_ = kUnknown;
};

}  // namespace opscope
