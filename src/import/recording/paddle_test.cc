// Records of Paddle become what Paddle's own files say of the same events.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "import/recording/import_for_test.h"
#include "import/recording/paddle_members.h"
#include "import/recording/recorded_bytes_for_test.h"
#include "import/recording/recording.h"
#include "opscope/import.h"

namespace opscope {
namespace {

constexpr uint32_t kShapeOnly = arg_flags::kNoStrides;

Record OfPaddle(RecordKind kind, uint64_t start, uint64_t value) {
  Record record;
  record.start = start;
  record.value = value;
  record.kind = kind;
  record.source = RecordSource::kPaddle;
  return record;
}

void AddScope(ChunkBytes* chunk, std::string_view name, uint8_t type, uint16_t depth, uint64_t start, uint64_t duration,
              uint32_t payload = 0) {
  Record record = OfPaddle(RecordKind::kScope, start, duration);
  record.name = chunk->Name(name);
  record.scope = type;
  record.depth = depth;
  record.payload = payload;
  chunk->Add(record);
}

void AddBlock(ChunkBytes* chunk, uint64_t start, uint64_t bytes, bool is_freed) {
  Record record = OfPaddle(RecordKind::kHostBlock, start, bytes);
  record.name = 0x1000;
  record.flags = is_freed ? record_flags::kFreed : uint8_t{0};
  chunk->Add(record);
}

TEST(RecordingOfPaddle, HasItsEventTypesAsCategories) {
  ChunkBytes chunk({.size = 4096});
  AddScope(&chunk, "add infer_meta", 8, 2, 20, 5);
  AddScope(&chunk, "add kernel launch", 15, 2, 30, 5);
  AddScope(&chunk, "add dygraph", 0, 1, 10, 30);
  AddScope(&chunk, "SequentialLayer", 9, 0, 5, 50);
  AddScope(&chunk, "of a newer Paddle", 200, 0, 60, 1);
  const Trace trace = ImportChunk(chunk);
  const SpanColumns spans = trace.spans();
  ASSERT_EQ(spans.size(), 5u);
  const char* categories[] = {"Forward", "Operator", "OperatorInner", "DygraphKernelLaunch", "cpu_op"};
  const uint16_t depths[] = {0, 1, 2, 2, 0};
  for (size_t i = 0; i < spans.size(); ++i) {
    EXPECT_EQ(trace.text(spans.category[i]), categories[i]) << trace.text(spans.name[i]);
    EXPECT_EQ(spans.depth[i], depths[i]) << trace.text(spans.name[i]);
  }
}

TEST(RecordingOfPaddle, HasShapesByTheNamesOfArguments) {
  ChunkBytes chunk({.size = 4096});
  const uint32_t names = chunk.Name("x,y*2,bias*0;axis,mode=SAME,pads,open");
  const std::string payload = PayloadBytes()
                                  .Field(payload_fields::kKeywords, {names})
                                  .Argument(ArgKind::kTensor, 2, kShapeOnly, kUnknownElement, {2, 3})
                                  .Argument(ArgKind::kTensor, 1, kShapeOnly, kUnknownElement, {4})
                                  .Argument(ArgKind::kTensor, 1, kShapeOnly | arg_flags::kWide, kUnknownElement, {0, 1})
                                  .Argument(ArgKind::kInt, 0, 0, 0, {0xffffffff, 0xffffffff})
                                  .Argument(ArgKind::kOther)
                                  .Argument(ArgKind::kIntList, 2, 0, 0, {1, 2})
                                  .Argument(ArgKind::kBool, 1)
                                  .Finish();
  AddScope(&chunk, "op dygraph", 0, 0, 10, 5, chunk.Side(payload));
  const Trace trace = ImportChunk(chunk);
  ASSERT_EQ(trace.spans().size(), 1u);
  EXPECT_EQ(trace.text(trace.spans().extra[0]),
            R"("input_shapes": {"x": [[2, 3]], "y": [[4], [4294967296]], "bias": []}, "input_dtypes": {}, )"
            R"("callstack": "", "attributes": {"axis": -1, "mode": "SAME", "pads": [1, 2], "open": true})");
  EXPECT_EQ(trace.problems().size(), 0u);
}

TEST(RecordingOfPaddle, CountsMemoryFromWhatWasHeldAtTheStart) {
  ChunkBytes chunk({.size = 4096});
  AddBlock(&chunk, 1000, 64, false);
  AddBlock(&chunk, 2000, 64, true);
  AddBlock(&chunk, 3000, 0, false);
  const Trace trace = ImportChunk(chunk, R"("metadata":{"opscope.host_memory":[900,100,200,150,300]})");
  const AllocationColumns rows = trace.allocations();
  ASSERT_EQ(rows.size(), 3u) << "a block of no bytes is an event, too";
  EXPECT_EQ(rows.bytes[0], 64);
  EXPECT_EQ(rows.total_allocated[0], 164);
  EXPECT_EQ(rows.total_reserved[0], 264);
  EXPECT_EQ(rows.bytes[1], -64);
  EXPECT_EQ(rows.total_allocated[1], 100);
  EXPECT_EQ(trace.text(trace.instants().extra[0]),
            R"x("type": "Allocate", "place": "Place(cpu)", "peak_allocated": 164, "peak_reserved": 300)x");
  EXPECT_EQ(trace.text(trace.instants().extra[1]),
            R"x("type": "Free", "place": "Place(cpu)", "peak_allocated": 164, "peak_reserved": 300)x");
  EXPECT_EQ(trace.problems().size(), 0u);
}

TEST(RecordingOfPaddle, CountsMemoryFromTheFirstStartThatIsOne) {
  ChunkBytes chunk({.size = 4096});
  AddBlock(&chunk, 1000, 64, false);
  const Trace trace =
      ImportChunk(chunk, R"("metadata":{"opscope.host_memory":[7],"opscope.host_memory":[900,100,200,150,300]})");
  ASSERT_EQ(trace.allocations().size(), 1u);
  EXPECT_EQ(trace.allocations().total_allocated[0], 164);
}

// Texts and bytes that no recorder writes: read to where they make sense.
TEST(PaddleMembersOf, DamagedArgumentsEndEarly) {
  const std::string shape("\xf1\x4f\x02\x00\x02\x00\x00\x00", 8);  // two dimensions, of which one is there
  PaddleMembers members;
  const std::string& text = members.Of("x*4000000000,y;a,b", std::as_bytes(std::span(shape)));
  EXPECT_TRUE(text.starts_with(R"("input_shapes": {"x": [[2, )")) << text;
  EXPECT_LT(text.size(), 200u);
  EXPECT_EQ(members.Of("", {}), R"("input_shapes": {}, "input_dtypes": {}, "callstack": "")");
}

}  // namespace
}  // namespace opscope
