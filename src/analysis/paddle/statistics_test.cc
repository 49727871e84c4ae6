// That the statistics are Paddle's own is shown by src/report/paddle/table_golden_test.cc.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/paddle/statistics.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "trace/builder.h"

namespace opscope {
namespace {

// An operator that launches a kernel on each device and allocates there.
TEST(PaddleStatistics, FindDevicesAndPlacesInLinearTime) {
  constexpr int32_t kDevices = 40'000;
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  const TrackId thread = builder.AddTrack({.process = process, .tid = 1});
  builder.AddSpan({.start = {0},
                   .duration = {10 * kDevices},
                   .name = builder.Intern("relu"),
                   .category = builder.Intern("Operator"),
                   .track = thread});
  for (int32_t device = 0; device < kDevices; ++device) {
    const auto correlation = static_cast<uint32_t>(device) + 1;
    const int64_t start = 10 * device + 1;
    builder.AddSpan({.start = {start},
                     .duration = {1},
                     .name = builder.Intern("cudaLaunchKernel"),
                     .category = builder.Intern("CudaRuntime"),
                     .track = thread,
                     .correlation = correlation});
    const TrackId stream =
        builder.AddTrack({.process = process, .kind = TrackKind::kDeviceStream, .tid = 7, .device = device});
    builder.AddSpan({.start = {start + 2},
                     .duration = {3},
                     .name = builder.Intern("relu_kernel"),
                     .category = builder.Intern("Kernel"),
                     .track = stream,
                     .correlation = correlation});
    builder.AddAllocation({.time = {start}, .track = thread, .bytes = 64, .device_type = 1, .device = device});
  }
  const Trace trace = builder.Build();
  const PaddleStatistics statistics = ComputePaddleStatistics(trace, BuildPaddleNodeTrees(trace));
  ASSERT_EQ(statistics.devices.size(), size_t{kDevices});
  ASSERT_EQ(statistics.memory.size(), size_t{kDevices});
  for (int32_t device = 0; device < kDevices; ++device) {
    const auto row = static_cast<size_t>(device);
    ASSERT_EQ(statistics.devices[row].device, row);
    ASSERT_EQ(statistics.devices[row].kernels, 3);
    ASSERT_EQ(statistics.memory[row].place, "Place(gpu:" + std::to_string(device) + ")");
  }
}

}  // namespace
}  // namespace opscope
