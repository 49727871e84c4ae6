// SPDX-License-Identifier: Apache-2.0
#include "analysis/device_launches.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace opscope {
namespace {

TEST(DeviceLaunches, CountWorkOfTheDeviceAndNotWhatAStreamWaitsFor) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  const TrackId thread = builder.AddTrack({.process = process, .tid = 1});
  const TrackId stream =
      builder.AddTrack({.process = process, .kind = TrackKind::kDeviceStream, .tid = 7, .device = 0});
  const auto add = [&](const char* category, TrackId track, int64_t start, int64_t duration) {
    builder.AddSpan({.start = {start},
                     .duration = {duration},
                     .category = builder.Intern(category),
                     .track = track,
                     .external_id = 1});
  };
  add("cpu_op", thread, 0, 10);
  add("kernel", stream, 20, 5);
  add("graph_host_node", stream, 30, 100);
  add("cuda_sync", stream, 140, 1000);
  add("gpu_memset", stream, 1200, 2);
  const Trace trace = builder.Build();
  EXPECT_EQ(DeviceLaunches(trace).LaunchedBy(0), 7);
}

}  // namespace
}  // namespace opscope
