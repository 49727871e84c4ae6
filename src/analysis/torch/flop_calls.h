// The calls of a trace that have a formula, their numbers, and which of them count (flops.h).
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

// The rule of each name of a trace.
class FlopNames {
 public:
  FlopNames(const Trace& trace, FlopRuleSet set);
  bool any() const { return !rules_.empty(); }  // false: no call of the trace has a number
  // Null: no formula.
  const FlopRule* Of(StringId name) const { return Row(name) < rules_.size() ? rules_[Row(name)] : nullptr; }

 private:
  std::vector<const FlopRule*> rules_;  // up to the last name that has one
};

// The number of a call follows from its name and its arguments, which many calls share. Remembers the last ones.
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

// True for calls whose number is that of all they do. The others neither enclose nor lie in anything.
inline bool IsWhole(const FlopRule& rule) {
  return rule.kind == FlopKind::kTorch || rule.kind == FlopKind::kOwn;
}

// A whole call with a number that is not 0.
struct FlopCall {
  static constexpr uint32_t kNone = 0xffffffff;

  uint32_t row = 0;
  uint32_t around = kNone;  // row of the innermost such call around it
  bool is_own = false;      // opscope's formula; else torch's
  int64_t flops = 0;
};

// Sets to 0 what is counted by another call. REQUIRES: ordered by row, with all that lie around one.
void CountNothingTwice(std::vector<FlopCall>* calls);

}  // namespace opscope
