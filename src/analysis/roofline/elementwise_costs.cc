// Element-wise operators, and those that only move data. Each operand is read once and the result written once:
// add of float [8, 1] and [8, 4] computes 32 elements and moves 4 (8 + 32 + 32) = 288 bytes. What lies in the registers
// or caches between two operators is not known, so the bytes are the least that the operator must move alone.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/operator_cost.h"

namespace opscope {
namespace {

constexpr auto kElementwise = &ElementwiseCost;

Amount ResultBytesPerElement(const CallArguments& call, const CostRule& rule) {
  switch (rule.result) {
    case ResultType::kBool:
      return Amount(1);
    case ResultType::kIndex:
      return Amount(8);
    case ResultType::kFirst:
      return call.Tensor(0) ? BytesPerElement(call, *call.Tensor(0)) : Amount();
    case ResultType::kLast:
      return PromoteTypes(call, 1, rule.operands).bytes;
    case ResultType::kPromoted:
    case ResultType::kFloat: {
      const PromotedType type = PromoteTypes(call, 0, rule.operands);
      const bool is_float = type.category >= TypeCategory::kFloat;
      return rule.result == ResultType::kFloat && !is_float ? Amount() : type.bytes;
    }
  }
  return {};
}

// self is written, the source read.
OperatorCost CopyCost(const CallArguments& call, const CostRule&, bool) {
  const Argument *self = call.Tensor(0), *source = call.Tensor(1);
  if (self == nullptr || source == nullptr) return {};
  return {Amount(0), TensorBytes(call, *self) + TensorBytes(call, *source)};
}

// self is written: fill_, bernoulli_, normal_.
OperatorCost FillCost(const CallArguments& call, const CostRule& rule, bool) {
  const Argument* self = call.Tensor(0);
  if (self == nullptr) return {};
  return {Elements(*self) * Amount(rule.per_element), TensorBytes(call, *self)};
}

// The tensors of a list are read, and as much is written.
OperatorCost CatCost(const CallArguments& call, const CostRule&, bool) {
  if (call.list.empty() || call.list[0].kind != ArgumentKind::kTensorList) return {};
  Amount read(0), elements(0);
  std::string_view type;
  for (const Argument& tensor : call.list[0].tensors) {
    if (!type.empty() && type != call.Type(tensor)) return {Amount(0), Amount()};
    type = call.Type(tensor);
    read = read + TensorBytes(call, tensor);
    elements = elements + Elements(tensor) * BytesPerElement(call, tensor);
  }
  return {Amount(0), type.empty() ? Amount() : read + elements};
}

// Chosen rows of a table are read and written, and the indices read. `row`: elements per index.
OperatorCost RowsCost(const CallArguments& call, const Argument& table, const Argument& index, Amount row) {
  const Amount moved = Elements(index) * row * BytesPerElement(call, table);
  return {Amount(0), moved + moved + TensorBytes(call, index)};
}

Amount ElementsWithout(const Argument& tensor, size_t dimension) {
  Amount product(1);
  for (size_t d = 0; d < tensor.sizes.size(); ++d)
    if (d != dimension) product = product * Amount(tensor.sizes[d]);
  return product;
}

// index_select: table, dimension, indices.
OperatorCost IndexSelectCost(const CallArguments& call, const CostRule&, bool) {
  const Argument *table = call.Tensor(0), *index = call.Tensor(2);
  if (table == nullptr || index == nullptr) return {};
  const std::string_view text = call.Text(1);
  if (text.size() != 1 || text[0] < '0' || static_cast<size_t>(text[0] - '0') >= table->sizes.size())
    return {Amount(0), Amount()};
  return RowsCost(call, *table, *index, ElementsWithout(*table, static_cast<size_t>(text[0] - '0')));
}

// gather: table, dimension, an index per element of the result.
OperatorCost GatherCost(const CallArguments& call, const CostRule&, bool) {
  const Argument *table = call.Tensor(0), *index = call.Tensor(2);
  return table && index ? RowsCost(call, *table, *index, Amount(1)) : OperatorCost();
}

// embedding: table [rows, features], indices.
OperatorCost EmbeddingCost(const CallArguments& call, const CostRule&, bool) {
  const Argument *table = call.Tensor(0), *index = call.Tensor(1);
  if (table == nullptr || index == nullptr || table->sizes.size() != 2) return {};
  return RowsCost(call, *table, *index, Amount(table->sizes[1]));
}

// Reads one element to the host.
OperatorCost ItemCost(const CallArguments& call, const CostRule&, bool) {
  return call.Tensor(0) ? OperatorCost{Amount(0), BytesPerElement(call, *call.Tensor(0))} : OperatorCost();
}

// Writes the result and a mask of one byte per element; compares, scales and multiplies.
OperatorCost DropoutCost(const CallArguments& call, const CostRule&, bool) {
  const Argument* self = call.Tensor(0);
  if (self == nullptr || call.Text(2) != "True") return {};
  const Amount elements = Elements(*self), bytes = BytesPerElement(call, *self);
  return {elements * Amount(3), TensorBytes(call, *self) + elements * bytes + elements};
}

constexpr CostRule kElementwiseRules[] = {
    // One operand. A function value counts as one.
    {"neg", kElementwise},
    {"abs", kElementwise},
    {"sign", kElementwise},
    {"square", kElementwise, 1, 1, ResultType::kPromoted, 1, true},
    {"relu", kElementwise, 1, 1, ResultType::kPromoted, 1, true},
    {"clamp", kElementwise, 1, 2},
    {"clamp_min", kElementwise},
    {"clamp_max", kElementwise},
    {"hardtanh", kElementwise, 1, 2},
    {"leaky_relu", kElementwise},
    {"elu", kElementwise},
    {"threshold", kElementwise},
    {"floor", kElementwise},
    {"ceil", kElementwise},
    {"round", kElementwise},
    {"trunc", kElementwise},
    {"bitwise_not", kElementwise},
    {"exp", kElementwise, 1, 1, ResultType::kFloat},
    {"expm1", kElementwise, 1, 1, ResultType::kFloat},
    {"log", kElementwise, 1, 1, ResultType::kFloat},
    {"log1p", kElementwise, 1, 1, ResultType::kFloat},
    {"log2", kElementwise, 1, 1, ResultType::kFloat},
    {"sqrt", kElementwise, 1, 1, ResultType::kFloat},
    {"rsqrt", kElementwise, 1, 1, ResultType::kFloat},
    {"reciprocal", kElementwise, 1, 1, ResultType::kFloat},
    {"sin", kElementwise, 1, 1, ResultType::kFloat},
    {"cos", kElementwise, 1, 1, ResultType::kFloat},
    {"tanh", kElementwise, 1, 1, ResultType::kFloat},
    {"erf", kElementwise, 1, 1, ResultType::kFloat},
    {"sigmoid", kElementwise, 1, 1, ResultType::kFloat},
    {"gelu", kElementwise, 1, 1, ResultType::kFloat},
    {"silu", kElementwise, 1, 1, ResultType::kFloat},
    {"mish", kElementwise, 1, 1, ResultType::kFloat},
    {"softplus", kElementwise, 1, 1, ResultType::kFloat},
    {"cumsum", kElementwise, 1, 1, ResultType::kFloat},
    // Two and three operands.
    {"add", kElementwise, 2},
    {"sub", kElementwise, 2},
    {"rsub", kElementwise, 2},
    {"mul", kElementwise, 2},
    {"div", kElementwise, 2, 1, ResultType::kFloat},
    {"true_divide", kElementwise, 2, 1, ResultType::kFloat},
    {"floor_divide", kElementwise, 2},
    {"remainder", kElementwise, 2},
    {"fmod", kElementwise, 2},
    {"pow", kElementwise, 2},
    {"maximum", kElementwise, 2},
    {"minimum", kElementwise, 2},
    {"atan2", kElementwise, 2, 1, ResultType::kFloat},
    {"bitwise_and", kElementwise, 2},
    {"bitwise_or", kElementwise, 2},
    {"bitwise_xor", kElementwise, 2},
    {"lerp", kElementwise, 3, 3, ResultType::kFirst},
    {"addcmul", kElementwise, 3, 3},
    {"addcdiv", kElementwise, 3, 3, ResultType::kFloat},
    {"threshold_backward", kElementwise, 2, 1, ResultType::kFirst},
    {"hardtanh_backward", kElementwise, 2, 2, ResultType::kFirst},
    {"leaky_relu_backward", kElementwise, 2, 1, ResultType::kFirst},
    {"sigmoid_backward", kElementwise, 2, 3, ResultType::kFirst},
    {"tanh_backward", kElementwise, 2, 3, ResultType::kFirst},
    {"gelu_backward", kElementwise, 2, 2, ResultType::kFirst},
    {"silu_backward", kElementwise, 2, 2, ResultType::kFirst},
    {"native_dropout_backward", kElementwise, 2, 2, ResultType::kFirst},
    // Comparisons give bool.
    {"eq", kElementwise, 2, 1, ResultType::kBool},
    {"ne", kElementwise, 2, 1, ResultType::kBool},
    {"lt", kElementwise, 2, 1, ResultType::kBool},
    {"le", kElementwise, 2, 1, ResultType::kBool},
    {"gt", kElementwise, 2, 1, ResultType::kBool},
    {"ge", kElementwise, 2, 1, ResultType::kBool},
    {"isnan", kElementwise, 1, 1, ResultType::kBool, 1, true},
    {"isinf", kElementwise, 1, 1, ResultType::kBool, 1, true},
    {"isneginf", kElementwise, 1, 1, ResultType::kBool},
    {"isposinf", kElementwise, 1, 1, ResultType::kBool},
    {"logical_not", kElementwise, 1, 1, ResultType::kBool},
    {"logical_and", kElementwise, 2, 1, ResultType::kBool},
    {"logical_or", kElementwise, 2, 1, ResultType::kBool},
};

constexpr CostRule kMoveRules[] = {
    {"where", kElementwise, 3, 0, ResultType::kLast},
    {"masked_fill", kElementwise, 2, 0, ResultType::kFirst, 1, true},
    {"tril", kElementwise, 1, 0, ResultType::kFirst},
    {"triu", kElementwise, 1, 0, ResultType::kFirst},
    {"flip", kElementwise, 1, 0, ResultType::kFirst},
    {"roll", kElementwise, 1, 0, ResultType::kFirst, 1, true},
    {"copy", CopyCost},
    {"fill", FillCost, 1, 0},
    {"zero", FillCost, 1, 0, ResultType::kFirst, 1, true},
    {"bernoulli", FillCost, 1, 1},
    {"uniform", FillCost, 1, 1},
    {"normal", FillCost, 1, 1},
    {"cat", CatCost},
    {"index_select", IndexSelectCost},
    {"gather", GatherCost},
    {"embedding", EmbeddingCost, 2, 0, ResultType::kFirst, 1, true},
    {"_local_scalar_dense", ItemCost},
    {"native_dropout", DropoutCost, 1, 1, ResultType::kPromoted, 1, true},
};

}  // namespace

OperatorCost ElementwiseCost(const CallArguments& call, const CostRule& rule, bool is_in_place) {
  const Argument* operands[4] = {};
  size_t count = 0;
  Amount read(0);
  for (size_t i = 0; i < rule.operands && i < call.list.size(); ++i) {
    const Argument* tensor = call.Tensor(i);
    if (tensor == nullptr) continue;
    if (!Elements(*tensor).is_known()) return {};
    operands[count++] = tensor;
    read = read + TensorBytes(call, *tensor);
  }
  const Argument* self = call.Tensor(0);
  if (count == 0 || (is_in_place && self == nullptr)) return {};
  const auto sizes = Broadcast(std::span(operands, count));
  if (!sizes) return {};
  const Amount elements = is_in_place ? Elements(*self) : Elements(*sizes);
  const Amount written = is_in_place ? TensorBytes(call, *self) : elements * ResultBytesPerElement(call, rule);
  return {elements * Amount(rule.per_element), read + written};
}

std::span<const CostRule> ElementwiseRules() {
  return kElementwiseRules;
}

std::span<const CostRule> MoveRules() {
  return kMoveRules;
}

}  // namespace opscope
