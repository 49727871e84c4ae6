// Kernels of real traces: what Kineto, which asks NVIDIA's calculator, says of them.
// SPDX-License-Identifier: Apache-2.0
#include "import/cuda/occupancy.h"

#include <gtest/gtest.h>

namespace opscope {
namespace {

constexpr CudaDeviceDetails kA100 = {.compute_major = 8,
                                     .threads_per_block = 1024,
                                     .threads_per_sm = 2048,
                                     .warp_size = 32,
                                     .sms = 108,
                                     .registers_per_block = 65536,
                                     .registers_per_sm = 65536,
                                     .shared_per_block = 49152,
                                     .shared_per_sm = 167936};
constexpr CudaDeviceDetails kV100 = {.compute_major = 7,
                                     .threads_per_block = 1024,
                                     .threads_per_sm = 2048,
                                     .warp_size = 32,
                                     .sms = 80,
                                     .registers_per_block = 65536,
                                     .registers_per_sm = 65536,
                                     .shared_per_block = 49152,
                                     .shared_per_sm = 98304};

TEST(Occupancy, IsWhatKinetoSaysOfKernelsOnAnA100) {
  EXPECT_EQ(
      OccupancyPercent(kA100, {.grid = {8, 16, 5}, .block = {128, 1, 1}, .static_shared = 12544, .registers = 122}),
      25);
  EXPECT_EQ(OccupancyPercent(kA100, {.grid = {512, 1, 1}, .block = {512, 1, 1}, .static_shared = 400, .registers = 40}),
            75);
  EXPECT_EQ(OccupancyPercent(kA100, {.grid = {12, 1, 1}, .block = {256, 1, 1}, .registers = 16}), 1);
  EXPECT_EQ(OccupancyPercent(kA100, {.grid = {1, 1, 1}, .block = {128, 1, 1}, .registers = 16}), 0);
  EXPECT_EQ(
      OccupancyPercent(kA100, {.grid = {2, 169, 1}, .block = {128, 1, 1}, .dynamic_shared = 67584, .registers = 252}),
      0)
      << "more shared memory than a block has by default";
}

TEST(Occupancy, IsRoundedAsFloatsAre) {
  EXPECT_EQ(
      OccupancyPercent(kV100, {.grid = {4, 3, 12}, .block = {256, 1, 1}, .static_shared = 16384, .registers = 57}), 22);
  EXPECT_EQ(OccupancyPercent(kV100, {.grid = {8, 7, 1}, .block = {32, 16, 1}, .registers = 40}), 17);
  EXPECT_EQ(
      OccupancyPercent(kV100, {.grid = {13, 8, 2}, .block = {256, 1, 1}, .static_shared = 16384, .registers = 57}), 32);
}

TEST(Occupancy, IsNoneOfAnUnknownDevice) {
  EXPECT_EQ(OccupancyPercent({}, {.grid = {1, 1, 1}, .block = {128, 1, 1}, .registers = 16}), 0);
  EXPECT_EQ(ActiveBlocksPerSm({}, {}), 0u);
  EXPECT_EQ(BlocksPerSm({}, {.grid = {8, 1, 1}}), 0);
  EXPECT_EQ(WarpsPerSm({}, {.grid = {8, 1, 1}, .block = {128, 1, 1}}), 0);
}

// A damaged record may claim nearly 2^64 threads per block; rounding up to whole warps would wrap around to 0 warps.
TEST(Occupancy, IsNoneOfABlockOfTooManyThreads) {
  const CudaKernelDetails kernel = {.grid = {1, 1, 1}, .block = {4294967295u, 641, 6700417}, .registers = 1};
  EXPECT_EQ(ThreadsPerBlock(kernel), ~uint64_t{0});
  EXPECT_EQ(ActiveBlocksPerSm(kA100, kernel), 0u);
}

}  // namespace
}  // namespace opscope
