// Operators on lists of tensors, as optimizers call them: _foreach_add_ of two lists does what add_ of each pair does.
// On a device they are a few kernels; on the CPU most of them call the operators of their elements, which count then.
//
//   _foreach_addcmul_ of three lists of float [4], float [6]   3 (4 + 6) = 30 operations, 4 (3 + 1) (4 + 6) = 160 bytes
// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/operator_cost.h"

namespace opscope {
namespace {

struct ListSize {
  Amount elements = Amount(0), bytes = Amount(0);
};

ListSize SizeOfList(const CallArguments& call, const Argument& list) {
  ListSize size;
  for (const Argument& tensor : list.tensors) {
    size.elements = size.elements + Elements(tensor);
    size.bytes = size.bytes + TensorBytes(call, tensor);
  }
  return size;
}

// The first `operands` arguments are read as far as they are lists or tensors; the result is as large as the first
// list. A rule without operands writes the first list alone.
OperatorCost ForeachCost(const CallArguments& call, const CostRule& rule, bool) {
  if (call.list.empty() || call.list[0].kind != ArgumentKind::kTensorList || call.list[0].tensors.empty()) return {};
  const ListSize first = SizeOfList(call, call.list[0]);
  Amount bytes = first.bytes;  // written
  for (size_t i = 0; i < rule.operands && i < call.list.size(); ++i) {
    if (call.list[i].kind == ArgumentKind::kTensorList) {
      if (call.list[i].tensors.size() != call.list[0].tensors.size()) return {};
      bytes = bytes + SizeOfList(call, call.list[i]).bytes;
    } else {
      bytes = bytes + TensorBytes(call, call.Tensor(i));
    }
  }
  return {first.elements * Amount(rule.per_element), bytes};
}

// The second list is copied into the first.
OperatorCost ForeachCopyCost(const CallArguments& call, const CostRule&, bool) {
  if (call.list.size() < 2 || call.list[0].kind != ArgumentKind::kTensorList ||
      call.list[1].kind != ArgumentKind::kTensorList || call.list[0].tensors.empty())
    return {};
  return {Amount(0), SizeOfList(call, call.list[0]).bytes + SizeOfList(call, call.list[1]).bytes};
}

// One number per tensor.
OperatorCost ForeachNormCost(const CallArguments& call, const CostRule&, bool) {
  if (call.list.empty() || call.list[0].kind != ArgumentKind::kTensorList || call.list[0].tensors.empty()) return {};
  const ListSize first = SizeOfList(call, call.list[0]);
  Amount written(0);
  for (const Argument& tensor : call.list[0].tensors)
    written = written + BytesPerElement(call, tensor);
  return {first.elements, first.bytes + written};
}

constexpr CostRule ForeachRule(std::string_view op, uint8_t operands, uint8_t per_element) {
  return {op, ForeachCost, operands, per_element, ResultType::kFirst, 1, true};
}

constexpr CostRule kForeachRules[] = {
    ForeachRule("_foreach_neg", 1, 1),
    ForeachRule("_foreach_abs", 1, 1),
    ForeachRule("_foreach_sign", 1, 1),
    ForeachRule("_foreach_exp", 1, 1),
    ForeachRule("_foreach_log", 1, 1),
    ForeachRule("_foreach_sqrt", 1, 1),
    ForeachRule("_foreach_rsqrt", 1, 1),
    ForeachRule("_foreach_reciprocal", 1, 1),
    ForeachRule("_foreach_add", 2, 1),
    ForeachRule("_foreach_sub", 2, 1),
    ForeachRule("_foreach_mul", 2, 1),
    ForeachRule("_foreach_div", 2, 1),
    ForeachRule("_foreach_pow", 2, 1),
    ForeachRule("_foreach_maximum", 2, 1),
    ForeachRule("_foreach_minimum", 2, 1),
    ForeachRule("_foreach_clamp_min", 2, 1),
    ForeachRule("_foreach_clamp_max", 2, 1),
    ForeachRule("_foreach_lerp", 3, 3),
    ForeachRule("_foreach_addcmul", 3, 3),
    ForeachRule("_foreach_addcdiv", 3, 3),
    ForeachRule("_foreach_zero", 0, 0),
    {"_foreach_copy", ForeachCopyCost, 2, 0, ResultType::kFirst, 1, true},
    {"_foreach_norm", ForeachNormCost, 1, 1, ResultType::kFirst, 1, true},
};

}  // namespace

std::span<const CostRule> ForeachRules() {
  return kForeachRules;
}

}  // namespace opscope
