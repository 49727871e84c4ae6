// Reductions: one operation per element of the input and as much traffic as reading the input and writing the result.
// The size of the result follows from the dimensions that are reduced: sum of float [8, 4] over [0] has 32 operations
// and moves 4 (32 + 4) = 144 bytes. Softmax and the losses on top of it are counted here, too.
// SPDX-License-Identifier: Apache-2.0

#include "analysis/roofline/operator_cost.h"
#include "analysis/torch/flop_arguments.h"

namespace opscope {
namespace {

// Elements of the result; unknown if the dimensions are not as recorded by torch.
Amount ReducedElements(const CallArguments& call, const Argument& self, size_t dimensions_at) {
  if (call.list.size() <= dimensions_at || call.list.size() <= 2) return Amount(1);
  const auto dimensions = NumbersOf(call.Text(dimensions_at));
  if (!dimensions) return {};
  if (dimensions->empty()) return Amount(1);
  const auto rank = static_cast<int64_t>(self.sizes.size());
  std::vector<int64_t> sizes(self.sizes.begin(), self.sizes.end());
  for (int64_t dimension : *dimensions) {
    if (dimension < -rank || dimension >= rank) return {};
    sizes[static_cast<size_t>(dimension < 0 ? dimension + rank : dimension)] = 1;
  }
  return Elements(sizes);
}

Amount BytesOfResult(const CallArguments& call, const Argument& self, const CostRule& rule) {
  if (rule.result == ResultType::kBool) return Amount(1);
  if (rule.result == ResultType::kIndex) return Amount(8);
  // The last arguments of sum, mean and norms may name a type.
  for (size_t i = rule.dimensions_at + 2u; i < call.list.size(); ++i)
    if (const Amount bytes = BytesOfScalarType(call.Text(i)); bytes.is_known()) return bytes;
  const TypeCategory category = CategoryOfType(call.Type(self));
  if (category == TypeCategory::kUnknown) return {};
  // torch sums integers as int64.
  const bool is_sum = rule.result == ResultType::kPromoted;
  return is_sum && category < TypeCategory::kFloat ? Amount(8) : BytesPerElement(call, self);
}

OperatorCost ReductionCost(const CallArguments& call, const CostRule& rule, bool) {
  const Argument* self = call.Tensor(0);
  if (self == nullptr) return {};
  if (call.list.size() == 2 && call.Tensor(1) != nullptr && rule.result == ResultType::kFirst) {
    // max and min of two tensors.
    return ElementwiseCost(call, {.op = rule.op, .cost = nullptr, .operands = 2}, false);
  }
  const Amount written = ReducedElements(call, *self, rule.dimensions_at) * BytesOfResult(call, *self, rule);
  return {Elements(*self) * Amount(rule.per_element), TensorBytes(call, *self) + written};
}

// The input is read and a result of its size written; so many operations per element.
OperatorCost SoftmaxCost(const CallArguments& call, const CostRule& rule, bool) {
  const Argument* self = call.Tensor(0);
  if (self == nullptr) return {};
  // half_to_float
  const Amount bytes = call.Text(2) == "True" ? Amount(4) : BytesPerElement(call, *self);
  return {Elements(*self) * Amount(rule.per_element), TensorBytes(call, *self) + Elements(*self) * bytes};
}

// The gradient and the result of the forward pass are read; argument 3 names the type of the input.
OperatorCost SoftmaxBackwardCost(const CallArguments& call, const CostRule& rule, bool) {
  const Argument *gradient = call.Tensor(0), *output = call.Tensor(1);
  if (gradient == nullptr || output == nullptr) return {};
  return {Elements(*gradient) * Amount(rule.per_element),
          TensorBytesBetween(call, 0, 2) + Elements(*gradient) * BytesOfScalarType(call.Text(3))};
}

// nll_loss_forward: reads the targets and one element of the input for each, writes the loss and the sum of weights.
OperatorCost NllLossCost(const CallArguments& call, const CostRule&, bool) {
  const Argument *self = call.Tensor(0), *target = call.Tensor(1);
  if (self == nullptr || target == nullptr || call.Tensor(2) != nullptr || call.list.size() < 4) return {};
  const Amount targets = Elements(*target), bytes = BytesPerElement(call, *self);
  const Amount written = call.Text(3) == "0" ? targets + Amount(1) : Amount(2);
  return {targets, TensorBytes(call, *target) + (targets + written) * bytes};
}

// nll_loss_backward: reads gradient and targets, writes one element for each. The zeros around them are a call of their
// own, aten::zero_.
OperatorCost NllLossBackwardCost(const CallArguments& call, const CostRule&, bool) {
  const Argument *gradient = call.Tensor(0), *self = call.Tensor(1), *target = call.Tensor(2);
  if (gradient == nullptr || self == nullptr || target == nullptr || call.Tensor(3) != nullptr) return {};
  const Amount targets = Elements(*target);
  return {targets, TensorBytes(call, *gradient) + TensorBytes(call, *target) + targets * BytesPerElement(call, *self)};
}

constexpr CostRule kReductionRules[] = {
    {"sum", ReductionCost},
    {"mean", ReductionCost, 1, 1, ResultType::kFirst, 1, true},
    {"prod", ReductionCost},
    {"amax", ReductionCost, 1, 1, ResultType::kFirst},
    {"amin", ReductionCost, 1, 1, ResultType::kFirst},
    {"all", ReductionCost, 1, 1, ResultType::kBool},
    {"any", ReductionCost, 1, 1, ResultType::kBool},
    {"argmax", ReductionCost, 1, 1, ResultType::kIndex},
    {"argmin", ReductionCost, 1, 1, ResultType::kIndex},
    {"linalg_vector_norm", ReductionCost, 1, 2, ResultType::kFirst, 2},
    {"_softmax", SoftmaxCost, 1, 5},
    {"_log_softmax", SoftmaxCost, 1, 5},
    {"_softmax_backward_data", SoftmaxBackwardCost, 2, 4},
    {"_log_softmax_backward_data", SoftmaxBackwardCost, 2, 4},
    {"nll_loss_forward", NllLossCost},
    {"nll_loss_backward", NllLossBackwardCost},
};

}  // namespace

std::span<const CostRule> ReductionRules() {
  return kReductionRules;
}

}  // namespace opscope
