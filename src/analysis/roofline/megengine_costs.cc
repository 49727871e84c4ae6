// Operators of MegEngine but for products and convolutions. The costs are those of torch's operators that compute the
// same; the names and arguments are MegEngine's: an element-wise operator is called by its mode ("FUSE_MUL_ADD3"), and
// what is no tensor is an attribute of the call ("window_h"). Attributes that MegEngine does not print, such as lists
// of axes, leave a cost unknown.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <vector>

#include "analysis/roofline/norm_cost.h"
#include "analysis/roofline/operator_cost.h"

namespace opscope {
namespace megengine_operators {
namespace {

// Comparisons say that their result is of type Bool; other results have the type of the first operand.
OperatorCost ModeCost(const CallArguments& call, const CostRule& rule, bool) {
  CostRule typed = rule;
  typed.result = call.Attribute("dtype") == "Bool" ? ResultType::kBool : ResultType::kFirst;
  return ElementwiseCost(call, typed, false);
}

// Views: the result shares the memory of the operand.
OperatorCost ViewCost(const CallArguments&, const CostRule&, bool) {
  return {Amount(0), Amount(0)};
}

// Reshape is a view, or a copy where the operand is not contiguous, which is not recorded.
OperatorCost ReshapeCost(const CallArguments&, const CostRule&, bool) {
  return {Amount(0), Amount()};
}

// The type of the result is an attribute.
OperatorCost CastCost(const CallArguments& call, const CostRule&, bool) {
  const Argument* self = call.Tensor(0);
  if (self == nullptr) return {};
  return {Amount(0), TensorBytes(call, *self) + Elements(*self) * BytesOfMegEngineType(call.Attribute("dtype"))};
}

// Reads all tensors and writes as much.
OperatorCost JoinCost(const CallArguments& call, const CostRule&, bool) {
  const Amount bytes = TensorBytesBetween(call, 0, call.list.size());
  return {Amount(0), bytes + bytes};
}

// Writes a tensor like the operand.
OperatorCost FillLikeCost(const CallArguments& call, const CostRule&, bool) {
  const Argument* self = call.Tensor(0);
  return self ? OperatorCost{Amount(0), TensorBytes(call, *self)} : OperatorCost();
}

// `per_element` operations per element of the first operand; all operands are read, a result like the first is written.
OperatorCost LikeFirstCost(const CallArguments& call, const CostRule& rule, bool) {
  const Argument* self = call.Tensor(0);
  if (self == nullptr) return {};
  return {Elements(*self) * Amount(rule.per_element),
          TensorBytesBetween(call, 0, call.list.size()) + TensorBytes(call, *self)};
}

// Table, values, indices: a copy of the table in which the values are set, or to which they are added.
OperatorCost SetCost(const CallArguments& call, const CostRule& rule, bool is_in_place) {
  const Argument* values = call.Tensor(1);
  if (values == nullptr) return {};
  return {Elements(*values) * Amount(rule.per_element), LikeFirstCost(call, rule, is_in_place).bytes};
}

// Table, index of one element per row of the table: an element per index is read and written.
OperatorCost IndexingOneHotCost(const CallArguments& call, const CostRule&, bool) {
  const Argument *table = call.Tensor(0), *index = call.Tensor(1);
  if (table == nullptr || index == nullptr) return {};
  return {Amount(0), TensorBytes(call, *index) + Amount(2) * Elements(*index) * BytesPerElement(call, *table)};
}

constexpr int64_t kNoAxis = INT32_MAX;  // MegEngine's DEFAULT of an axis

// Elements of the result of a reduction along `axis`. Unknown where a second operand has the shape of the result.
Amount ElementsAlongAxis(const CallArguments& call, const Argument& self) {
  const auto axis = call.NumberOf("axis");
  const auto rank = static_cast<int64_t>(self.sizes.size());
  if (!axis) return {};
  if (*axis == kNoAxis) return call.Tensor(1) == nullptr || Elements(self).Or(0) == 1 ? Amount(1) : Amount();
  if (*axis < -rank || *axis >= rank) return {};
  std::vector<int64_t> sizes(self.sizes.begin(), self.sizes.end());
  sizes[static_cast<size_t>(*axis < 0 ? *axis + rank : *axis)] = 1;
  return Elements(sizes);
}

OperatorCost ReduceCost(const CallArguments& call, const CostRule&, bool) {
  const Argument* self = call.Tensor(0);
  if (self == nullptr) return {};
  const Amount bytes = call.Attribute("data_type") == "DEFAULT" ? BytesPerElement(call, *self) : Amount();
  return {Elements(*self) * Amount(call.Attribute("mode") == "SUM_SQR" ? 2 : 1),
          TensorBytes(call, *self) + ElementsAlongAxis(call, *self) * bytes};
}

// The result are positions of type Int32.
OperatorCost ArgReduceCost(const CallArguments& call, const CostRule&, bool) {
  const Argument* self = call.Tensor(0);
  if (self == nullptr) return {};
  return {Elements(*self), TensorBytes(call, *self) + ElementsAlongAxis(call, *self) * Amount(4)};
}

// Rows of the last dimension are sorted: values and positions of type Int32 are written.
OperatorCost SortCost(const CallArguments& call, const CostRule&, bool) {
  const Argument* self = call.Tensor(0);
  if (self == nullptr || self->sizes.empty()) return {};
  return {SortComparisons(Elements(*self), self->sizes.back()),
          TensorBytes(call, *self) + TensorBytes(call, *self) + Elements(*self) * Amount(4)};
}

// Compares each element; how many are chosen is the value of a tensor.
OperatorCost TopKCost(const CallArguments& call, const CostRule&, bool) {
  const Argument* self = call.Tensor(0);
  return self ? OperatorCost{Elements(*self), Amount()} : OperatorCost();
}

// As torch's pooling: a window of k elements costs k comparisons, or k additions and a division.
OperatorCost PoolingCost(const CallArguments& call, const CostRule&, bool) {
  constexpr int64_t kMax = int64_t{1} << 30;
  const Argument* self = call.Tensor(0);
  if (self == nullptr || self->sizes.size() != 4 || call.Attribute("format") != "NCHW") return {};
  Amount windows = Elements(self->sizes.first(2)), elements(1);
  for (const bool is_width : {false, true}) {
    const auto window = call.NumberOf(is_width ? "window_w" : "window_h");
    const auto stride = call.NumberOf(is_width ? "stride_w" : "stride_h");
    const auto padding = call.NumberOf(is_width ? "pad_w" : "pad_h");
    const int64_t size = self->sizes[is_width ? 3 : 2];
    if (!window || !stride || !padding || size < 0 || size > kMax || *window < 1 || *window > kMax || *stride < 1 ||
        *padding < 0 || *padding > kMax || size + 2 * *padding < *window)
      return {};
    windows = windows * Amount((size + 2 * *padding - *window) / *stride + 1);
    elements = elements * Amount(*window);
  }
  const Amount division(call.Attribute("mode") == "MAX" ? 0 : 1);
  return {windows * (elements + division), TensorBytes(call, *self) + windows * BytesPerElement(call, *self)};
}

// Input, result and gradient of the result are read, and the gradient of the input written. Neither the mode nor the
// window is recorded, so the operations are unknown.
OperatorCost PoolingBackwardCost(const CallArguments& call, const CostRule& rule, bool is_in_place) {
  return {Amount(), LikeFirstCost(call, rule, is_in_place).bytes};
}

// Input, weight, bias, running mean and variance, which are written, too.
OperatorCost BatchNormCost(const CallArguments& call, const CostRule&, bool) {
  const Argument *self = call.Tensor(0), *weight = call.Tensor(1);
  if (self == nullptr || weight == nullptr) return {};
  OperatorCost cost = NormForward(call, {}, Elements(*weight));
  if (call.Attribute("fwd_mode") == "TRAINING") return cost;
  return {call.Attribute("fwd_mode") == "INFERENCE" ? Elements(*self) * Amount(2) : Amount(), cost.bytes};
}

// Input, gradient, mean and deviation, weight, reserved memory.
OperatorCost BatchNormBackwardCost(const CallArguments& call, const CostRule&, bool) {
  const Argument* weight = call.Tensor(4);
  return weight ? NormBackward(call, {.gradient = 1, .input = 0, .weight = 4}, Elements(*weight)) : OperatorCost();
}

// Input, weight and bias if it is affine; the last `normalized_dim` dimensions are normalized.
OperatorCost LayerNormCost(const CallArguments& call, const CostRule&, bool) {
  const Argument* self = call.Tensor(0);
  const auto dimensions = call.NumberOf("normalized_dim");
  if (self == nullptr || !dimensions || *dimensions < 1 || *dimensions > static_cast<int64_t>(self->sizes.size()))
    return {};
  return NormForward(call, {}, Elements(self->sizes.first(self->sizes.size() - static_cast<size_t>(*dimensions))));
}

// Likewise; each sample has `group` means, or one per channel.
OperatorCost GroupNormCost(const CallArguments& call, const CostRule& rule, bool) {
  const Argument* self = call.Tensor(0);
  const auto group = call.NumberOf("group");
  if (self == nullptr || self->sizes.size() < 2 || call.Attribute("format") != "NCHW" || !group) return {};
  const bool is_per_channel = rule.op == "InstanceNorm";
  return NormForward(call, {}, Amount(self->sizes[0]) * Amount(is_per_channel ? self->sizes[1] : *group));
}

// Gradient, input, weight if it is affine, means, deviations.
OperatorCost NormGradientCost(const CallArguments& call, const CostRule&, bool) {
  const bool is_affine = call.list.size() == 5;
  const Argument* means = call.Tensor(is_affine ? 3 : 2);
  if (means == nullptr || (!is_affine && call.list.size() != 4)) return {};
  return NormBackward(call, {.gradient = 0, .input = 1, .weight = is_affine ? 2 : -1}, Elements(*means),
                      {true, is_affine, is_affine});
}

// The numbers are the operands and the operations per element.
constexpr CostRule kLightRules[] = {
    {"Broadcast", ViewCost},
    {"Subtensor", ViewCost},
    {"Split", ViewCost},
    {"Dimshuffle", ViewCost},
    {"AddAxis", ViewCost},
    {"RemoveAxis", ViewCost},
    {"Identity", ViewCost},
    {"GetVarShape", ViewCost},
    {"Reshape", ReshapeCost},
    {"TypeCvt", CastCost},
    {"TypeCvtV2", CastCost},
    {"Concat", JoinCost},
    {"Stack", JoinCost},
    {"FillLike", FillLikeCost},
    {"Copy", LikeFirstCost, 1, 0},
    {"InplaceAdd", LikeFirstCost, 4, 3},  // tensor, difference, a factor for each
    {"Cumsum", LikeFirstCost, 1, 1},
    {"Softmax", LikeFirstCost, 1, 5},
    {"SoftmaxBackward", LikeFirstCost, 2, 4},
    {"DropoutBackward", LikeFirstCost, 2, 2},
    {"SetSubtensor", SetCost, 2, 0},
    {"IncrSubtensor", SetCost, 2, 1},
    {"IndexingSetMultiAxisVec", SetCost, 2, 0},
    {"IndexingIncrMultiAxisVec", SetCost, 2, 1},
    {"IndexingSetOneHot", SetCost, 2, 0},
    {"IndexingOneHot", IndexingOneHotCost},
    {"Reduce", ReduceCost},
    {"Argmax", ArgReduceCost},
    {"Argmin", ArgReduceCost},
    {"Argsort", SortCost},
    {"TopK", TopKCost},
    {"Pooling", PoolingCost},
    {"PoolingBackward", PoolingBackwardCost},
    {"PoolingBackwardV1", PoolingBackwardCost},
    {"AdaptivePoolingBackwardV1", PoolingBackwardCost},
    {"BatchNorm", BatchNormCost},
    {"BatchNormBackward", BatchNormBackwardCost},
    {"LayerNorm", LayerNormCost},
    {"LayerNormBackward", NormGradientCost},
    {"GroupNorm", GroupNormCost},
    {"GroupNormBackward", NormGradientCost},
    {"InstanceNorm", GroupNormCost},
    {"InstanceNormBackward", NormGradientCost},
};

// Modes of Elemwise with `operands` operands and so many operations per element.
struct Modes {
  uint8_t operands, per_element;
  std::span<const std::string_view> names;
};

constexpr std::string_view kOfOne[] = {
    "ABS",     "ACOS",   "ACOSH",   "ASIN",  "ASINH",      "ATANH",    "CEIL",      "COS",    "COSH",     "ERF",
    "ERFC",    "ERFINV", "ERFCINV", "EXP",   "EXPM1",      "FLOOR",    "FAST_TANH", "GELU",   "HSIGMOID", "H_SWISH",
    "ISINF",   "ISNAN",  "LOG",     "LOG1P", "LOGSIGMOID", "NEGATE",   "NOT",       "RELU",   "RELU6",    "ROUND",
    "SIGMOID", "SIGN",   "SILU",    "SIN",   "SINH",       "SOFTPLUS", "SQRT",      "SQUARE", "TAN",      "TANH"};
constexpr std::string_view kOfTwo[] = {"ADD",   "AND", "ATAN2", "EQ",  "FLOOR_DIV",  "LEQ",      "LOG_SUM_EXP", "LT",
                                       "MAX",   "MIN", "MOD",   "MUL", "NEQ",        "OR",       "POW",         "PRELU",
                                       "RMULH", "SHL", "SHR",   "SUB", "SWITCH_GT0", "TRUE_DIV", "XOR"};
constexpr std::string_view kOfTwoTwice[] = {"ABS_GRAD",        "FUSE_ADD_H_SWISH", "FUSE_ADD_RELU", "FUSE_ADD_SIGMOID",
                                            "FUSE_ADD_TANH",   "GELU_GRAD",        "HSIGMOID_GRAD", "H_SWISH_GRAD",
                                            "LOGSIGMOID_GRAD", "RELU6_GRAD",       "SILU_GRAD",     "SOFTPLUS_GRAD"};
constexpr std::string_view kOfTwoThrice[] = {"ACOSH_GRAD",     "ASINH_GRAD",   "ATANH_GRAD",
                                             "FAST_TANH_GRAD", "SIGMOID_GRAD", "TANH_GRAD"};
constexpr std::string_view kOfThree[] = {"PRELU_GRAD"};
constexpr std::string_view kOfThreeTwice[] = {"CLIP", "COND_LEQ_MOV", "COND_LT_MOV", "FUSE_MUL_ADD3"};
constexpr std::string_view kOfFourThrice[] = {"FUSE_MUL_ADD4"};
constexpr Modes kModes[] = {{1, 1, kOfOne},   {2, 1, kOfTwo},        {2, 2, kOfTwoTwice},  {2, 3, kOfTwoThrice},
                            {3, 1, kOfThree}, {3, 2, kOfThreeTwice}, {4, 3, kOfFourThrice}};

}  // namespace
}  // namespace megengine_operators

std::span<const CostRule> MegEngineRules() {
  static const std::vector<CostRule> rules = [] {
    using namespace megengine_operators;
    std::vector<CostRule> all(std::begin(kLightRules), std::end(kLightRules));
    for (const Modes& modes : kModes) {
      for (const std::string_view name : modes.names)
        all.push_back({name, ModeCost, modes.operands, modes.per_element});
    }
    return all;
  }();
  return rules;
}

}  // namespace opscope
