// Two tables of name pieces, and their origin.
//
// Kernels: the name contains one of these pieces, in any case, and none of the pieces of kernels for ordinary CUDA
// cores.
//
//   884, 1688, 16816, ..   the size m x n x k of one instruction after the letter of its accumulator type (h half,
//                          s single, d double, i integer, c complex): "volta_h884gemm", "ampere_fp16_s16816gemm", as
//                          cuBLAS, cuDNN and CUTLASS name their kernels (CUTLASS, media/docs/profiler.md)
//   tensorop, tensor16x8x8 "cutlass_80_tensorop_s1688gemm_..", "sm80_xmma_gemm_.._tensor16x8x16_.."
//   hmma, imma, dmma, bmma, qmma, wgmma, gmma, tcgen05
//                          the instructions' names in the machine code of each generation, and CuTe's names for them
//   nvjet                  cuBLAS's family for Hopper and Blackwell
//   xmma_..                cuDNN's and TensorRT's families; those for ordinary cores have "ffma" or "simt" in them, too
//   flash_fwd, fmha_cutlassF_f16, native_sdpa
//                          FlashAttention's, xFormers' and cuDNN's attention in half precision, which use tensor core
//                          instructions only
//   dgrad_1x1_stride_2x2 and the four after it
//                          cuDNN's kernels for Volta and Turing, whose names give no hint
//
// PyProf (NVIDIA, pyprof/prof/tc.py), TensorFlow's kernel statistics, TensorBoard's plug-in for PyTorch and Paddle's
// summary count by such a list, and agree on most of this one; they know no wgmma, nvjet or attention. Rejected:
// patterns for "gemm" and "conv", which ordinary cores' kernels have, too ("ampere_sgemm_128x64_nn").
//
// Operators: those that torch's autocast runs in half precision on CUDA (aten/src/ATen/autocast_mode.h,
// AT_FORALL_LOWER_PRECISION_FP), which TensorBoard's plug-in takes, too, with what they call and what their backward
// functions call.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/tensor_cores.h"

#include <algorithm>
#include <span>
#include <string>

namespace opscope {
namespace {

constexpr std::string_view kOfTensorCores[] = {
    // Shapes of instructions.
    "h884", "s884", "d884", "h1688", "s1688", "c1688", "z1688", "d1688", "16816", "i8816", "i16832", "i8832", "i16864",
    // Names of instructions and of what issues them.
    "tensorop", "tensor8x8x", "tensor16x8x", "hmma", "imma_", "dmma", "bmma", "qmma", "gmma", "umma::", "sm100_mma",
    "tcgen05",
    // Families.
    "nvjet", "xmma_gemm", "xmma_implicit_gemm", "xmma_sparse_gemm", "xmma_sparse_conv",
    "xmma_warp_specialized_implicit_gemm", "flash_fwd", "flash_bwd", "fmha_cutlassf_f16", "fmha_cutlassf_bf16",
    "fmha_cutlassb_f16", "fmha_cutlassb_bf16", "native_sdpa",
    // cuDNN's older ones.
    "dgrad_1x1_stride_2x2", "first_layer_wgrad_kernel", "conv1x1", "conv2d_c1_k1", "direct_group"};

constexpr std::string_view kOfOrdinaryCores[] = {"simt", "ffma"};

constexpr std::string_view kMatrixOperators[] = {
    // Sorted. Those that begin with an underscore.
    "_convolution", "_convolution_double_backward", "_cudnn_rnn", "_cudnn_rnn_backward",
    "_efficient_attention_backward", "_efficient_attention_forward", "_flash_attention_backward",
    "_flash_attention_forward", "_grouped_mm", "_scaled_dot_product_cudnn_attention",
    "_scaled_dot_product_cudnn_attention_backward", "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_efficient_attention_backward", "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_flash_attention_backward", "_scaled_grouped_mm", "_scaled_mm", "_thnn_fused_gru_cell",
    "_thnn_fused_lstm_cell",
    // The others.
    "addbmm", "addmm", "addmm_", "addmv", "addr", "baddbmm", "baddbmm_", "bmm", "chain_matmul", "conv1d", "conv2d",
    "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolution",
    "convolution_backward", "cudnn_convolution", "cudnn_convolution_add_relu", "cudnn_convolution_backward",
    "cudnn_convolution_backward_input", "cudnn_convolution_backward_weight", "cudnn_convolution_relu",
    "cudnn_convolution_transpose", "cudnn_convolution_transpose_backward", "cudnn_convolution_transpose_backward_input",
    "cudnn_convolution_transpose_backward_weight", "einsum", "gru_cell", "linalg_multi_dot", "linalg_vecdot", "linear",
    "lstm_cell", "matmul", "mm", "mv", "prelu", "rnn_relu_cell", "rnn_tanh_cell", "scaled_dot_product_attention"};
static_assert(std::ranges::is_sorted(kMatrixOperators));

bool HasOneOf(std::string_view text, std::span<const std::string_view> pieces) {
  return std::ranges::any_of(pieces, [&](std::string_view piece) { return text.find(piece) != text.npos; });
}

}  // namespace

bool UsesTensorCores(std::string_view kernel) {
  std::string lower(kernel);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return HasOneOf(lower, kOfTensorCores) && !HasOneOf(lower, kOfOrdinaryCores);
}

bool CanUseTensorCores(std::string_view name) {
  constexpr std::string_view kNamespace = "aten::";
  return name.starts_with(kNamespace) && std::ranges::binary_search(kMatrixOperators, name.substr(kNamespace.size()));
}

}  // namespace opscope
