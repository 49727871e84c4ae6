// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/device_copies.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace/builder.h"

namespace opscope {
namespace {

struct Device {
  TraceBuilder builder;
  TrackId stream = builder.AddTrack(
      {.process = builder.AddProcess({.pid = 0}), .kind = TrackKind::kDeviceStream, .tid = 7, .device = 0});

  void Work(const char* category, const char* name, int64_t start, int64_t duration, const char* members = "",
            uint32_t correlation = 0) {
    builder.AddSpan({.start = {start},
                     .duration = {duration},
                     .name = builder.Intern(name),
                     .category = builder.Intern(category),
                     .track = stream,
                     .correlation = correlation,
                     .extra = builder.Intern(members)});
  }
};

using Words = std::vector<std::string>;
Words WordsOf(const DeviceCopyRow& row) {
  return {row.kind, row.source, row.target};
}

// A copy of 10 ns that this call made.
DeviceCopyRow CopyBy(const char* call, const char* name) {
  Device device;
  TraceBuilder& builder = device.builder;
  builder.AddSpan(
      {.start = {0},
       .duration = {1},
       .name = builder.Intern(call),
       .category = builder.Intern("cuda_runtime"),
       .track = builder.AddTrack({.process = builder.AddProcess({.pid = 9}), .kind = TrackKind::kThread, .tid = 1}),
       .correlation = 3});
  device.Work("gpu_memcpy", name, 100, 10, "\"bytes\": 4", 3);
  return MeasureCopies(builder.Build()).at(0);
}

TEST(DeviceCopies, AreToldApartByKindAndMemories) {
  Device device;
  device.Work("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 10, "\"bytes\": 1000");
  device.Work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 20, 30, "\"bytes\": 90000");
  device.Work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 60, 10, "\"bytes\": 65536");
  device.Work("Memcpy", "MEMCPY_DtoH", 80, 5, "\"source kind\": \"Device\", \"destination kind\": \"Pageable\"");
  device.Work("gpu_memcpy", "MemcpyD2D", 90, 1);
  device.Work("kernel", "gemm", 0, 30);
  const Trace trace = device.builder.Build();
  const std::vector<DeviceCopyRow> rows = MeasureCopies(trace);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(WordsOf(rows[0]), Words({"HtoD", "Pinned", "Device"}));
  EXPECT_EQ(rows[0].count, 2u);
  EXPECT_EQ(rows[0].bytes, 155536);
  EXPECT_EQ(rows[0].total_ns, 40);
  EXPECT_EQ(rows[0].exposed_ns, 30) << "behind the kernel";
  EXPECT_EQ(rows[0].bytes_per_second, 3888400000000);
  EXPECT_EQ(rows[0].small, 1u) << "CUDA's 64 KiB are still small";
  EXPECT_EQ(rows[0].small_ns, 10);
  EXPECT_EQ(rows[1].source, "Pageable");
  EXPECT_EQ(rows[1].exposed_ns, 0);
  EXPECT_EQ(WordsOf(rows[2]), Words({"DtoH", "Device", "Pageable"}));
  EXPECT_EQ(rows[2].bytes, std::nullopt);
  EXPECT_EQ(rows[2].bytes_per_second, std::nullopt);
  EXPECT_EQ(WordsOf(rows[3]), Words({"DtoD", "", ""}));
  EXPECT_EQ(MeasureCopies(trace, {.small_bytes = 100'000})[0].small, 2u);
}

TEST(DeviceCopies, AreSynchronousWhereCudaSaysThatTheProgramWaits) {
  struct Case {
    const char* call;
    const char* copy;
    bool is_synchronous;
  };
  for (const Case& each : {Case{"cudaMemcpy", "Memcpy HtoD (Pinned -> Device)", true},
                           Case{"cudaMemcpyAsync", "Memcpy HtoD (Pinned -> Device)", false},
                           Case{"cudaMemcpyAsync", "Memcpy HtoD (Pageable -> Device)", true},
                           Case{"cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)", true},
                           Case{"cuMemcpyDtoHAsync_v2", "Memcpy DtoH (Device -> Pinned)", false},
                           Case{"cuMemcpyDtoH_v2", "Memcpy DtoH (Device -> Pinned)", true},
                           Case{"cudaMemcpy", "Memcpy DtoD (Device -> Device)", false},
                           Case{"cudaMemcpyPeer", "Memcpy PtoP (Device -> Device)", false},
                           Case{"cudaMemcpyAsync", "Memcpy HtoH (Pinned -> Pinned)", true},
                           Case{"hipMemcpyWithStream", "Memcpy HtoD (Host -> Device)", true},
                           Case{"cudaGraphLaunch", "Memcpy HtoD (Pageable -> Device)", false}}) {
    const DeviceCopyRow row = CopyBy(each.call, each.copy);
    EXPECT_EQ(row.launched, 1u);
    EXPECT_EQ(row.synchronous, each.is_synchronous ? 1u : 0u) << each.call << " " << each.copy;
    EXPECT_EQ(row.synchronous_ns, each.is_synchronous ? 10 : 0);
  }
}

TEST(DeviceCopies, WhoseCallIsNotKnownAreNeither) {
  Device device;
  device.Work("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 10);
  const std::vector<DeviceCopyRow> rows = MeasureCopies(device.builder.Build());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].launched, 0u);
  EXPECT_EQ(rows[0].synchronous, 0u);
}

}  // namespace
}  // namespace opscope
