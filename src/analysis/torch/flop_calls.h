// Calls that have a FLOP formula, their results, and which of them count (flops.h).
//
// Thread rule: FlopNames is immutable, CallFlops is for one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/torch/flop_formulas.h"
#include "analysis/torch/flops.h"
#include "opscope/trace.h"

namespace opscope {

// The formula for each name of a trace.
class FlopNames {
 public:
  FlopNames(const Trace& trace, FlopRuleSet set);
  bool any() const { return !rules_.empty(); }  // false if no call can have FLOPs
  // Null if the name has no formula. O(1).
  const FlopRule* Of(StringId name) const { return Row(name) < rules_.size() ? rules_[Row(name)] : nullptr; }

 private:
  std::vector<const FlopRule*> rules_;  // by StringId, up to the last name with a formula
};

// Computes FLOPs of calls. They depend only on name and argument list, so a direct-mapped cache of 256 serves loops.
class CallFlops {
 public:
  explicit CallFlops(const Trace& trace) : trace_(trace) {}
  int64_t Of(const FlopRule& rule, StringId name, ArgsId args);

 private:
  struct Known {
    StringId name = StringId::kNone;
    ArgsId args = ArgsId::kNone;
    int64_t flops = 0;
  };
  const Trace& trace_;
  std::array<Known, 256> known_;
};

// True if the result covers everything the call does. Element-wise formulas do not take part in nesting.
inline bool IsWhole(const FlopRule& rule) {
  return rule.kind == FlopKind::kTorch || rule.kind == FlopKind::kOwn;
}

// A whole call with FLOPs other than 0.
struct FlopCall {
  static constexpr uint32_t kNone = 0xffffffff;

  uint32_t row = 0;
  uint32_t around = kNone;  // row of the innermost enclosing such call
  bool is_own = false;      // true: opscope's formula; false: torch's
  int64_t flops = 0;
};

// Sets `flops` to 0 where another call counts the same work. O(n).
// REQUIRES: `calls` is ordered by row and contains every `around`.
void RemoveDoubleCounts(std::vector<FlopCall>* calls);

// The calls with FLOPs other than 0, each list ordered by row.
struct FlopCalls {
  std::vector<FlopCall> whole;         // `flops` is 0 where another call counts the same work
  std::vector<FlopCall> element_wise;  // without `around`
};

// O(spans).
FlopCalls FindFlopCalls(const Trace& trace, FlopRuleSet set);

}  // namespace opscope
