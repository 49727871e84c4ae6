// SPDX-License-Identifier: Apache-2.0
#include "import/recording/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "import/recording/import_for_test.h"
#include "import/recording/recorded_bytes.h"
#include "import/recording/recording.h"
#include "opscope/import.h"

namespace opscope {
namespace {

using testing::ElementsAre;

struct HostBlock {
  uint64_t address;
  uint64_t bytes;
  uint8_t flags = 0;
};

Trace ImportBlocks(const std::vector<HostBlock>& blocks) {
  ChunkBytes chunk({.size = 4096});
  uint64_t time = 1000;
  for (const HostBlock& block : blocks) {
    Record record;
    record.kind = RecordKind::kHostBlock, record.source = RecordSource::kTorch, record.start = ++time;
    record.name = static_cast<uint32_t>(block.address), record.side = static_cast<uint32_t>(block.address >> 32);
    record.value = block.bytes, record.flags = block.flags;
    chunk.Add(record);
  }
  return ImportChunk(chunk);
}

std::vector<std::string> Problems(const Trace& trace) {
  std::vector<std::string> found;
  const ProblemColumns& problems = trace.problems();
  for (size_t i = 0; i < problems.size(); ++i)
    found.push_back(std::string(trace.text(problems.kind[i])) + " " + std::to_string(problems.count[i]));
  return found;
}

constexpr uint8_t kFreed = record_flags::kFreed, kUnsure = record_flags::kFreed | record_flags::kUnsure;

TEST(RecordingMemory, GivesAFreeTheSizeThatItSawElseTheRecordersElseNone) {
  const Trace trace = ImportBlocks({{0xa0, 100},
                                    {0xa0, 90, kUnsure},  // the recorder's word for a block that was seen
                                    {0xb0, 50, kFreed},
                                    {0xc0, 0, kFreed},
                                    {0xc0, 0},  // as older recordings say it
                                    {0xd00000000d0, 70, kUnsure},
                                    {0xe0, 10},
                                    {0xe0, 30}});
  EXPECT_THAT(trace.allocations().bytes, ElementsAre(100, -100, -50, -70, 10, 30));
  EXPECT_EQ(trace.allocations().address[3], 0xd00000000d0u);
  EXPECT_THAT(Problems(trace), ElementsAre("unknown_block 2", "unsure_block 1"));
  ASSERT_EQ(trace.instants().size(), 6u);
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(trace.text(trace.instants().extra[i]), i == 3 ? "\"upper bound\":true" : "") << i;
}

TEST(RecordingMemory, CountsInItsTotalsWhatItSawAllocatedOrFreed) {
  const Trace trace =
      ImportBlocks({{0xa0, 100}, {0xa0, 100, kFreed}, {0xb0, 50, kFreed}, {0xd0, 70, kUnsure}, {0xe0, 10}, {0xe0, 30}});
  EXPECT_THAT(trace.allocations().total_allocated, ElementsAre(220, 120, 70, 0, 10, 30)) << "the end of 10 is missing";
}

}  // namespace
}  // namespace opscope
