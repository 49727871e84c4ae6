// SPDX-License-Identifier: Apache-2.0
#include "import/recording/window_index.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "import/recording/recorded_bytes_for_test.h"
#include "opscope/import.h"
#include "trace/problem_count_for_test.h"

namespace opscope {
namespace {

std::string WindowOfProcess(const std::string& pid, const std::string& threads) {
  return "{\"generation\":1,\"pid\":" + pid +
         ",\"calibrations\":[[1000,1700000000000000000],[1000001000,1700000001000000000]],\"threads\":[" + threads +
         "]}";
}

std::string ThreadText(uint32_t index, const std::string& name, int dropped = 0) {
  return "{\"index\":" + std::to_string(index) + ",\"recorded\":1,\"dropped\":" + std::to_string(dropped) +
         ",\"name\":\"" + name + "\"}";
}

std::string ChunkOf(uint32_t process, uint32_t thread) {
  ChunkBytes chunk({.size = 1024, .thread_index = thread, .process = process, .dropped_before = 100});
  chunk.Scope("scope", 2000, 10, 0);
  return chunk.bytes();
}

Trace ImportWindows(const RecordingBytes& bytes) {
  Result<Trace> trace = ImportRecording(bytes.blocks);
  EXPECT_TRUE(trace.ok());
  return trace.ok() ? std::move(trace).value() : Trace();
}

// Generations and thread numbers begin at 1 in both processes.
TEST(WindowIndex, TellsWindowsOfEqualGenerationApartByProcess) {
  RecordingBytes bytes;
  bytes.Add(block_types::kWindowInfo, WindowOfProcess("7", ThreadText(1, "seven")));
  bytes.Add(block_types::kWindowInfo, WindowOfProcess("9", ThreadText(1, "nine") + "," + ThreadText(2, "lost")));
  bytes.Add(block_types::kRawChunk, ChunkOf(7, 1));
  bytes.Add(block_types::kRawChunk, ChunkOf(9, 1));
  bytes.Add(block_types::kRawChunk, ChunkOf(7, 2));  // not in the list of its window
  const Trace trace = ImportWindows(bytes);
  ASSERT_EQ(trace.tracks().size(), 3u);
  EXPECT_EQ(trace.text(trace.tracks().name[0]), "seven");
  EXPECT_EQ(trace.tracks().name[1], StringId::kNone);
  EXPECT_EQ(trace.text(trace.tracks().name[2]), "nine");
  EXPECT_EQ(ProblemCount(trace, "missing_chunk"), 1u) << "thread 2 of process 9";
  EXPECT_EQ(ProblemCount(trace, "dropped_at_cap"), 100u) << "thread 2 of process 7, by its chunk";
}

TEST(WindowIndex, LetsAWindowWithoutAPidHoldForEveryProcess) {
  RecordingBytes bytes;
  bytes.Add(block_types::kWindowInfo, WindowOfProcess("0", ThreadText(1, "main")));
  bytes.Add(block_types::kRawChunk, ChunkOf(7, 1));
  const Trace trace = ImportWindows(bytes);
  ASSERT_EQ(trace.tracks().size(), 1u);
  EXPECT_EQ(trace.text(trace.tracks().name[0]), "main");
  EXPECT_EQ(ProblemCount(trace, "missing_chunk"), 0u);
}

// A search of the list for each thread would compare 10,000,000,000 numbers.
TEST(WindowIndex, FindsTheThreadsOfALongList) {
  constexpr uint32_t kThreads = 100'000;
  std::vector<WindowInfo> windows(1);
  windows[0].window = 1, windows[0].process = 7;
  for (uint32_t i = 0; i < kThreads; ++i) {
    WindowThread& thread = windows[0].threads.emplace_back();
    thread.index = i, thread.recorded = i;
  }
  const WindowIndex index(windows);
  std::string bytes = ChunkOf(7, 0);
  for (uint32_t i = 0; i < kThreads; ++i) {
    std::memcpy(bytes.data() + offsetof(ChunkHeader, thread_index), &i, sizeof(i));
    const auto chunk = RecordingChunk::Open(std::as_bytes(std::span(bytes)), -1);
    ASSERT_TRUE(chunk);
    ASSERT_NE(index.Thread(*chunk), nullptr);
    ASSERT_EQ(index.Thread(*chunk)->recorded, i);
  }
}

TEST(WindowIndex, CountsAChunkThatIsThereTwiceOnce) {
  RecordingBytes bytes;
  bytes.Add(block_types::kWindowInfo, WindowOfProcess("7", "{\"index\":1,\"recorded\":2}"));
  bytes.Add(block_types::kRawChunk, ChunkOf(7, 1));  // with one record; the chunk behind it is lost
  bytes.Add(block_types::kRawChunk, ChunkOf(7, 1));
  const Trace trace = ImportWindows(bytes);
  EXPECT_EQ(trace.spans().size(), 1u);
  EXPECT_EQ(ProblemCount(trace, "missing_chunk"), 1u);
}

TEST(WindowIndex, SaturatesWhatItsThreadsDropped) {
  RecordingBytes bytes;
  bytes.Add(block_types::kWindowInfo, WindowOfProcess("7",
                                                      "{\"index\":1,\"dropped\":9223372036854775808},"
                                                      "{\"index\":2,\"dropped\":9223372036854775809}"));
  EXPECT_EQ(ImportWindows(bytes).info().dropped, UINT64_MAX);
}

// The first process of a container has the number 1.
TEST(WindowIndex, TellsAProcessFromTheDeviceOfItsNumber) {
  ChunkBytes chunk({.size = 1024, .process = 1});
  chunk.Scope("scope", 2000, 10, 0);
  Record span;
  span.kind = RecordKind::kDeviceSpan, span.start = 2000, span.value = 5, span.name = chunk.Name("gemm");
  span.payload = chunk.Side(PayloadBytes().Field(payload_fields::kDevice, {uint64_t{7} << 32 | 1, 9}).Finish());
  chunk.Add(span);
  RecordingBytes bytes;
  bytes.Add(block_types::kWindowInfo, WindowOfProcess("1", ThreadText(1, "main")));
  bytes.Add(block_types::kRawChunk, chunk.bytes());
  const Trace trace = ImportWindows(bytes);
  ASSERT_EQ(trace.tracks().size(), 2u);
  EXPECT_NE(trace.tracks().process[0], trace.tracks().process[1]);
}

}  // namespace
}  // namespace opscope
