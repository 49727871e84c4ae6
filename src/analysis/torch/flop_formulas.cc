// FLOP formulas by operator name. Those of kind kTorch and kElementwise are torch.profiler's, bit for bit (computeFlops
// in torch/csrc/profiler/util.cpp); those of kind kOwn cover operators that torch leaves out, with sources given at
// each. Example: aten::mm of [2, 3] and [3, 4] is 2 * 2 * 3 * 4 = 48. Missing or unsuitable arguments give 0.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/torch/flop_formulas.h"

#include <optional>

#include "analysis/torch/flop_arguments.h"

namespace opscope {
namespace {

using Arguments = std::span<const Argument>;

// ---- products ----

// 2 M K N, times the batch. [torch/csrc/profiler/util.cpp, computeFlops]
uint64_t Product(const Argument* left, const Argument* right, bool is_batched) {
  if (!left || !right || left->sizes.empty() || right->sizes.empty()) return 0;
  const auto inner = static_cast<uint64_t>(left->sizes.back());
  const auto batch = is_batched ? static_cast<uint64_t>(left->sizes.front()) : 1;
  if (inner == 0 || batch == 0) return 0;
  return CountOf(left) / inner / batch * CountOf(right) * 2;
}

uint64_t MatrixProduct(Arguments a, const Trace&) {
  return Product(TensorAt(a, 0), TensorAt(a, 1), false);
}
uint64_t AddedMatrixProduct(Arguments a, const Trace&) {
  return TensorAt(a, 0) ? Product(TensorAt(a, 1), TensorAt(a, 2), false) : 0;
}
uint64_t BatchedProduct(Arguments a, const Trace&) {
  return Product(TensorAt(a, 0), TensorAt(a, 1), true);
}
uint64_t AddedBatchedProduct(Arguments a, const Trace&) {
  return TensorAt(a, 0) ? Product(TensorAt(a, 1), TensorAt(a, 2), true) : 0;
}

// 2 M N: each element of the matrix (the vector for a dot product) takes part once.
uint64_t TwiceFirst(Arguments a, const Trace&) {
  return 2 * CountOf(TensorAt(a, 0));
}
uint64_t TwiceSecond(Arguments a, const Trace&) {
  return 2 * CountOf(TensorAt(a, 1));
}

// x W^T: 2 (rows of x) K N. Weight is [N, K]. The bias is not counted, as in torch's addmm.
uint64_t Linear(Arguments a, const Trace&) {
  const Argument* weight = TensorAt(a, 1);
  return weight && weight->sizes.size() == 2 ? 2 * CountOf(TensorAt(a, 0)) * Size(weight, 0) : 0;
}

// oneDNN's layer of an LSTM, GRU or RNN: every time step multiplies input and state by their weights.
// input is [time, batch, features]; weights 1 and 2 are [gates * hidden, features] and [gates * hidden, hidden].
uint64_t RecurrentLayer(Arguments a, const Trace&) {
  const Argument* input = TensorAt(a, 0);
  if (!input || input->sizes.size() != 3) return 0;
  return 2 * Size(input, 0) * Size(input, 1) * (CountOf(TensorAt(a, 1)) + CountOf(TensorAt(a, 2)));
}

uint64_t Elementwise(Arguments a, const Trace&) {
  return CountOf(TensorAt(a, 0));
}

// ---- convolutions ----

// 2 N Ho Wo kh kw Cin Cout / groups. [torch/csrc/profiler/util.cpp, computeFlops]
uint64_t TorchConv2d(Arguments a, const Trace& trace) {
  const Argument* input = TensorAt(a, 0);
  const Argument* weight = TensorAt(a, 1);
  if (a.size() < 7 || !input || !weight || input->sizes.size() != 4 || weight->sizes.size() != 4) return 0;
  const auto output = ConvolutionOutput(*input, *weight, a.subspan(3, 3), trace);
  const auto groups = NumberAt(a, 6, trace);
  if (!output || !groups || *groups == 0) return 0;
  const uint64_t per_output = Size(weight, 2) * Size(weight, 3) * Size(input, 1) * Size(weight, 0);
  return 2 * Size(input, 0) * *output * per_output / static_cast<uint64_t>(*groups);
}

// Every element of the weight meets every position of the output (of a transposed one: of the input), in
// each sample: 2 N positions |W|, W being [Cout, Cin / groups, k...] or [Cin, Cout / groups, k...].
uint64_t Convolution(const Argument* input, const Argument* weight, uint64_t positions) {
  return 2 * Size(input, 0) * positions * CountOf(weight);
}

bool AreOfOneConvolution(const Argument* input, const Argument* weight) {
  return input && weight && input->sizes.size() >= 3 && input->sizes.size() == weight->sizes.size();
}

// conv1d, conv3d: input, weight, bias, stride, padding, dilation.
uint64_t PlainConvolution(Arguments a, const Trace& trace) {
  const Argument* input = TensorAt(a, 0);
  const Argument* weight = TensorAt(a, 1);
  if (a.size() < 6 || !AreOfOneConvolution(input, weight)) return 0;
  const auto output = ConvolutionOutput(*input, *weight, a.subspan(3, 3), trace);
  return output ? Convolution(input, weight, *output) : 0;
}

// conv_transpose1d, 2d, 3d.
uint64_t TransposedConvolution(Arguments a, const Trace&) {
  const Argument* input = TensorAt(a, 0);
  const Argument* weight = TensorAt(a, 1);
  return AreOfOneConvolution(input, weight) ? Convolution(input, weight, PositionsOf(*input)) : 0;
}

// convolution, _convolution: ..., transposed at 6.
uint64_t AnyConvolution(Arguments a, const Trace& trace) {
  const auto transposed = FlagAt(a, 6, trace);
  if (!transposed) return 0;
  return *transposed ? TransposedConvolution(a, trace) : PlainConvolution(a, trace);
}

// Gradients of input and weight are convolutions with as many products as the forward one; output_mask selects which
// are computed. [torch/utils/flop_counter.py, conv_backward_flop]
// grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask
uint64_t ConvolutionBackward(Arguments a, const Trace& trace) {
  const Argument* gradient = TensorAt(a, 0);
  const Argument* input = TensorAt(a, 1);
  const Argument* weight = TensorAt(a, 2);
  const auto transposed = FlagAt(a, 7, trace);
  const auto wanted = FlagsAt(a, 10, trace);
  if (!gradient || !transposed || wanted.size() != 3 || !AreOfOneConvolution(input, weight)) return 0;
  const uint64_t once = Convolution(input, weight, PositionsOf(*transposed ? *input : *gradient));
  return once * ((wanted[0] ? 1u : 0u) + (wanted[1] ? 1u : 0u));
}

// ---- attention ----

// Sizes of the three tensors query, key and value from argument `first` on: [..., rows, features].
struct AttentionSizes {
  uint64_t pairs = 0;  // batch * heads * query rows * key rows
  uint64_t query_features = 0;
  uint64_t value_features = 0;
};
std::optional<AttentionSizes> AttentionAt(Arguments a, size_t first) {
  const Argument* query = TensorAt(a, first);
  const Argument* key = TensorAt(a, first + 1);
  const Argument* value = TensorAt(a, first + 2);
  if (!query || !key || !value || query->sizes.size() < 2 || key->sizes.size() < 2 || value->sizes.empty())
    return std::nullopt;
  const auto features = static_cast<uint64_t>(query->sizes.back());
  if (features == 0) return std::nullopt;
  const uint64_t key_rows = Size(key, key->sizes.size() - 2);
  return AttentionSizes{CountOf(query) / features * key_rows, features, static_cast<uint64_t>(value->sizes.back())};
}

// Q K^T and the weighted sum of V; masks save nothing. [torch/utils/flop_counter.py, sdpa_flop_count]
uint64_t Attention(Arguments a, const Trace&) {
  const auto sizes = AttentionAt(a, 0);
  return sizes ? 2 * sizes->pairs * (sizes->query_features + sizes->value_features) : 0;
}

// Q K^T once more, then the gradients of the scores, of V, Q and K. [torch/utils/flop_counter.py,
// sdpa_backward_flop_count] The gradient of the output precedes query, key and value.
uint64_t AttentionBackward(Arguments a, const Trace&) {
  const auto sizes = AttentionAt(a, 1);
  return sizes ? 2 * sizes->pairs * (3 * sizes->query_features + 2 * sizes->value_features) : 0;
}

// ---- embeddings ----

// A look-up copies and computes nothing; its gradient adds every element of the incoming one into a row.
uint64_t NoArithmetic(Arguments, const Trace&) {
  return 0;
}
uint64_t OnePerGradientElement(Arguments a, const Trace&) {
  return CountOf(TensorAt(a, 0));
}
// Sums (or averages) rows of the weight, one per index. weight [rows, features], indices.
uint64_t EmbeddingBag(Arguments a, const Trace&) {
  const Argument* weight = TensorAt(a, 0);
  return weight && weight->sizes.size() == 2 ? CountOf(TensorAt(a, 1)) * Size(weight, 1) : 0;
}

constexpr FlopRule kRules[] = {
    {"aten::mul", FlopKind::kElementwise, Elementwise},
    {"aten::add", FlopKind::kElementwise, Elementwise},
    {"aten::conv2d", FlopKind::kTorch, TorchConv2d},
    {"aten::mm", FlopKind::kTorch, MatrixProduct},
    {"aten::addmm", FlopKind::kTorch, AddedMatrixProduct},
    {"aten::bmm", FlopKind::kTorch, BatchedProduct},
    {"aten::baddbmm", FlopKind::kTorch, AddedBatchedProduct},
    {"aten::linear", FlopKind::kOwn, Linear},
    {"aten::mkldnn_linear", FlopKind::kOwn, Linear},
    {"aten::_addmm_activation", FlopKind::kOwn, AddedMatrixProduct},
    {"aten::addbmm", FlopKind::kOwn, AddedBatchedProduct},
    {"aten::mv", FlopKind::kOwn, TwiceFirst},
    {"aten::addmv", FlopKind::kOwn, TwiceSecond},
    {"aten::addmv_", FlopKind::kOwn, TwiceSecond},
    {"aten::dot", FlopKind::kOwn, TwiceFirst},
    {"aten::vdot", FlopKind::kOwn, TwiceFirst},
    {"aten::mkldnn_rnn_layer", FlopKind::kOwn, RecurrentLayer},
    {"aten::conv1d", FlopKind::kOwn, PlainConvolution},
    {"aten::conv3d", FlopKind::kOwn, PlainConvolution},
    {"aten::conv_transpose1d", FlopKind::kOwn, TransposedConvolution},
    {"aten::conv_transpose2d", FlopKind::kOwn, TransposedConvolution},
    {"aten::conv_transpose3d", FlopKind::kOwn, TransposedConvolution},
    {"aten::convolution", FlopKind::kOwn, AnyConvolution},
    {"aten::_convolution", FlopKind::kOwn, AnyConvolution},
    {"aten::convolution_backward", FlopKind::kOwn, ConvolutionBackward},
    {"aten::scaled_dot_product_attention", FlopKind::kOwn, Attention},
    {"aten::_scaled_dot_product_flash_attention", FlopKind::kOwn, Attention},
    {"aten::_scaled_dot_product_flash_attention_for_cpu", FlopKind::kOwn, Attention},
    {"aten::_scaled_dot_product_efficient_attention", FlopKind::kOwn, Attention},
    {"aten::_scaled_dot_product_cudnn_attention", FlopKind::kOwn, Attention},
    {"aten::_scaled_dot_product_flash_attention_backward", FlopKind::kOwn, AttentionBackward},
    {"aten::_scaled_dot_product_flash_attention_for_cpu_backward", FlopKind::kOwn, AttentionBackward},
    {"aten::_scaled_dot_product_efficient_attention_backward", FlopKind::kOwn, AttentionBackward},
    {"aten::_scaled_dot_product_cudnn_attention_backward", FlopKind::kOwn, AttentionBackward},
    {"aten::embedding", FlopKind::kOwn, NoArithmetic},
    {"aten::embedding_dense_backward", FlopKind::kOwn, OnePerGradientElement},
    {"aten::_embedding_bag", FlopKind::kOwn, EmbeddingBag},
};

}  // namespace

std::span<const FlopRule> FlopRules() {
  return kRules;
}

}  // namespace opscope
