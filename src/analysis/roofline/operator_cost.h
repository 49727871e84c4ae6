// FLOPs and bytes of one call of an operator. docs/reference/roofline.md lists the formulas. The FLOPs of products,
// convolutions, attention and embeddings are those of analysis/torch/flop_formulas.h.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/roofline/amount.h"
#include "analysis/roofline/tensor_sizes.h"
#include "analysis/torch/flop_formulas.h"
#include "opscope/trace.h"

namespace opscope {

struct OperatorCost {
  Amount flops, bytes;
};

// The type of the elements of a result.
enum class ResultType : uint8_t {
  kPromoted,  // torch's promotion of the operands
  kFloat,     // likewise, but integers become the default type, which is unknown
  kFirst,     // of the first operand
  kLast,      // promotion of the operands behind the first
  kBool,
  kIndex,  // int64
};

// How an operator of a light family is counted.
struct CostRule {
  // Of torch: without "aten::" and without a trailing "_", which names the form that writes its first operand.
  std::string_view op;
  OperatorCost (*cost)(const CallArguments& call, const CostRule& rule, bool is_in_place);
  // Tensors among the first so many arguments are read; those behind are results that the caller provides.
  uint8_t operands = 1;
  // FLOPs per element: of the result, of reductions per element of the input.
  uint8_t per_element = 1;
  ResultType result = ResultType::kPromoted;
  // Reductions: index of the argument with the dimensions.
  uint8_t dimensions_at = 1;
  // The operator usually calls others that have formulas; then those count instead.
  bool is_shell = false;
};

// The families (elementwise_costs.cc, reduction_costs.cc, norm_costs.cc, pooling_costs.cc, index_costs.cc,
// foreach_costs.cc).
std::span<const CostRule> ElementwiseRules();
std::span<const CostRule> MoveRules();
std::span<const CostRule> ReductionRules();
std::span<const CostRule> NormRules();
std::span<const CostRule> PoolingRules();
std::span<const CostRule> IndexRules();
std::span<const CostRule> ForeachRules();
// Of MegEngine, by the whole names of its operators (megengine_costs.cc, megengine_product_costs.cc).
std::span<const CostRule> MegEngineRules();
std::span<const CostRule> MegEngineProductRules();

// Result of an element-wise operator whose operands are the first `operands` arguments.
OperatorCost ElementwiseCost(const CallArguments& call, const CostRule& rule, bool is_in_place);

// Comparisons of sorting `elements` in rows of `row` elements each (index_costs.cc).
Amount SortComparisons(Amount elements, int64_t row);

// FLOPs of a rule of flop_formulas.h, and bytes (product_bytes.cc).
OperatorCost ProductCost(std::string_view op, const FlopRule& rule, const CallArguments& call);

// True for operators that compute nothing and move nothing: views, allocations, and those that call other operators for
// all their work, such as aten::matmul and AddmmBackward0.
bool IsBookkeeping(std::string_view name);

// What is known about a name.
struct NamedOperator {
  const FlopRule* flops = nullptr;  // products, convolutions, attention
  const CostRule* rule = nullptr;   // the light families
  bool is_in_place = false;
  bool is_bookkeeping = false;
  bool has_attributes = false;  // the cost depends on attributes of the call, too

  bool has_formula() const { return flops != nullptr || rule != nullptr; }
};

// Looks a name up among the operators of torch. O(length) on average.
NamedOperator FindOperator(std::string_view name);
// The same of MegEngine.
NamedOperator FindMegEngineOperator(std::string_view name);
// The cost of a call; unknown without a formula. REQUIRES: `name` is the one that `op` was found by.
OperatorCost CostOf(std::string_view name, const NamedOperator& op, const CallArguments& call);

}  // namespace opscope
