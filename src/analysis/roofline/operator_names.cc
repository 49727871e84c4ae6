// Finds the formula of an operator by its name. "aten::add_" is "aten::add" that writes its first operand. Names that
// are neither in the formulas nor in the list of operators without work of their own have an unknown cost.
// SPDX-License-Identifier: Apache-2.0
#include <initializer_list>
#include <unordered_map>
#include <unordered_set>

#include "analysis/roofline/operator_cost.h"
#include "analysis/torch/flop_calls.h"
#include "base/text.h"

namespace opscope {
namespace {

constexpr std::string_view kPrefix = "aten::";

// Without "aten::" and a trailing "_".
constexpr std::string_view kWithoutWork[] = {
    // Views.
    "view", "_unsafe_view", "reshape", "_reshape_alias", "reshape_as", "view_as", "flatten", "unflatten", "transpose",
    "t", "permute", "expand", "expand_as", "squeeze", "unsqueeze", "select", "slice", "narrow", "split", "chunk",
    "split_with_sizes", "unbind", "as_strided", "alias", "detach", "resolve_conj", "resolve_neg", "movedim", "unfold",
    "numpy_T", "adjoint", "swapaxes", "swapdims", "unsafe_split", "unsafe_chunk", "tensor_split", "diagonal",
    "view_as_real", "view_as_complex", "real", "lift_fresh", "set", "data", "_conj", "conj", "mT", "mH", "T",
    // Allocations.
    "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize", "_resize_output",
    // Operators that call others for their work.
    "matmul", "to", "_to_copy", "contiguous", "clone", "zeros", "zeros_like", "ones", "ones_like", "full", "full_like",
    "new_zeros", "new_ones", "new_full", "scalar_tensor", "dropout", "feature_dropout", "softmax", "log_softmax",
    "_safe_softmax", "cross_entropy_loss", "nll_loss", "nll_loss_nd", "nll_loss2d", "layer_norm", "batch_norm",
    "group_norm", "rms_norm", "_batch_norm_impl_index", "_batch_norm_impl_index_backward",
    "_scaled_dot_product_attention_math", "_fused_sdp_choice", "adaptive_avg_pool2d", "adaptive_avg_pool3d",
    "avg_pool1d", "max_pool1d", "max_pool2d", "max_pool3d", "argsort", "msort", "item", "is_nonzero",
    "embedding_backward", "select_backward", "slice_backward", "sum_to_size", "type_as", "broadcast_tensors", "einsum",
    "tensordot", "stack", "hstack", "vstack", "concat", "concatenate", "result_type", "can_cast", "is_same_size"};

using RulesByName = std::unordered_map<std::string_view, const CostRule*>;

RulesByName ByName(std::initializer_list<std::span<const CostRule>> families) {
  RulesByName rules;
  for (const std::span<const CostRule> family : families) {
    for (const CostRule& rule : family)
      rules.emplace(rule.op, &rule);
  }
  return rules;
}

const RulesByName& LightRules() {
  static const RulesByName rules = ByName(
      {ElementwiseRules(), MoveRules(), ReductionRules(), NormRules(), PoolingRules(), IndexRules(), ForeachRules()});
  return rules;
}

const std::unordered_map<std::string_view, const FlopRule*>& HeavyRules() {
  static const auto rules = [] {
    std::unordered_map<std::string_view, const FlopRule*> all;
    for (const FlopRule& rule : FlopRules())
      if (IsWhole(rule)) all.emplace(rule.op, &rule);
    return all;
  }();
  return rules;
}

// "AddmmBackward0": a node of autograd that torch generates. Its work is in operators that it calls. Nodes of programs
// ("MyFunctionBackward") have no number.
bool IsGeneratedNode(std::string_view name) {
  size_t end = name.size();
  while (end > 0 && IsDigit(name[end - 1]))
    --end;
  return end < name.size() && name.substr(0, end).ends_with("Backward") && name.find(':') == std::string_view::npos;
}

}  // namespace

bool IsBookkeeping(std::string_view name) {
  static const std::unordered_set<std::string_view> without_work(std::begin(kWithoutWork), std::end(kWithoutWork));
  if (name.starts_with("autograd::engine::evaluate_function: ") || name == "torch::autograd::AccumulateGrad" ||
      name == "detach" || name == "detach_")
    return true;
  if (!name.starts_with(kPrefix)) return IsGeneratedNode(name);
  name.remove_prefix(kPrefix.size());
  if (name.ends_with('_')) name.remove_suffix(1);
  return without_work.contains(name);
}

NamedOperator FindOperator(std::string_view name) {
  NamedOperator found;
  if (!name.starts_with(kPrefix)) {
    found.is_bookkeeping = IsBookkeeping(name);
    return found;
  }
  std::string_view op = name.substr(kPrefix.size());
  const bool is_in_place = op.ends_with('_');
  if (is_in_place) op.remove_suffix(1);
  if (const auto light = LightRules().find(op); light != LightRules().end()) {
    found.rule = light->second;
    found.is_in_place = is_in_place;
  } else if (const auto heavy = HeavyRules().find(name); heavy != HeavyRules().end()) {
    found.flops = heavy->second;
  } else {
    found.is_bookkeeping = IsBookkeeping(name);
  }
  return found;
}

NamedOperator FindMegEngineOperator(std::string_view name) {
  static const RulesByName rules = ByName({MegEngineRules(), MegEngineProductRules()});
  const auto found = rules.find(name);
  return found == rules.end() ? NamedOperator() : NamedOperator{.rule = found->second, .has_attributes = true};
}

OperatorCost CostOf(std::string_view name, const NamedOperator& op, const CallArguments& call) {
  if (op.rule != nullptr) return op.rule->cost(call, *op.rule, op.is_in_place);
  if (op.flops != nullptr) return ProductCost(name.substr(kPrefix.size()), *op.flops, call);
  return {};
}

}  // namespace opscope
