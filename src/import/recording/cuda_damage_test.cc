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

TEST(DamagedRecordingOfCuda, KeepsWhatStandsBesideRecordsOfNobody) {
  CudaWindow window;
  window.Call("cudaLaunchKernel_v7000", 1100, 1110, 1);
  Record instant;
  instant.kind = RecordKind::kInstant;
  window.AddRaw(instant);
  Record later;  // than this version knows
  later.kind = RecordKind::kNative, later.source = RecordSource::kCuda, later.scope = kCudaEvents;
  window.AddRaw(later);
  Record nameless;
  nameless.kind = RecordKind::kNative, nameless.source = RecordSource::kCuda, nameless.name = 3;
  nameless.scope = static_cast<uint8_t>(CudaEvent::kKernel);
  window.AddRaw(nameless);
  Record without_details;
  without_details.kind = RecordKind::kNative, without_details.source = RecordSource::kCuda;
  without_details.scope = static_cast<uint8_t>(CudaEvent::kKernel);
  window.AddRaw(without_details);
  window.Kernel("_Z3addPf", 1120, 1130, 1);
  const Trace trace = window.Import();
  const Rows rows(trace);
  EXPECT_EQ(rows.row.size(), 2u);
  EXPECT_EQ(trace.spans().start[rows["kernel add(float*)"]].ns, 120);
  EXPECT_EQ(CountOf(trace, "damaged_record"), 4u);
}

TEST(DamagedRecordingOfCuda, IsDamageInAThreadOfOperators) {
  ChunkBytes first({}), second({.sequence = 1});
  first.Scope("aten::add", 1100, 10, 0);
  second.Scope("aten::mul", 1200, 10, 0);
  Record call;
  call.kind = RecordKind::kNative, call.source = RecordSource::kCuda;
  call.scope = static_cast<uint8_t>(CudaEvent::kRuntimeCall);
  second.Add(call);
  second.Add(call);
  RecordingBytes bytes;
  bytes.Add(block_types::kWindowInfo, WindowInfoText());
  bytes.Add(block_types::kRawChunk, first.bytes());
  bytes.Add(block_types::kRawChunk, second.bytes());
  const Result<Trace> trace = ImportRecording(bytes.blocks);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace.value().spans().size(), 2u);
  EXPECT_EQ(CountOf(trace.value(), "damaged_record"), 2u);
  EXPECT_EQ(trace.value().info().recorded, 2u);
}

TEST(DamagedRecordingOfCuda, CountsScopesOnTheTrackOfTheSource) {
  CudaWindow window;
  window.Call("cudaLaunchKernel_v7000", 1100, 1110, 1);
  Record scope;
  scope.kind = RecordKind::kScope, scope.start = 1200, scope.value = 10;
  window.AddRaw(scope);
  scope.kind = RecordKind::kAsync;
  window.AddRaw(scope);
  const Trace trace = window.Import();
  EXPECT_EQ(trace.spans().size(), 1u);
  EXPECT_EQ(CountOf(trace, "damaged_record"), 2u);
  EXPECT_EQ(trace.info().recorded, 1u);
}

}  // namespace
}  // namespace opscope
