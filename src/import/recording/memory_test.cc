// SPDX-License-Identifier: Apache-2.0
#include "import/recording/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "import/recording/import_for_test.h"
#include "import/recording/recorded_bytes_for_test.h"
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
    record.name = static_cast<uint32_t>(block.address), record.payload = static_cast<uint32_t>(block.address >> 32);
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

TEST(RecordingMemory, MakesInstantsOfRequestsWithoutMemoryWithTheTotalsOfTheirTime) {
  ChunkBytes chunk({.size = 4096});
  const auto add = [&](RecordKind kind, uint64_t start, uint64_t bytes, uint32_t payload = 0) {
    Record record;
    record.kind = kind, record.source = RecordSource::kTorch, record.start = start, record.value = bytes;
    record.payload = payload;
    if (kind == RecordKind::kHostBlock) record.name = 0xa0;
    chunk.Add(record);
  };
  const std::string of_device = PayloadBytes()
                                    .Field(payload_fields::kAddress, {0, uint64_t{2} << 32 | 1})
                                    .Field(payload_fields::kTotals, {512, 2048})
                                    .Finish();
  add(RecordKind::kHostBlock, 1001, 64);
  add(RecordKind::kOutOfMemory, 1002, 8192, chunk.Side(of_device));
  add(RecordKind::kOutOfMemory, 1003, 4096);
  const Trace trace = ImportChunk(chunk);
  std::vector<std::string> seen;
  const InstantColumns& instants = trace.instants();
  for (size_t i = 0; i < instants.size(); ++i)
    seen.push_back(std::string(trace.text(instants.name[i])) + " " + std::string(trace.text(instants.extra[i])));
  const char* const device =
      R"([OutOfMemory] "Total Reserved":2048,"Total Allocated":512,"Bytes":8192,"Device Id":2,"Device Type":1)";
  const char* const host =
      R"([OutOfMemory] "Total Reserved":0,"Total Allocated":64,"Bytes":4096,"Device Id":-1,"Device Type":0)";
  EXPECT_THAT(seen, ElementsAre("[memory] ", device, host));
  EXPECT_THAT(trace.allocations().bytes, ElementsAre(64));
}

TEST(RecordingMemory, SaturatesTotalsOfDamagedSizes) {
  constexpr uint64_t kMaxBytes = std::numeric_limits<int64_t>::max();
  const Trace trace =
      ImportBlocks({{0xa0, kMaxBytes}, {0xb0, kMaxBytes}, {0xc0, kMaxBytes, kFreed}, {0xd0, kMaxBytes, kFreed}});
  EXPECT_THAT(trace.allocations().total_allocated,
              ElementsAre(kMaxBytes, kMaxBytes, 0, -static_cast<int64_t>(kMaxBytes)));
}

}  // namespace
}  // namespace opscope
