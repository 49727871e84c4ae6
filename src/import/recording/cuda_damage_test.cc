// Damaged and hostile records of the CUDA source: each becomes what its event says, or a counted problem.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "import/recording/cuda_window_for_test.h"

namespace opscope {
namespace {

TEST(DamagedRecordingOfCuda, TakesHostileRecordsThatShareDetailsForWhatTheirEventsSay) {
  CudaWindow window;
  window.Call("cudaLaunchKernel_v7000", 1100, 1110, 1);
  window.WithLastDetails(CudaEvent::kKernel, 1120, 10, 1);
  window.WithLastDetails(CudaEvent::kSet, 1140, 10, 1);
  const Trace trace = window.Import();
  std::vector<std::string> categories;
  for (size_t i = 0; i < trace.spans().size(); ++i)
    categories.emplace_back(trace.text(trace.spans().category[i]));
  EXPECT_THAT(categories, testing::UnorderedElementsAre("cuda_runtime", "kernel", "gpu_memset"));
}

TEST(DamagedRecordingOfCuda, CountsLengthsThatNoSpanHas) {
  CudaWindow window;
  window.Call("cudaLaunchKernel_v7000", 1100, 1090, 1);
  window.Kernel("_Z3addPf", 1120, 1110, 1);
  const Trace trace = window.Import();
  EXPECT_EQ(trace.spans().size(), 2u);
  for (const Duration duration : trace.spans().duration)
    EXPECT_EQ(duration.ns, 0);
  EXPECT_EQ(CountOf(trace, "negative_duration"), 2u);
}

}  // namespace
}  // namespace opscope
