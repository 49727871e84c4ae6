// Floating-point operations of one call, from its recorded arguments. A multiplication and an addition
// count as two. docs/reference/flops.md has every formula with its source.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "opscope/trace.h"

namespace opscope {

// The origin of a formula. It decides which of several nested calls count (flops.h).
enum class FlopKind : uint8_t {
  kElementwise,  // torch.profiler's for mul and add
  kTorch,        // torch.profiler's for products and conv2d
  kOwn,          // opscope's; torch.profiler has no formula
};

// FLOPs of a call; 0 if its arguments are not recorded or unsuitable. Computed in uint64, which wraps as torch's do.
using FlopFormula = uint64_t (*)(std::span<const Argument> arguments, const Trace& trace);

struct FlopRule {
  std::string_view op;  // exact name
  FlopKind kind;
  FlopFormula formula;
};

// All operators with a formula.
std::span<const FlopRule> FlopRules();

}  // namespace opscope
