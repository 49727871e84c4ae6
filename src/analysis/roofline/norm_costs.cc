// Normalizations: layer, group, batch and root mean square. Operations per element of the input, x being the input, r
// the reciprocal deviation, y = (x - mean) r:
//
//   forward   sum 1, subtract 1, square and sum 2, scale by r 1; weight 1; bias 1
//   backward  y 2; of the bias 1; of the weight 2; of the input 7 (two sums 3, the difference 4), weight 1
//
// Statistics (mean and r per row) are of the type of the input in this count; what lies in caches is not known.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/norm_cost.h"
#include "analysis/torch/flop_arguments.h"

namespace opscope {
namespace {

const Argument* At(const CallArguments& call, int position) {
  return position < 0 ? nullptr : call.Tensor(static_cast<size_t>(position));
}

// Two numbers per normalized row: statistics of `rows`.
Amount StatisticsBytes(const CallArguments& call, const Argument& input, Amount rows) {
  return Amount(2) * rows * BytesPerElement(call, input);
}

}  // namespace

OperatorCost NormForward(const CallArguments& call, const NormLayout& at, Amount rows) {
  const Argument *input = At(call, at.input), *weight = At(call, at.weight), *bias = At(call, at.bias);
  if (input == nullptr) return {};
  const int64_t per_element = 5 + (weight ? 1 : 0) + (bias ? 1 : 0);
  const Amount elements = Elements(*input), bytes = BytesPerElement(call, *input);
  return {elements * Amount(per_element), TensorBytes(call, *input) + TensorBytes(call, weight) +
                                              TensorBytes(call, bias) + elements * bytes +
                                              StatisticsBytes(call, *input, rows)};
}

OperatorCost NormBackward(const CallArguments& call, const NormLayout& at, Amount rows,
                          const std::vector<bool>& wanted) {
  const Argument *gradient = At(call, at.gradient), *input = At(call, at.input), *weight = At(call, at.weight);
  if (gradient == nullptr || input == nullptr || wanted.size() != 3) return {};
  const int64_t per_element = 2 + (wanted[0] ? 7 + (weight ? 1 : 0) : 0) + (wanted[1] ? 2 : 0) + (wanted[2] ? 1 : 0);
  const Amount elements = Elements(*input), bytes = BytesPerElement(call, *input);
  Amount moved = TensorBytes(call, *gradient) + TensorBytes(call, *input) + TensorBytes(call, weight) +
                 StatisticsBytes(call, *input, rows);
  if (wanted[0]) moved = moved + elements * bytes;
  if (wanted[1]) moved = moved + TensorBytes(call, weight);
  if (wanted[2]) moved = moved + TensorBytes(call, weight);  // the bias is as large
  return {elements * Amount(per_element), moved};
}

namespace {

// Rows of a layer norm: the elements without the last dimensions, as many as normalized_shape has.
Amount LayerNormRows(const CallArguments& call, const Argument& input, size_t shape_at) {
  const auto shape = NumbersOf(call.Text(shape_at));
  if (!shape || shape->empty() || shape->size() > input.sizes.size()) return {};
  return Elements(input.sizes.first(input.sizes.size() - shape->size()));
}

// Channels of a batch norm.
Amount Channels(const Argument& input) {
  return input.sizes.size() < 2 ? Amount() : Amount(input.sizes[1]);
}

// input, normalized_shape, weight, bias, eps
OperatorCost LayerNormCost(const CallArguments& call, const CostRule&, bool) {
  const Argument* input = call.Tensor(0);
  return input ? NormForward(call, {.weight = 2, .bias = 3}, LayerNormRows(call, *input, 1)) : OperatorCost();
}

// grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask
OperatorCost LayerNormBackwardCost(const CallArguments& call, const CostRule&, bool) {
  const Argument* input = call.Tensor(1);
  if (input == nullptr) return {};
  return NormBackward(call, {.gradient = 0, .input = 1, .weight = 5}, LayerNormRows(call, *input, 2),
                      FlagsAt(call.list, 7, call.trace));
}

// input, weight, bias, N, C, HxW, groups, eps
OperatorCost GroupNormCost(const CallArguments& call, const CostRule&, bool) {
  const auto samples = NumberAt(call.list, 3, call.trace), groups = NumberAt(call.list, 6, call.trace);
  if (!samples || !groups) return {};
  return NormForward(call, {}, Amount(*samples) * Amount(*groups));
}

// grad_out, input, mean, rstd, weight, N, C, HxW, groups, output_mask
OperatorCost GroupNormBackwardCost(const CallArguments& call, const CostRule&, bool) {
  const auto samples = NumberAt(call.list, 5, call.trace), groups = NumberAt(call.list, 8, call.trace);
  if (!samples || !groups) return {};
  return NormBackward(call, {.gradient = 0, .input = 1, .weight = 4}, Amount(*samples) * Amount(*groups),
                      FlagsAt(call.list, 9, call.trace));
}

// input, weight, bias, running_mean, running_var, training, ...: outside of training two operations per element.
OperatorCost BatchNormCost(const CallArguments& call, const CostRule&, bool) {
  const Argument* input = call.Tensor(0);
  const auto training = FlagAt(call.list, 5, call.trace);
  if (input == nullptr || !training) return {};
  OperatorCost cost = NormForward(call, {}, Channels(*input));
  if (!*training) cost.flops = Elements(*input) * Amount(2);
  return cost;
}

// grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask
OperatorCost BatchNormBackwardCost(const CallArguments& call, const CostRule&, bool) {
  const Argument* input = call.Tensor(1);
  return input ? NormBackward(call, {.gradient = 0, .input = 1, .weight = 2}, Channels(*input),
                              FlagsAt(call.list, 9, call.trace))
               : OperatorCost();
}

// input, grad_output, weight, running_mean, running_var, save_mean, save_var, epsilon, reserve
OperatorCost CudnnBatchNormBackwardCost(const CallArguments& call, const CostRule&, bool) {
  const Argument* input = call.Tensor(0);
  return input ? NormBackward(call, {.gradient = 1, .input = 0, .weight = 2}, Channels(*input)) : OperatorCost();
}

// input, normalized_shape, weight, eps: square and sum 2, scale 1; weight 1; one statistic per row.
OperatorCost RmsNormCost(const CallArguments& call, const CostRule&, bool) {
  const Argument *input = call.Tensor(0), *weight = call.Tensor(2);
  if (input == nullptr) return {};
  const Amount elements = Elements(*input), bytes = BytesPerElement(call, *input);
  return {elements * Amount(3 + (weight ? 1 : 0)),
          TensorBytes(call, *input) + TensorBytes(call, weight) + (elements + LayerNormRows(call, *input, 1)) * bytes};
}

constexpr CostRule kNormRules[] = {
    {"native_layer_norm", LayerNormCost},
    {"native_layer_norm_backward", LayerNormBackwardCost},
    {"native_group_norm", GroupNormCost},
    {"native_group_norm_backward", GroupNormBackwardCost},
    {"native_batch_norm", BatchNormCost},
    {"cudnn_batch_norm", BatchNormCost},
    {"native_batch_norm_backward", BatchNormBackwardCost},
    {"cudnn_batch_norm_backward", CudnnBatchNormBackwardCost},
    {"_fused_rms_norm", RmsNormCost, 1, 1, ResultType::kPromoted, 1, true},
};

}  // namespace

std::span<const CostRule> NormRules() {
  return kNormRules;
}

}  // namespace opscope
