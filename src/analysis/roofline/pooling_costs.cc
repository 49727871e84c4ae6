// Pooling. Each element of the result is one window of the input; a window of k elements costs k comparisons or k
// additions and one division. As in convolutions, positions of the padding count. max_pool2d of float [1, 1, 4, 4] with
// windows of 2 x 2 has 4 windows, 16 comparisons, and moves 4 (16 + 4) bytes and 8 per index, 112 bytes.
//
// Sizes of results are those of pooling_output_shape (torch, aten/src/ATen/native/Pool.h), windows of adaptive pooling
// those of start_index and end_index (AdaptivePooling.h).
// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <optional>
#include <vector>

#include "analysis/roofline/operator_cost.h"
#include "analysis/torch/flop_arguments.h"

namespace opscope {
namespace {

constexpr int64_t kMaxPoolingNumber = int64_t{1} << 32;  // sums and products of two of them fit

// One number per dimension of the window; nullopt: not recorded, or no such numbers.
std::optional<std::vector<int64_t>> PoolingNumbers(const CallArguments& call, size_t at, size_t dimensions) {
  std::optional<std::vector<int64_t>> numbers = NumbersOf(call.Text(at));
  if (!numbers) return std::nullopt;
  if (numbers->size() == 1) numbers->resize(dimensions, numbers->front());
  if (numbers->size() != dimensions) return std::nullopt;
  for (const int64_t number : *numbers)
    if (number < 0 || number > kMaxPoolingNumber) return std::nullopt;
  return numbers;
}

// "max_pool2d_with_indices" has 2 dimensions.
size_t DimensionsOfPooling(std::string_view op) {
  const size_t pool = op.find("pool");
  return pool + 4 < op.size() ? static_cast<size_t>(op[pool + 4] - '0') : 0;
}

// Elements of all dimensions before the window's; unknown if there are not enough.
Amount PoolingPlanes(const Argument& input, size_t dimensions) {
  if (input.sizes.size() < dimensions + 1) return {};
  return Elements(input.sizes.first(input.sizes.size() - dimensions));
}

int64_t SizeInWindowDimension(const Argument& input, size_t dimensions, size_t d) {
  return input.sizes[input.sizes.size() - dimensions + d];
}

struct PoolingWindows {
  Amount windows, elements;  // of all planes: number of windows, and elements in a window
};

// Arguments from `at` on: kernel, stride, padding, then dilation if `has_dilation`, then ceil_mode.
PoolingWindows WindowsOf(const CallArguments& call, const Argument& input, size_t dimensions, size_t at,
                         bool has_dilation) {
  const auto kernel = PoolingNumbers(call, at, dimensions), padding = PoolingNumbers(call, at + 2, dimensions);
  const std::optional<bool> ceil_mode = FlagAt(call.list, at + (has_dilation ? 4 : 3), call.trace);
  const auto dilation = has_dilation ? PoolingNumbers(call, at + 3, dimensions) : std::vector<int64_t>(dimensions, 1);
  const auto stride = call.Text(at + 1) == "[]" ? kernel : PoolingNumbers(call, at + 1, dimensions);
  Amount windows = PoolingPlanes(input, dimensions), elements(1);
  if (!kernel || !stride || !padding || !dilation || !ceil_mode || !windows.is_known()) return {};
  for (size_t d = 0; d < dimensions; ++d) {
    const int64_t size = SizeInWindowDimension(input, dimensions, d), step = (*stride)[d];
    if (step == 0 || size < 0 || size > kMaxPoolingNumber || (*dilation)[d] > (1 << 20) || (*kernel)[d] > (1 << 20))
      return {};
    const int64_t room = size + 2 * (*padding)[d] - (*dilation)[d] * ((*kernel)[d] - 1) - 1;
    if (room < 0) return {};
    int64_t count = (room + (*ceil_mode ? step - 1 : 0)) / step + 1;
    if (*ceil_mode && (count - 1) * step >= size + (*padding)[d]) --count;
    windows = windows * Amount(count);
    elements = elements * Amount((*kernel)[d]);
  }
  return {windows, elements};
}

// Input, kernel, stride, padding, dilation, ceil_mode: the values and their indices.
OperatorCost MaxPoolCost(const CallArguments& call, const CostRule& rule, bool) {
  const Argument* input = call.Tensor(0);
  if (input == nullptr) return {};
  const PoolingWindows found = WindowsOf(call, *input, DimensionsOfPooling(rule.op), 1, true);
  return {found.windows * found.elements,
          TensorBytes(call, *input) + found.windows * (BytesPerElement(call, *input) + Amount(8))};
}

// Gradient, input, window, indices: each gradient is added to the place of its maximum.
OperatorCost MaxPoolBackwardCost(const CallArguments& call, const CostRule&, bool) {
  const Argument *gradient = call.Tensor(0), *input = call.Tensor(1);
  if (gradient == nullptr || input == nullptr) return {};
  const Amount indices = Elements(*gradient) * Amount(8);
  return {Elements(*gradient), TensorBytes(call, *gradient) + indices + TensorBytes(call, *input)};
}

// Input, kernel, stride, padding, ceil_mode.
OperatorCost AveragePoolCost(const CallArguments& call, const CostRule& rule, bool) {
  const Argument* input = call.Tensor(0);
  if (input == nullptr) return {};
  const PoolingWindows found = WindowsOf(call, *input, DimensionsOfPooling(rule.op), 1, false);
  return {found.windows * (found.elements + Amount(1)),
          TensorBytes(call, *input) + found.windows * BytesPerElement(call, *input)};
}

// Gradient, input, kernel: a division per gradient, and an addition to each element of its window.
OperatorCost AveragePoolBackwardCost(const CallArguments& call, const CostRule& rule, bool) {
  const Argument *gradient = call.Tensor(0), *input = call.Tensor(1);
  if (gradient == nullptr || input == nullptr) return {};
  const auto kernel = PoolingNumbers(call, 2, DimensionsOfPooling(rule.op));
  Amount elements = kernel ? Amount(1) : Amount();
  for (size_t d = 0; kernel && d < kernel->size(); ++d)
    elements = elements * Amount((*kernel)[d]);
  return {Elements(*gradient) * (elements + Amount(1)), TensorBytes(call, *gradient) + TensorBytes(call, *input)};
}

// Windows of adaptive pooling begin at floor(i size / count) and end at ceil((i + 1) size / count); of one dimension
// the sum of their lengths. Two windows share an element at each of the count - 1 inner boundaries i size / count that
// is no whole number, and gcd(size, count) - 1 of them are whole. 5 elements in 2 windows are [0, 3) and [2, 5), 6 = 5
// + 2 - 1.
Amount AdaptiveLengths(int64_t size, int64_t count) {
  if (size < 0 || size > kMaxPoolingNumber || count < 0 || count > kMaxPoolingNumber) return {};
  return Amount(size + count - std::gcd(size, count));
}

struct AdaptiveWindows {
  Amount windows, lengths;
};

AdaptiveWindows AdaptiveWindowsOf(const Argument& input, std::span<const int64_t> counts) {
  AdaptiveWindows found;
  found.windows = found.lengths = PoolingPlanes(input, counts.size());
  if (!found.windows.is_known()) return {};
  for (size_t d = 0; d < counts.size(); ++d) {
    found.windows = found.windows * Amount(counts[d]);
    found.lengths = found.lengths * AdaptiveLengths(SizeInWindowDimension(input, counts.size(), d), counts[d]);
  }
  return found;
}

// Input, sizes of the result. `per_element`: operations per window besides those per element in it.
OperatorCost AdaptivePoolCost(const CallArguments& call, const CostRule& rule, bool) {
  const Argument* input = call.Tensor(0);
  const auto counts = PoolingNumbers(call, 1, DimensionsOfPooling(rule.op));
  if (input == nullptr || !counts) return {};
  const AdaptiveWindows found = AdaptiveWindowsOf(*input, *counts);
  const Amount index(rule.result == ResultType::kIndex ? 8 : 0);
  return {found.lengths + found.windows * Amount(rule.per_element),
          TensorBytes(call, *input) + found.windows * (BytesPerElement(call, *input) + index)};
}

// Gradient, input.
OperatorCost AdaptiveAveragePoolBackwardCost(const CallArguments& call, const CostRule& rule, bool) {
  const Argument *gradient = call.Tensor(0), *input = call.Tensor(1);
  const size_t dimensions = DimensionsOfPooling(rule.op);
  if (gradient == nullptr || input == nullptr || gradient->sizes.size() < dimensions) return {};
  const AdaptiveWindows found = AdaptiveWindowsOf(*input, gradient->sizes.last(dimensions));
  return {found.lengths + found.windows, TensorBytes(call, *gradient) + TensorBytes(call, *input)};
}

constexpr CostRule kPoolingRules[] = {
    {"max_pool2d_with_indices", MaxPoolCost},
    {"max_pool3d_with_indices", MaxPoolCost},
    {"max_pool2d_with_indices_backward", MaxPoolBackwardCost},
    {"max_pool3d_with_indices_backward", MaxPoolBackwardCost},
    {"avg_pool2d", AveragePoolCost},
    {"avg_pool3d", AveragePoolCost},
    {"avg_pool2d_backward", AveragePoolBackwardCost},
    {"avg_pool3d_backward", AveragePoolBackwardCost},
    {"_adaptive_avg_pool2d", AdaptivePoolCost},
    {"_adaptive_avg_pool3d", AdaptivePoolCost},
    {"_adaptive_avg_pool2d_backward", AdaptiveAveragePoolBackwardCost},
    {"_adaptive_avg_pool3d_backward", AdaptiveAveragePoolBackwardCost},
    {"adaptive_max_pool2d", AdaptivePoolCost, 1, 0, ResultType::kIndex},
    {"adaptive_max_pool3d", AdaptivePoolCost, 1, 0, ResultType::kIndex},
    {"adaptive_max_pool2d_backward", MaxPoolBackwardCost},
    {"adaptive_max_pool3d_backward", MaxPoolBackwardCost},
};

}  // namespace

std::span<const CostRule> PoolingRules() {
  return kPoolingRules;
}

}  // namespace opscope
