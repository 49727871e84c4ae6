// SPDX-License-Identifier: Apache-2.0
#include "analysis/tensor_cores.h"

#include <gtest/gtest.h>

namespace opscope {
namespace {

// As the libraries of each generation name them.
TEST(TensorCores, AreUsedByKernelsWhoseNamesSaySo) {
  for (const char* name :
       {"volta_h884gemm_64x128_ldg8_nn", "volta_fp16_s884cudnn_fp16_128x128_ldg8_relu_interior_nn_v1",
        "turing_fp16_s1688cudnn_fp16_256x128_ldg8_relu_f2f_exp_small_nhwc_tn_v1",
        "ampere_fp16_s16816gemm_fp16_128x64_tn",
        "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4>(Params)",
        "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel",
        "sm80_xmma_dgrad_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32_g1_tensor16x8x8_kernel",
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_execute_segment_k_off_kernel",
        "cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_void_bf16_128x128x64_1x1x1_0_tnn_align8_epi_tma",
        "nvjet_hsh_128x256_64x4_1x2_h_bz_coopB_TNN", "turing_int8_i8816gemm_int8_128x128_ldg16_relu_tn",
        "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalI35MainloopSm90TmaGmmaWarpSpecializedE",
        "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4> >(Params)",
        "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel::Params)",
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_3", "xmma_sparse_gemm_x"})
    EXPECT_TRUE(UsesTensorCores(name)) << name;
}

TEST(TensorCores, AreNotUsedByKernelsOfOrdinaryCores) {
  for (const char* name :
       {"ampere_sgemm_128x64_nn", "volta_sgemm_32x128_nt", "cutlass_80_simt_sgemm_128x32_8x5_nn_align1",
        "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_kernel",
        "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 128, true, 1, true>(cudnnTensorStruct)",
        "fmha_cutlassF_f32_aligned_64x64_rf_sm50", "triton_poi_fused_add_0", "summary_kernel", "gemv2T_kernel_val",
        "void at::native::vectorized_elementwise_kernel<4, GammaFunctor>(int)", ""})
    EXPECT_FALSE(UsesTensorCores(name)) << name;
}

TEST(TensorCores, CanBeUsedByMatrixOperators) {
  for (const char* name : {"aten::mm", "aten::addmm", "aten::cudnn_convolution", "aten::convolution_backward",
                           "aten::_scaled_mm", "aten::_flash_attention_forward", "aten::_convolution"})
    EXPECT_TRUE(CanUseTensorCores(name)) << name;
  for (const char* name : {"aten::add", "mm", "aten::", "aten::mm_", "my::mm", ""})
    EXPECT_FALSE(CanUseTensorCores(name)) << name;
}

}  // namespace
}  // namespace opscope
