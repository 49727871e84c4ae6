// Payloads that several records name, and arguments that are those of another payload.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "import/recording/import_for_test.h"
#include "import/recording/recorded_bytes_for_test.h"
#include "import/recording/recording.h"
#include "opscope/import.h"
#include "trace/problem_count_for_test.h"

namespace opscope {
namespace {

PayloadBytes Matrix(uint32_t rows) {
  return PayloadBytes().Argument(ArgKind::kTensor, 2, arg_flags::kContiguous, 6, {rows, 3});
}

void AddScope(ChunkBytes* chunk, uint64_t start, uint32_t payload) {
  Record record;
  record.start = start;
  record.value = 1;
  record.kind = RecordKind::kScope;
  record.source = RecordSource::kTorch;
  record.name = chunk->Name("op");
  record.payload = payload;
  chunk->Add(record);
}

TEST(RecordingPayloads, MayBeNamedBySeveralRecords) {
  ChunkBytes chunk({.size = 4096});
  const uint32_t payload = chunk.Side(Matrix(2).Finish());
  AddScope(&chunk, 0, payload), AddScope(&chunk, 2, payload), AddScope(&chunk, 4, chunk.Side(Matrix(5).Finish()));
  const Trace trace = ImportChunk(chunk);
  ASSERT_EQ(trace.spans().size(), 3u);
  EXPECT_EQ(trace.argument_list_count(), 2u);
  EXPECT_EQ(trace.spans().args[0], trace.spans().args[1]);
  EXPECT_NE(trace.spans().args[0], trace.spans().args[2]);
  EXPECT_EQ(trace.problems().size(), 0u);
}

TEST(RecordingPayloads, MayHaveTheArgumentsOfAnother) {
  ChunkBytes chunk({.size = 4096});
  const uint32_t plain = chunk.Side(Matrix(2).Finish());
  AddScope(&chunk, 0, plain);
  AddScope(&chunk, 2, chunk.Side(PayloadBytes().Sequence(8, 0).ArgumentsOf(plain, 1).Finish()));
  AddScope(&chunk, 4, chunk.Side(PayloadBytes().ArgumentsOf(plain, 1).Finish()));
  const Trace trace = ImportChunk(chunk);
  ASSERT_EQ(trace.spans().size(), 3u);
  EXPECT_EQ(trace.argument_list_count(), 1u);
  EXPECT_EQ(trace.spans().args[1], trace.spans().args[0]);
  EXPECT_EQ(trace.spans().args[2], trace.spans().args[0]);
  EXPECT_EQ(trace.spans().sequence[1], 8);
  EXPECT_EQ(trace.problems().size(), 0u);
}

TEST(RecordingPayloads, WithArgumentsThatAreNowhereAreDamaged) {
  ChunkBytes chunk({.size = 4096});
  const uint32_t plain = chunk.Side(Matrix(2).Finish());
  AddScope(&chunk, 0, plain);
  const uint32_t named = chunk.Side(PayloadBytes().ArgumentsOf(plain, 1).Finish());
  for (const uint32_t offset : {0u, 4u, plain + 4, 0xfffffff8u, named})
    AddScope(&chunk, 2, chunk.Side(PayloadBytes().ArgumentsOf(offset, 1).Finish()));
  AddScope(&chunk, 2, chunk.Side(PayloadBytes().ArgumentsOf(plain, 2).Finish()));
  const Trace trace = ImportChunk(chunk);
  EXPECT_EQ(trace.spans().size(), 1u);
  uint64_t damaged = 0;
  for (size_t i = 0; i < trace.problems().size(); ++i) {
    if (trace.text(trace.problems().kind[i]) == "damaged_record") damaged += trace.problems().count[i];
  }
  EXPECT_EQ(damaged, 6u);
}

TEST(RecordingPayloads, WithMoreArgumentsThanBytesAreDamaged) {
  ChunkBytes chunk({.size = 4096});
  std::string payload = Matrix(2).Finish();
  payload[6] = payload[7] = '\xff';  // 65535 arguments
  AddScope(&chunk, 0, chunk.Side(payload));
  const Trace trace = ImportChunk(chunk);
  EXPECT_EQ(trace.spans().size(), 0u);
  EXPECT_EQ(ProblemCount(trace, "damaged_record"), 1u);
}

// Entries of a chunk do not overlap. Those of a forged one would become a hundred times as much memory as the chunk.
TEST(RecordingPayloads, AndNamesThatLieInEachOtherAreDamaged) {
  ChunkBytes chunk({.size = 65536});
  constexpr uint32_t kEntries = 400;
  std::string names;
  for (uint32_t i = 0; i < kEntries; ++i) {
    AppendFixed(&names, uint32_t{30000});  // each is the first bytes of the name before it
    AppendFixed(&names, uint32_t{0});
  }
  const uint32_t first = chunk.Side(names + std::string(30000, 'x'));
  for (uint32_t i = 0; i < kEntries; ++i) {
    Record record;
    record.kind = RecordKind::kScope, record.name = first + 8 * i;
    chunk.Add(record);
  }
  const Trace trace = ImportChunk(chunk);
  EXPECT_EQ(trace.spans().size(), 2u);
  EXPECT_EQ(ProblemCount(trace, "damaged_record"), kEntries - 2);
}

TEST(RecordingPayloads, WithTensorsBelongToOneRecord) {
  ChunkBytes chunk({.size = 16384});
  std::string tensors = PayloadBytes().Field(payload_fields::kTensors, {500}).Finish() + std::string(8000, '\x01');
  const auto size = static_cast<uint32_t>(tensors.size());
  tensors.replace(0, sizeof(size), reinterpret_cast<const char*>(&size), sizeof(size));
  const uint32_t payload = chunk.Side(tensors);
  for (uint32_t i = 0; i < 5; ++i)
    AddScope(&chunk, i, payload);
  const Trace trace = ImportChunk(chunk);
  EXPECT_EQ(trace.spans().size(), 2u);
  EXPECT_EQ(ProblemCount(trace, "damaged_record"), 3u);
}

}  // namespace
}  // namespace opscope
