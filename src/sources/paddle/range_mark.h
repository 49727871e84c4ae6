// Stores the scope of a phi::RecordEvent in bytes of the object that Paddle never reads, so that its end needs no
// search. The scope's address lies in the padding behind the object's two flags (addresses of programs have 47 bits).
// The upper half of the role marks its presence: Paddle's constructors set it to 0, and it is 0 again when Paddle's
// `End` is called.
//
// Thread rule: the object belongs to the caller.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "opscope/recorder_abi.h"
#include "sources/paddle/paddle_layout.h"

namespace opscope {

inline constexpr uint32_t kRangeMark = 0x6f700000, kRangeMarkBits = 0xffff0000;
inline constexpr uint64_t kFlagBits = 0xffff;  // is_enabled and is_pushed

inline bool IsMarked(const paddle_layout::RecordEvent& range) {
  return (range.role & kRangeMarkBits) == kRangeMark;
}
// False: the range cannot store this address.
inline bool Mark(paddle_layout::RecordEvent* range, const OpenScope* scope) {
  const auto address = reinterpret_cast<uint64_t>(scope);
  if (OPSCOPE_UNLIKELY(address >> 48 != 0 || (range->role & kRangeMarkBits) != 0)) return false;
  range->head = (range->head & kFlagBits) | address << 16;
  range->role |= kRangeMark;
  return true;
}
// REQUIRES: IsMarked.
inline OpenScope* TakeMark(paddle_layout::RecordEvent* range) {
  auto* scope = reinterpret_cast<OpenScope*>(range->head >> 16);
  range->head &= kFlagBits;
  range->role &= ~kRangeMarkBits;
  return scope;
}

}  // namespace opscope
