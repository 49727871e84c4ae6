// Products of matrices, convolutions, attention and the gradient of embeddings. Their FLOPs are those of
// flop_formulas.h; here are the bytes: each operand read once, each result written once. The size of the result follows
// from the FLOPs: a product with K terms per element has FLOPs / 2K elements.
//
// The formulas wrap around as torch's do. So the sizes are checked beforehand: a bound in floating point that does not
// fit into 63 bits makes the cost unknown.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "analysis/roofline/operator_cost.h"
#include "analysis/torch/flop_arguments.h"

namespace opscope {
namespace {

using ProductBytes = Amount (*)(const CallArguments& call, int64_t flops);

Amount Quotient(int64_t flops, Amount divisor) {
  return divisor.Or(0) > 0 ? Amount(flops / divisor.Or(1)) : Amount();
}

// The operands are the first kOperands arguments; the last dimension of argument kLeft is summed over.
template <size_t kLeft, size_t kOperands>
Amount MatrixBytes(const CallArguments& call, int64_t flops) {
  const Argument* left = call.Tensor(kLeft);
  if (left == nullptr || left->sizes.empty()) return {};
  const Amount written = Quotient(flops, Amount(2) * Amount(left->sizes.back()));
  return TensorBytesBetween(call, 0, kOperands) + written * BytesPerElement(call, *left);
}

// input, weight, bias: the result has one value per position and row of the weight.
Amount ConvolutionBytes(const CallArguments& call, int64_t flops) {
  const Argument *input = call.Tensor(0), *weight = call.Tensor(1);
  if (input == nullptr || weight == nullptr || weight->sizes.empty() || call.Text(6) == "True") return {};
  const Amount written = Quotient(flops, Amount(2) * Elements(*weight)) * Amount(weight->sizes[0]);
  return TensorBytesBetween(call, 0, 3) + written * BytesPerElement(call, *input);
}

// gradient, input, weight, ...: as output_mask asks for.
Amount ConvolutionBackwardBytes(const CallArguments& call, int64_t) {
  const Argument *gradient = call.Tensor(0), *input = call.Tensor(1), *weight = call.Tensor(2);
  const std::vector<bool> wanted = FlagsAt(call.list, 10, call.trace);
  if (!gradient || !input || !weight || wanted.size() != 3 || gradient->sizes.size() < 2) return {};
  const Amount bytes = BytesPerElement(call, *input);
  Amount moved = TensorBytes(call, *gradient);
  if (wanted[0]) moved = moved + TensorBytes(call, *weight) + Elements(*input) * bytes;
  if (wanted[1]) moved = moved + TensorBytes(call, *input) + Elements(*weight) * bytes;
  if (wanted[2]) moved = moved + Amount(gradient->sizes[1]) * bytes;
  return moved;
}

// A fused kernel reads query, key, value and mask, and writes the result; the scores stay on chip.
Amount AttentionBytes(const CallArguments& call, int64_t) {
  const Argument *query = call.Tensor(0), *value = call.Tensor(2);
  if (!query || !value || query->sizes.empty() || value->sizes.empty()) return {};
  const Amount rows = Elements(query->sizes.first(query->sizes.size() - 1));
  return TensorBytesBetween(call, 0, call.list.size()) +
         rows * Amount(value->sizes.back()) * BytesPerElement(call, *query);
}

// The gradient of the result, query, key, value, the result and its statistics are read; three gradients are written.
Amount AttentionBackwardBytes(const CallArguments& call, int64_t) {
  return TensorBytesBetween(call, 0, call.list.size()) + TensorBytesBetween(call, 1, 4);
}

// Each row of the gradient is read and added to a row, which is read and written.
Amount EmbeddingBackwardBytes(const CallArguments& call, int64_t) {
  const Argument *gradient = call.Tensor(0), *index = call.Tensor(1);
  if (gradient == nullptr || index == nullptr) return {};
  const Amount rows = Elements(*gradient) * BytesPerElement(call, *gradient);
  return TensorBytes(call, *gradient) + rows + rows + TensorBytes(call, *index);
}

struct NamedBytes {
  std::string_view op;  // without "aten::"
  ProductBytes bytes;
};

constexpr NamedBytes kBytes[] = {
    {"mm", MatrixBytes<0, 2>},
    {"bmm", MatrixBytes<0, 2>},
    {"mv", MatrixBytes<0, 2>},
    {"dot", MatrixBytes<0, 2>},
    {"vdot", MatrixBytes<0, 2>},
    {"addmm", MatrixBytes<1, 3>},
    {"_addmm_activation", MatrixBytes<1, 3>},
    {"baddbmm", MatrixBytes<1, 3>},
    {"addmv", MatrixBytes<1, 3>},
    {"addmv_", MatrixBytes<1, 3>},
    {"linear", MatrixBytes<0, 3>},
    {"mkldnn_linear", MatrixBytes<0, 3>},
    {"conv1d", ConvolutionBytes},
    {"conv2d", ConvolutionBytes},
    {"conv3d", ConvolutionBytes},
    {"convolution", ConvolutionBytes},
    {"_convolution", ConvolutionBytes},
    {"convolution_backward", ConvolutionBackwardBytes},
    {"scaled_dot_product_attention", AttentionBytes},
    {"_scaled_dot_product_flash_attention", AttentionBytes},
    {"_scaled_dot_product_flash_attention_for_cpu", AttentionBytes},
    {"_scaled_dot_product_efficient_attention", AttentionBytes},
    {"_scaled_dot_product_cudnn_attention", AttentionBytes},
    {"_scaled_dot_product_flash_attention_backward", AttentionBackwardBytes},
    {"_scaled_dot_product_flash_attention_for_cpu_backward", AttentionBackwardBytes},
    {"_scaled_dot_product_efficient_attention_backward", AttentionBackwardBytes},
    {"_scaled_dot_product_cudnn_attention_backward", AttentionBackwardBytes},
    {"embedding_dense_backward", EmbeddingBackwardBytes},
};

constexpr double kLimit = 4e18;  // below 2^62

// An upper bound of what a formula computes on the way: two tensors meet in at least one dimension, so that the product
// has at most as many terms as one tensor times the size of a dimension of the other.
double LargestProduct(const CallArguments& call) {
  double elements = 1, size = 1;
  for (size_t i = 0; i < call.list.size(); ++i) {
    const Argument* tensor = call.Tensor(i);
    if (tensor == nullptr) continue;
    double product = 1;
    for (const int64_t extent : tensor->sizes) {
      if (extent < 0) return 2 * kLimit;
      product *= std::max(1.0, static_cast<double>(extent));
      size = std::max(size, static_cast<double>(extent));
    }
    elements = std::max(elements, product);
  }
  return 16 * elements * size;
}

// The bound for a convolution, where every position, padding included, meets all elements of the weight; likewise for a
// recurrent layer.
double LargestConvolution(const CallArguments& call) {
  double padding = 0, product = 4;
  for (size_t i = 3; i < call.list.size(); ++i) {
    const auto numbers = NumbersOf(call.Text(i));
    if (!numbers) continue;
    for (const int64_t number : *numbers) {
      if (number < 0) return 2 * kLimit;
      padding = std::max(padding, static_cast<double>(number));
    }
  }
  const size_t first = call.Tensor(2) != nullptr && call.Tensor(2)->sizes.size() > 1 ? 1 : 0;
  for (size_t i = first; i < first + 2; ++i) {
    const Argument* tensor = call.Tensor(i);
    if (tensor == nullptr) return 2 * kLimit;
    for (size_t d = 0; d < tensor->sizes.size(); ++d) {
      if (tensor->sizes[d] < 0) return 2 * kLimit;
      const bool is_position = i == first && d >= 2;
      product *= std::max(1.0, static_cast<double>(tensor->sizes[d]) + (is_position ? 2 * padding : 0));
    }
  }
  return product;
}

bool HasEmptyTensor(const CallArguments& call) {
  for (size_t i = 0; i < std::min<size_t>(call.list.size(), 3); ++i) {
    const Argument* tensor = call.Tensor(i);
    if (tensor != nullptr && Elements(*tensor).Or(1) == 0) return true;
  }
  return false;
}

}  // namespace

OperatorCost ProductCost(std::string_view op, const FlopRule& rule, const CallArguments& call) {
  const bool is_convolution = op.find("conv") != std::string_view::npos || op.find("rnn") != std::string_view::npos;
  if ((is_convolution ? LargestConvolution(call) : LargestProduct(call)) >= kLimit) return {};
  const auto flops = static_cast<int64_t>(rule.formula(call.list, call.trace));
  // 0 says that the arguments are not as needed, unless there is nothing to compute.
  if (flops < 0 || (flops == 0 && !HasEmptyTensor(call))) return {};
  const auto* found =
      std::find_if(std::begin(kBytes), std::end(kBytes), [&](const NamedBytes& named) { return named.op == op; });
  return {Amount(flops), found == std::end(kBytes) ? Amount() : found->bytes(call, flops)};
}

}  // namespace opscope
