// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "import/recording/import_for_test.h"
#include "import/recording/recorded_bytes_for_test.h"
#include "import/recording/recording.h"
#include "opscope/import.h"
#include "trace/debug_text_for_test.h"

namespace opscope {
namespace {

ChunkBytes SmallChunk() {
  return ChunkBytes({.size = 4096});
}

constexpr uint64_t kCpu = PackTensor(0, 0, -1);

// Lines of the dump that begin with `table`.
std::string Lines(const Trace& trace, const std::string& table) {
  const std::string dump = ToDebugText(trace, {.info = false});
  std::string lines;
  for (size_t at = 0, end = 0; at < dump.size(); at = end + 1) {
    end = dump.find('\n', at);
    if (dump.compare(at, table.size() + 1, table + " ") == 0) lines += dump.substr(at, end - at + 1);
  }
  return lines;
}

TEST(RecordingTensors, StandByTheirSpanWhateverTheOrderOfTheRecords) {
  ChunkBytes chunk = SmallChunk();
  const auto tensor = [] { return PayloadBytes(); };
  // Children are recorded before their parent; in the trace they stand behind it.
  chunk.Scope("aten::fill_", 1020, 5, 1,
              tensor().Field(payload_fields::kTensors, {1, 0xb0, kCpu | 2}).Argument(ArgKind::kTensor).Finish());
  chunk.Scope("aten::add", 1010, 20, 0,
              tensor()
                  .Field(payload_fields::kTensors, {2, 0xa0, kCpu | 1, 0, PackTensor(3, 1, 4)})
                  .Argument(ArgKind::kTensor)
                  .Argument(ArgKind::kTensor)
                  .Finish());
  EXPECT_EQ(Lines(ImportChunk(chunk), "tensor"),
            "tensor span=0 tensor=1 storage=0xa0\n"
            "tensor span=0 tensor=3 storage=0x0 device_type=1 device=4\n"
            "tensor span=1 tensor=2 storage=0xb0\n");
}

TEST(RecordingTensors, OfAsynchronousSpansAreKept) {
  ChunkBytes chunk = SmallChunk();
  Record record;
  record.kind = RecordKind::kAsync, record.source = RecordSource::kTorch, record.start = 1010, record.value = 5;
  record.name = chunk.Name("wait");
  record.payload = chunk.Side(
      PayloadBytes().Field(payload_fields::kTensors, {1, 0xa0, kCpu | 1}).Argument(ArgKind::kTensor).Finish());
  chunk.Add(record);
  EXPECT_EQ(Lines(ImportChunk(chunk), "tensor"), "tensor span=0 tensor=1 storage=0xa0\n");
}

TEST(RecordingTensors, WithoutANumberAreCounted) {
  ChunkBytes chunk = SmallChunk();
  chunk.Scope("aten::relu", 1010, 5, 0,
              PayloadBytes().Field(payload_fields::kTensors, {1, 0xa0, kCpu}).Argument(ArgKind::kTensor).Finish());
  EXPECT_NE(Lines(ImportChunk(chunk), "problem").find("unnumbered_tensor"), std::string::npos);
}

TEST(RecordingTensors, ThatClaimMoreThanThePayloadHoldsAreADamagedRecord) {
  for (const uint64_t claimed : {uint64_t{2}, uint64_t{0xffffffff}}) {
    ChunkBytes chunk = SmallChunk();
    chunk.Scope("aten::relu", 1010, 5, 0,
                PayloadBytes().Field(payload_fields::kTensors, {claimed, 0xa0, kCpu | 1}).Finish());
    chunk.Scope("aten::add", 1030, 5, 0);
    const Trace trace = ImportChunk(chunk);
    EXPECT_EQ(trace.spans().size(), 1u);
    EXPECT_EQ(Lines(trace, "tensor"), "");
    EXPECT_NE(Lines(trace, "problem").find("damaged_record"), std::string::npos);
  }
}

TEST(RecordingTensors, ThatAnObjectHoldsAreRowsWithTheirRoles) {
  ChunkBytes chunk = SmallChunk();
  Record record;
  record.kind = RecordKind::kHeld, record.start = 1010, record.value = 0xabc;
  constexpr uint64_t kGradient = 1, kOfANewerVersion = 9;
  record.payload =
      chunk.Side(PayloadBytes()
                     .Field(payload_fields::kHeld, {3, 0xa0, kCpu | 1, 64, 0, 0xb0, kCpu | 2, static_cast<uint64_t>(-1),
                                                    kGradient, 0xc0, kCpu | 3, 8, kOfANewerVersion})
                     .Finish());
  chunk.Add(record);
  EXPECT_EQ(Lines(ImportChunk(chunk), "held_tensor"),
            "held_tensor 10 track=0 owner=0xabc tensor=1 storage=0xa0 bytes=64\n"
            "held_tensor 10 track=0 owner=0xabc as=1 tensor=2 storage=0xb0\n");
}

TEST(RecordingTensors, ThatAnObjectHoldsHaveTheNamesThatLieInTheChunk) {
  ChunkBytes chunk = SmallChunk();
  Record record;
  record.kind = RecordKind::kHeld, record.start = 1010, record.value = 0xabc;
  const uint64_t name = chunk.Name("weight"), outside = 1u << 30;
  record.payload = chunk.Side(
      PayloadBytes()
          .Field(payload_fields::kHeld, {2, 0xa0, kCpu | 1, 64, name << 32, 0xb0, kCpu | 2, 8, outside << 32})
          .Finish());
  chunk.Add(record);
  EXPECT_EQ(Lines(ImportChunk(chunk), "held_tensor"),
            "held_tensor 10 track=0 owner=0xabc tensor=1 storage=0xa0 bytes=64 name=\"weight\"\n"
            "held_tensor 10 track=0 owner=0xabc tensor=2 storage=0xb0 bytes=8\n");
}

TEST(RecordingTensors, TakeTheKindsOfOperatorsFromTheMetadata) {
  const Trace trace = ImportChunk(
      SmallChunk(), "\"metadata\":{\"opscope.operators\":\"aten::add_ t!tn t!nn;aten::mm tt;x::none .\",\"kept\":1}");
  EXPECT_EQ(Lines(trace, "operator"),
            "operator \"aten::add_\" arguments=\"t!tn\"\n"
            "operator \"aten::add_\" arguments=\"t!nn\"\n"
            "operator \"aten::mm\" arguments=\"tt\"\n"
            "operator \"x::none\" arguments=\".\"\n");
  EXPECT_EQ(trace.metadata().size(), 1u);
}

TEST(RecordingTensors, ReadAnyTextAsKindsOfOperators) {
  for (const char* text : {"\"\"", "3", "\"", "\";;\"", "\" \"", "\"a\"", "\"a  b;\"", "{\"a\":[1]}"}) {
    const Trace trace = ImportChunk(SmallChunk(), "\"metadata\":{\"opscope.operators\":" + std::string(text) + "}");
    EXPECT_LE(trace.operators().size(), 2u) << text;
  }
}

}  // namespace
}  // namespace opscope
