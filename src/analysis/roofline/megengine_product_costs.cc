// Products of matrices and convolutions of MegEngine: 2 FLOPs per multiplication and addition, each operand read once,
// each result written once. Gradients of convolutions have no attributes; their FLOPs follow from the tensors, for each
// element of a result meets the whole filter of its channel:
//
//   Convolution [2, 4, 16, 16] by [8, 4, 3, 3], stride 2, padding 1: [2, 8, 8, 8], 1024 elements
//   FLOPs of it and of either gradient: 2 * 1024 * (4 * 3 * 3) = 73,728
//
// As in torch's formulas positions in the padding count. Filters of groups are [groups, outputs of a group, inputs of a
// group, ...]. Layouts that pack channels (NCHW4, CHWN4, ...) have unknown costs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analysis/roofline/operator_cost.h"

namespace opscope {
namespace megengine_operators {
namespace {

constexpr int64_t kMaxWindowNumber = int64_t{1} << 30;  // sums and products of two of them fit

// The sizes of a filter, for dense convolutions and those of groups.
struct Filter {
  Amount outputs, inputs, terms;  // channels of the result and of the input; products for an element of the result
  std::span<const int64_t> window;
};

// nullopt unless the filter fits tensors of `dimensions` dimensions.
std::optional<Filter> FilterOf(const Argument& filter, size_t dimensions) {
  if (dimensions < 3 || filter.sizes.size() < dimensions || filter.sizes.size() > dimensions + 1) return std::nullopt;
  const bool has_groups = filter.sizes.size() == dimensions + 1;
  const Amount groups(has_groups ? filter.sizes[0] : 1);
  const std::span<const int64_t> own = filter.sizes.subspan(has_groups ? 1 : 0);
  return Filter{groups * Amount(own[0]), groups * Amount(own[1]), Elements(own.subspan(1)), own.subspan(2)};
}

// 2 FLOPs for each element of the result and each product of it. Unknown if the channels of the input or the result are
// not in dimension 1, as in packed layouts.
Amount ConvolutionFlops(const Filter& filter, std::span<const int64_t> input, std::span<const int64_t> result) {
  const bool fits = input.size() == result.size() && Amount(input[1]).Or(-1) == filter.inputs.Or(-2) &&
                    Amount(result[1]).Or(-1) == filter.outputs.Or(-2);
  return fits ? Amount(2) * Elements(result) * filter.terms : Amount();
}

// "stride_h" and its like, for the dimension `d` of `count`: those of three are d, h, w.
std::optional<int64_t> WindowNumber(const CallArguments& call, const char* attribute, size_t d, size_t count) {
  const std::string name = std::string(attribute) + '_' + "dhw"[3 - count + d];
  const std::optional<int64_t> number = call.NumberOf(name);
  return number && *number >= 0 && *number <= kMaxWindowNumber ? number : std::nullopt;
}

// Sizes of the other side of a convolution, without batch and channels: of the result where `is_forward`, else of the
// input. Empty if an attribute is missing or makes no sense.
std::vector<int64_t> OtherSide(const CallArguments& call, const Filter& filter, std::span<const int64_t> positions,
                               bool is_forward) {
  std::vector<int64_t> sizes;
  const size_t count = positions.size();
  if (count > 3 || filter.window.size() != count) return {};
  for (size_t d = 0; d < count; ++d) {
    const auto stride = WindowNumber(call, "stride", d, count), padding = WindowNumber(call, "pad", d, count),
               dilation = WindowNumber(call, "dilate", d, count);
    const int64_t window = filter.window[d], size = positions[d];
    if (!stride || !padding || !dilation || *stride == 0 || window < 1 || window > kMaxWindowNumber || size < 1 ||
        size > kMaxWindowNumber)
      return {};
    const int64_t reach = *dilation * (window - 1) + 1;
    const int64_t other =
        is_forward ? (size + 2 * *padding - reach) / *stride + 1 : (size - 1) * *stride + reach - 2 * *padding;
    if (other < 1 || (is_forward && size + 2 * *padding < reach)) return {};
    sizes.push_back(other);
  }
  return sizes;
}

bool HasPlainLayout(const CallArguments& call) {
  const std::string_view format = call.Attribute("format");
  return format == "NCHW" || format == "NCDHW";
}

// Input, filter. `is_forward` false: filter, input of a transposed convolution, and possibly a tensor of the size of
// the result.
template <bool kForward>
OperatorCost ConvolutionCost(const CallArguments& call, const CostRule&, bool) {
  const Argument *given = call.Tensor(kForward ? 0 : 1), *weight = call.Tensor(kForward ? 1 : 0);
  if (given == nullptr || weight == nullptr) return {};
  const auto filter = FilterOf(*weight, given->sizes.size());
  if (!filter || !HasPlainLayout(call)) return {};
  std::vector<int64_t> made = OtherSide(call, *filter, given->sizes.subspan(2), kForward);
  if (made.empty()) return {};
  made.insert(made.begin(), {given->sizes[0], (kForward ? filter->outputs : filter->inputs).Or(-1)});
  const Amount flops =
      kForward ? ConvolutionFlops(*filter, given->sizes, made) : ConvolutionFlops(*filter, made, given->sizes);
  return {flops, TensorBytesBetween(call, 0, 2) + Elements(made) * BytesPerElement(call, *given)};
}

// Filter, gradient of the result, input: the sizes of the input are those of what is written.
OperatorCost InputGradientCost(const CallArguments& call, const CostRule& rule, bool is_in_place) {
  const Argument *weight = call.Tensor(0), *gradient = call.Tensor(1), *input = call.Tensor(2);
  if (input == nullptr) return ConvolutionCost<false>(call, rule, is_in_place);
  if (weight == nullptr || gradient == nullptr) return {};
  const auto filter = FilterOf(*weight, gradient->sizes.size());
  if (!filter) return {};
  return {ConvolutionFlops(*filter, input->sizes, gradient->sizes), TensorBytesBetween(call, 0, 3)};
}

// Input, gradient of the result, filter: the sizes of the filter are those of what is written.
OperatorCost FilterGradientCost(const CallArguments& call, const CostRule&, bool) {
  const Argument *input = call.Tensor(0), *gradient = call.Tensor(1), *weight = call.Tensor(2);
  if (input == nullptr || gradient == nullptr || weight == nullptr) return {};
  const auto filter = FilterOf(*weight, gradient->sizes.size());
  if (!filter) return {};
  return {ConvolutionFlops(*filter, input->sizes, gradient->sizes), TensorBytesBetween(call, 0, 3)};
}

// [..., m, k] by [..., k, n], each transposed where the attribute says so. The dimensions before are broadcast.
OperatorCost MatrixCost(const CallArguments& call, const CostRule&, bool) {
  const Argument *a = call.Tensor(0), *b = call.Tensor(1);
  if (a == nullptr || b == nullptr || a->sizes.size() < 2 || b->sizes.size() < 2) return {};
  const auto is_a_transposed = call.NumberOf("transposeA"), is_b_transposed = call.NumberOf("transposeB");
  if (!is_a_transposed || !is_b_transposed || call.Attribute("format") != "DEFAULT") return {};
  Argument batch[2] = {*a, *b};
  for (Argument& matrix : batch)
    matrix.sizes = matrix.sizes.first(matrix.sizes.size() - 2);
  const Argument* const batches[] = {&batch[0], &batch[1]};
  const auto broadcast = Broadcast(batches);
  const std::span<const int64_t> a_sizes = a->sizes.last(2), b_sizes = b->sizes.last(2);
  const int64_t m = a_sizes[*is_a_transposed == 0 ? 0 : 1], k = a_sizes[*is_a_transposed == 0 ? 1 : 0];
  const int64_t n = b_sizes[*is_b_transposed == 0 ? 1 : 0];
  if (!broadcast || k != b_sizes[*is_b_transposed == 0 ? 0 : 1]) return {};
  const Amount result = Elements(*broadcast) * Amount(m) * Amount(n);
  return {Amount(2) * result * Amount(k), TensorBytesBetween(call, 0, 2) + result * BytesPerElement(call, *a)};
}

// Two vectors.
OperatorCost DotCost(const CallArguments& call, const CostRule&, bool) {
  const Argument *a = call.Tensor(0), *b = call.Tensor(1);
  if (a == nullptr || b == nullptr) return {};
  const Amount elements(std::max(Elements(*a).Or(-1), Elements(*b).Or(-1)));
  return {Amount(2) * elements, TensorBytesBetween(call, 0, 2) + BytesPerElement(call, *a)};
}

constexpr CostRule kProductRules[] = {
    {"MatrixMul", MatrixCost},
    {"BatchedMatrixMul", MatrixCost},
    {"Dot", DotCost},
    {"Convolution", ConvolutionCost<true>},
    {"Convolution3D", ConvolutionCost<true>},
    {"ConvolutionBackwardData", InputGradientCost},
    {"ConvolutionBackwardDataV2", InputGradientCost},
    {"Convolution3DBackwardData", InputGradientCost},
    {"Convolution3DBackwardDataV2", InputGradientCost},
    {"ConvolutionBackwardFilter", FilterGradientCost},
    {"ConvolutionBackwardFilterV2", FilterGradientCost},
    {"Convolution3DBackwardFilter", FilterGradientCost},
    {"Convolution3DBackwardFilterV2", FilterGradientCost},
};

}  // namespace
}  // namespace megengine_operators

std::span<const CostRule> MegEngineProductRules() {
  return megengine_operators::kProductRules;
}

}  // namespace opscope
