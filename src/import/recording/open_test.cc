// Scopes that were open when their recording stopped growing, from tables of open scopes written by hand.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/open.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/text.h"
#include "import/recording/recorded_bytes_for_test.h"
#include "opscope/cuda_event.h"
#include "opscope/import.h"
#include "trace/problem_count_for_test.h"

namespace opscope {
namespace {

constexpr uint64_t kUnixNs = 1700000000000000000;  // the calibration of WindowInfoText

// A block of a mapped file: the table, the chunk, its trailer.
std::string LiveBlock(const ChunkBytes& chunk, uint32_t thread_index, const std::vector<OpenTableEntry>& entries = {}) {
  std::string block;
  OpenTable table;
  table.capacity = static_cast<uint32_t>(entries.size());
  table.thread_index = thread_index;
  table.chunk_at = static_cast<uint32_t>((sizeof(OpenTable) + entries.size() * sizeof(OpenTableEntry) + 7) / 8 * 8);
  AppendFixed(&block, table);
  for (const OpenTableEntry& entry : entries)
    AppendFixed(&block, entry);
  block.resize(table.chunk_at);
  block += chunk.bytes();
  AppendFixed(&block, ChunkTrailer{thread_index, 0});
  return block;
}

OpenTableEntry OpenScope(ChunkBytes* chunk, const char* name, uint64_t start) {
  return {.start = start,
          .name = chunk->Name(name),
          .depth_kind_flags = static_cast<uint32_t>(RecordKind::kScope) << 16,
          .origin = static_cast<uint32_t>(RecordSource::kTorch)};
}

Trace ImportLive(const RecordingBytes& bytes) {
  Result<Trace> trace = ImportRecording(bytes.blocks);
  EXPECT_TRUE(trace.ok());
  return trace.ok() ? std::move(trace).value() : Trace();
}

int64_t DurationOf(const Trace& trace, std::string_view name) {
  for (size_t i = 0; i < trace.spans().size(); ++i) {
    if (trace.text(trace.spans().name[i]) == name) return trace.spans().duration[i].ns;
  }
  return -1;
}

// Records of CUDA and of a track with unix times are far behind every tick of the recorder's clock.
TEST(OpenScopes, EndAtTheLastTickOfTheirWindowWhateverOtherClocksSay) {
  ChunkBytes thread({.size = 4096}), cuda({.size = 4096, .thread_index = 2}), track({.size = 4096, .thread_index = 3});
  thread.Scope("ended", 3000, 500, 1);
  const OpenTableEntry open = OpenScope(&thread, "open", 2000);
  thread.Put(108, uint32_t{0});  // the name of the open scope lies below the entries of the records
  Record kernel;
  kernel.kind = RecordKind::kNative, kernel.source = RecordSource::kCuda, kernel.start = kUnixNs + 5000;
  kernel.scope = static_cast<uint8_t>(CudaEvent::kKernel);
  cuda.Add(kernel);
  track.Put(4, static_cast<uint16_t>(kChunkLayout | kUnixTimes));
  track.Scope("in unix time", kUnixNs + 6000, 100, 0);
  RecordingBytes bytes;
  bytes.Add(block_types::kWindowInfo, WindowInfoText("\"live\":true"));
  bytes.Add(block_types::kLiveChunk, LiveBlock(thread, 1, {open}));
  bytes.Add(block_types::kLiveChunk, LiveBlock(cuda, 2));
  bytes.Add(block_types::kLiveChunk, LiveBlock(track, 3));
  const Trace trace = ImportLive(bytes);
  EXPECT_EQ(DurationOf(trace, "open"), 1500);
  EXPECT_EQ(DurationOf(trace, "in unix time"), 100);
  EXPECT_EQ(ProblemCount(trace, "unfinished_scope"), 1u);
}

// A search through all windows for each window, or through all chunks, would compare some 10,000,000,000 numbers.
TEST(OpenScopes, OfManyWindowsAreFoundInOnePassOverTheChunks) {
  constexpr uint64_t kWindows = 30'000;
  RecordingBytes bytes;
  for (uint64_t window = 1; window <= kWindows; ++window) {
    const std::string generation = std::to_string(window);
    for (const char* is_live : {"true", "true", window % 2 == 0 ? "false" : "true"}) {
      bytes.Add(block_types::kWindowInfo, "{\"generation\":" + generation + ",\"pid\":4242,\"live\":" + is_live + "}");
    }
    ChunkBytes chunk({.size = 256, .window = window});
    const OpenTableEntry open = OpenScope(&chunk, "open", 2000);
    bytes.Add(block_types::kLiveChunk, LiveBlock(chunk, 1, {open}));
  }
  const Trace trace = ImportLive(bytes);
  EXPECT_EQ(trace.spans().size(), kWindows / 2);
  EXPECT_EQ(ProblemCount(trace, "unfinished_scope"), kWindows / 2);
}

}  // namespace
}  // namespace opscope
