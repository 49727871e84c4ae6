// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "opscope/analysis/device_report.h"
#include "trace/builder.h"

namespace opscope {
namespace {

using testing::HasSubstr;
using testing::Not;

// Calls on a thread and what they launched on two streams, in any order and some without a call.
Trace TraceOfDevice(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t n) { return static_cast<int64_t>(random() % n); };
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  const TrackId thread = builder.AddTrack({.process = process, .tid = 1});
  TrackId streams[2];
  for (TrackId& stream : streams)
    stream = builder.AddTrack({.process = process, .kind = TrackKind::kDeviceStream, .tid = 7 + below(9), .device = 0});
  for (uint32_t i = 1; i <= 30; ++i) {
    const bool is_copy = below(3) == 0;
    builder.AddSpan({.start = {i * 100 + below(50)},
                     .duration = {below(60)},
                     .name = builder.Intern(is_copy ? "cudaMemcpy" : "cudaLaunchKernel"),
                     .category = builder.Intern("cuda_runtime"),
                     .track = thread,
                     .correlation = i});
    builder.AddSpan({.start = {i * 100 + below(200)},
                     .duration = {1 + below(90)},
                     .name = builder.Intern(is_copy ? "Memcpy HtoD (Pageable -> Device)" : "s16816gemm"),
                     .category = builder.Intern(is_copy ? "gpu_memcpy" : "kernel"),
                     .track = streams[below(2)],
                     .correlation = below(8) == 0 ? 0 : i,
                     .extra = builder.Intern("\"bytes\": " + std::to_string(below(99999)))});
  }
  return builder.Build();
}

std::string JsonOf(const Trace& trace, const DeviceReport& report) {
  return ResultJson(DeviceVerbResult(trace, report), trace);
}

TEST(DevicesJson, IsTheSameOfListsThatWereMeasuredTogetherAndApart) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = TraceOfDevice(seed);
    const DeviceReport apart{.devices = MeasureDevices(trace),
                             .kernels = MeasureKernels(trace),
                             .copies = MeasureCopies(trace),
                             .quality = JudgeQuality(trace)};
    const DeviceReport together =
        MeasureDeviceReport(trace, {.devices = true, .kernels = true, .copies = true, .quality = true});
    EXPECT_EQ(JsonOf(trace, together), JsonOf(trace, apart));
    EXPECT_GT(together.devices->at(0).launches.launched, 0u);
    EXPECT_GT(together.copies->at(0).synchronous, 0u);
    EXPECT_FALSE(together.quality->reasons.empty());
  }
}

TEST(DevicesJson, HasTheListsThatWereAskedForAlone) {
  const Trace trace = TraceOfDevice(1);
  const std::string devices = JsonOf(trace, MeasureDeviceReport(trace, {.devices = true}));
  EXPECT_THAT(devices, HasSubstr("\"rows\""));
  for (const char* other : {"\"kernels\"", "\"copies\"", "\"quality\""})
    EXPECT_THAT(devices, Not(HasSubstr(other)));
  const std::string copies = JsonOf(trace, MeasureDeviceReport(trace, {.copies = true}));
  EXPECT_THAT(copies, HasSubstr("\"copies\""));
  for (const char* other : {"\"kernels\"", "\"rows\"", "\"quality\""})
    EXPECT_THAT(copies, Not(HasSubstr(other)));
}

}  // namespace
}  // namespace opscope
