// Floating-point operations of single calls, by torch's own formulas (docs/analyses.md): convolutions,
// matrix products, mul and add; every other op counts zero.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/analysis/function_events.h"
#include "opscope/trace.h"

namespace opscope {

enum class FlopsFormula : uint8_t {
  kNone,
  kConv2d,
  kMatrixProduct,
  kAddedMatrixProduct,
  kBatchedProduct,
  kAddedBatchedProduct,
  kElementwise
};

// By the exact name of the op.
FlopsFormula FormulaOf(std::string_view op);

// 0 when the arguments are not recorded or not what the formula needs.
int64_t FlopsOfCall(FlopsFormula formula, std::span<const Argument> arguments, const Trace& trace);

// One number per event of the list.
std::vector<int64_t> FlopsOfEvents(const Trace& trace, const FunctionEvents& events);
// One number per span.
std::vector<int64_t> FlopsOfSpans(const Trace& trace);

}  // namespace opscope
