// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/device_kernels.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace opscope {
namespace {

class DeviceKernels : public testing::Test {
 protected:
  TrackId Stream(int32_t device, int64_t tid) {
    return builder_.AddTrack({.process = builder_.AddProcess({.pid = device}),
                              .kind = TrackKind::kDeviceStream,
                              .tid = tid,
                              .device = device});
  }
  void Kernel(TrackId stream, const char* name, int64_t start, int64_t duration, const char* members = "",
              uint32_t correlation = 0) {
    builder_.AddSpan({.start = {start},
                      .duration = {duration},
                      .name = builder_.Intern(name),
                      .category = builder_.Intern("kernel"),
                      .track = stream,
                      .correlation = correlation,
                      .extra = builder_.Intern(members)});
  }
  // An operator around a call of this correlation.
  void Operator(const char* name, int64_t start, uint32_t correlation) {
    if (thread_ == TrackId::kNone)
      thread_ = builder_.AddTrack({.process = builder_.AddProcess({.pid = 9}), .kind = TrackKind::kThread, .tid = 1});
    builder_.AddSpan({.start = {start},
                      .duration = {10},
                      .name = builder_.Intern(name),
                      .category = builder_.Intern("cpu_op"),
                      .track = thread_});
    builder_.AddSpan({.start = {start + 2},
                      .duration = {2},
                      .name = builder_.Intern("cudaLaunchKernel"),
                      .category = builder_.Intern("cuda_runtime"),
                      .track = thread_,
                      .correlation = correlation});
  }

  TraceBuilder builder_;
  TrackId thread_ = TrackId::kNone;
};

TEST_F(DeviceKernels, AreSummedByDeviceAndName) {
  const TrackId first = Stream(0, 7), second = Stream(1, 7);
  Kernel(first, "add", 0, 10);
  Kernel(first, "add", 20, 30);
  Kernel(first, "mul", 60, 60);
  Kernel(second, "add", 0, 5);
  builder_.AddSpan({.start = {200},
                    .duration = {90},
                    .name = builder_.Intern("Memcpy"),
                    .category = builder_.Intern("gpu_memcpy"),
                    .track = first});
  const Trace trace = builder_.Build();
  const std::vector<DeviceKernelRow> rows = MeasureKernels(trace);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(trace.text(rows[0].name), "mul");
  EXPECT_EQ(rows[0].device_total_ns, 100);
  EXPECT_EQ(trace.text(rows[1].name), "add");
  EXPECT_EQ(rows[1].count, 2u);
  EXPECT_EQ(rows[1].total_ns, 40);
  EXPECT_EQ(rows[1].mean_ns(), 20);
  EXPECT_EQ(rows[1].min_ns, 10);
  EXPECT_EQ(rows[1].max_ns, 30);
  EXPECT_EQ(rows[2].device, 1);
  EXPECT_EQ(rows[2].device_total_ns, 5);
}

TEST_F(DeviceKernels, HaveTheGridAndBlockThatAreThereMostOften) {
  const TrackId stream = Stream(0, 7);
  const char* small = R"("grid": [2, 1, 1], "block": [128,1,1], "est. achieved occupancy %": 50)";
  const char* large = R"("grid": [10, 1, 1], "block": [128,1,1], "theoretical achieved occupancy %": 12.5)";
  Kernel(stream, "add", 0, 1, large);
  Kernel(stream, "add", 10, 1, small);
  Kernel(stream, "add", 20, 1, large);
  Kernel(stream, "add", 30, 1, small);
  Kernel(stream, "add", 40, 1, R"("grid": [1, 2], "block": "x")");
  const std::vector<DeviceKernelRow> rows = MeasureKernels(builder_.Build());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].grid, "2x1x1") << "of equally many the smaller one, by number";
  EXPECT_EQ(rows[0].block, "128x1x1");
  EXPECT_EQ(rows[0].alike, 2u);
  EXPECT_EQ(rows[0].occupancy, 31.25);
}

TEST_F(DeviceKernels, NameTheOperatorThatLaunchedMostOfTheirTime) {
  const TrackId stream = Stream(0, 7);
  Operator("aten::mm", 0, 1);
  Operator("aten::add", 20, 2);
  Kernel(stream, "gemm", 100, 30, "", 1);
  Kernel(stream, "gemm", 200, 20, "", 2);
  Kernel(stream, "gemm", 300, 90);
  Kernel(stream, "s16816gemm", 400, 1);
  const Trace trace = builder_.Build();
  const std::vector<DeviceKernelRow> rows = MeasureKernels(trace);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(trace.text(rows[0].operator_name), "aten::mm");
  EXPECT_EQ(rows[0].operators, 2u);
  EXPECT_EQ(rows[0].eligible, 1u);
  EXPECT_FALSE(rows[0].uses_tensor_cores);
  EXPECT_EQ(rows[1].operator_name, StringId::kNone);
  EXPECT_TRUE(rows[1].uses_tensor_cores);
}

}  // namespace
}  // namespace opscope
