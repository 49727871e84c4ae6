// Recordings made byte by byte (recorded_bytes_for_test.h) into Traces.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/recording.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <string>

#include "import/recording/recorded_bytes_for_test.h"
#include "trace/debug_text_for_test.h"
#include "trace/problem_count_for_test.h"

namespace opscope {
namespace {

constexpr uint8_t kFunction = 0, kBackward = 1, kUser = 7;

struct Recording {
  RecordingBytes bytes;

  explicit Recording(std::string_view info_members = {}) {
    bytes.Add(block_types::kWindowInfo, WindowInfoText(info_members));
  }
  void Add(const ChunkBytes& chunk) { bytes.Add(block_types::kRawChunk, chunk.bytes()); }
  Trace Import() const {
    Result<Trace> trace = ImportRecording(bytes.blocks);
    EXPECT_TRUE(trace.ok()) << trace.error().message;
    return std::move(trace).value();
  }
};

ChunkFacts Small(ChunkFacts facts = {}) {
  facts.size = 4096;
  return facts;
}

std::string Spans(const Trace& trace) {
  std::string text;
  const SpanColumns& spans = trace.spans();
  for (size_t i = 0; i < spans.size(); ++i) {
    text += std::string(spans.depth[i], '.') + std::string(trace.text(spans.name[i])) + " ";
  }
  return text;
}

TEST(Recording, NestsByDepthNotByTime) {
  Recording recording;
  ChunkBytes chunk(Small());
  // Every time is equal: only depth tells that b and c are children of a, and d of c.
  chunk.Scope("b", 5000, 0, 1), chunk.Scope("d", 5000, 0, 2), chunk.Scope("c", 5000, 0, 1),
      chunk.Scope("a", 5000, 0, 0);
  chunk.Scope("e", 5000, 0, 0);
  recording.Add(chunk);
  EXPECT_EQ(Spans(recording.Import()), "a .b .c ..d e ");
}

TEST(Recording, AcceptsGapsInDepth) {
  Recording recording;
  ChunkBytes chunk(Small());
  chunk.Scope("leaf", 20, 1, 9), chunk.Scope("middle", 10, 20, 4), chunk.Scope("other", 40, 1, 7);
  chunk.Scope("root", 5, 50, 2);
  recording.Add(chunk);
  EXPECT_EQ(Spans(recording.Import()), "root .middle ..leaf .other ");
}

TEST(Recording, TurnsTicksIntoNanosecondsBetweenCalibrations) {
  Recording recording;
  recording.bytes = {};
  recording.bytes.Add(block_types::kWindowInfo,
                      "{\"calibrations\":[[1000,5000000000],[2001000,6000000000],[3001000,7000000000]]}");
  ChunkBytes chunk(Small());
  chunk.Scope("first", 1000, 2000, 0), chunk.Scope("second", 2001000, 1000, 0), chunk.Scope("before", 0, 1000, 0);
  recording.Add(chunk);
  const Trace trace = recording.Import();
  EXPECT_EQ(trace.info().epoch_ns, 5000000000);
  EXPECT_EQ(trace.spans().start[0].ns, 0);
  EXPECT_EQ(trace.spans().duration[0].ns, 1000000);  // 500 ns per tick in the first piece
  EXPECT_EQ(trace.spans().start[1].ns, 1000000000);
  EXPECT_EQ(trace.spans().duration[1].ns, 1000000);  // 1000 in the second
  EXPECT_EQ(trace.spans().start[2].ns, -500000);
}

TEST(Recording, JoinsTheChunksOfAThreadInOrder) {
  Recording recording;
  ChunkBytes first(Small()), second(Small({.sequence = 1})), other(Small({.os_thread = 7, .thread_index = 2}));
  first.Scope("child", 10, 1, 1), second.Scope("parent", 5, 20, 0), other.Scope("elsewhere", 1, 1, 0);
  recording.Add(second), recording.Add(other), recording.Add(first);
  const Trace trace = recording.Import();
  EXPECT_EQ(Spans(trace), "parent .child elsewhere ");
  ASSERT_EQ(trace.tracks().size(), 2u);
  EXPECT_EQ(trace.tracks().tid[1], 7);
  EXPECT_EQ(trace.text(trace.processes().name[0]), "train");
  EXPECT_EQ(trace.problems().size(), 0u);
  EXPECT_EQ(trace.info().recorded, 3u);
}

TEST(Recording, CountsMissingChunksAndAdoptsNothingOfBefore) {
  Recording recording;
  ChunkBytes first(Small()), third(Small({.sequence = 2}));
  first.Scope("orphan", 100, 1, 3);  // its parents were in the second chunk
  third.Scope("child", 210, 1, 1), third.Scope("root", 200, 50, 0);
  recording.Add(first), recording.Add(third);
  const Trace trace = recording.Import();
  EXPECT_EQ(Spans(trace), "orphan root .child ");
  EXPECT_EQ(ProblemCount(trace, "missing_chunk"), 1u);
  EXPECT_TRUE(trace.is_partial());
}

TEST(Recording, KnowsFromTheCountsThatTheLastChunkIsMissing) {
  Recording recording("\"threads\":[{\"index\":1,\"recorded\":5,\"dropped\":2,\"name\":\"main\"}]");
  ChunkBytes chunk(Small());
  chunk.Scope("a", 1, 1, 0);
  recording.Add(chunk);
  const Trace trace = recording.Import();
  EXPECT_EQ(ProblemCount(trace, "missing_chunk"), 1u);
  EXPECT_EQ(ProblemCount(trace, "dropped_at_cap"), 2u);
  EXPECT_EQ(trace.info().dropped, 2u);
  EXPECT_EQ(trace.text(trace.tracks().name[0]), "main");
}

TEST(Recording, TakesTheLossOfOldChunksForPolicyWhenTheNewestAreKept) {
  Recording recording;
  recording.bytes = {};
  recording.bytes.Add(block_types::kWindowInfo,
                      "{\"generation\":1,\"at_cap\":\"keep_newest\",\"threads\":"
                      "[{\"index\":1,\"recorded\":1,\"dropped\":40}]}");
  ChunkBytes chunk(Small({.sequence = 12, .dropped_before = 40}));
  chunk.Scope("newest", 1, 1, 0);
  recording.Add(chunk);
  const Trace trace = recording.Import();
  EXPECT_EQ(ProblemCount(trace, "missing_chunk"), 0u);
  EXPECT_EQ(trace.info().dropped, 40u);
  EXPECT_FALSE(trace.is_partial());
}

TEST(Recording, MarksUnfinishedScopesAndSteps) {
  Recording recording;
  ChunkBytes chunk(Small());
  chunk.Scope("ProfilerStep#17", 0, 10, 0, {}, kUser, record_flags::kStep);
  chunk.Scope("open", 20, 5, 0, {}, kFunction, record_flags::kUnfinished);
  recording.Add(chunk);
  const Trace trace = recording.Import();
  EXPECT_EQ(trace.steps().number[0], 17);
  EXPECT_EQ(trace.steps().span[0], SpanId{0});
  EXPECT_EQ(trace.text(trace.spans().category[0]), "user_annotation");
  EXPECT_EQ(trace.spans().flags[1], span_flags::kUnfinished);
  EXPECT_EQ(ProblemCount(trace, "unfinished_scope"), 1u);
  EXPECT_FALSE(trace.is_partial());
}

TEST(Recording, KeepsAsynchronousScopesOutOfTheNestingOnTheThreadWhereTheyBegan) {
  Recording recording;
  ChunkBytes home(Small()), away(Small({.os_thread = 8, .thread_index = 2}));
  home.Scope("inside", 30, 5, 1), home.Scope("outer", 20, 30, 0);
  Record record;
  record.kind = RecordKind::kAsync;
  record.source = RecordSource::kTorch;
  record.start = 10, record.value = 100, record.flags = record_flags::kOtherThread;
  record.name = away.Name("future");
  record.payload = away.Side(PayloadBytes().Field(payload_fields::kStartThread, {1}).Finish());
  away.Add(record);
  recording.Add(home), recording.Add(away);
  const Trace trace = recording.Import();
  EXPECT_EQ(Spans(trace), "outer .inside future ");
  EXPECT_EQ(trace.spans().track[2], trace.spans().track[0]);
  EXPECT_EQ(trace.spans().flags[2], span_flags::kAsync | span_flags::kOtherThread);
}

TEST(Recording, AdoptsNothingThatBeganBeforeItsParent) {
  Recording recording;
  ChunkBytes home(Small()), away(Small({.os_thread = 8, .thread_index = 2}));
  // Another thread ended "future" (begun at 10); its owner noticed only behind "next", which so has depth 1.
  home.Scope("next", 20, 5, 1), home.Scope("child", 40, 5, 1), home.Scope("root", 30, 20, 0);
  home.Scope("within", 60, 1, 1);
  Record own;  // begun before "last", ended inside it: crosses it, and is no part of the nesting
  own.kind = RecordKind::kAsync;
  own.start = 55, own.value = 7, own.name = home.Name("crossing");
  home.Add(own);
  home.Scope("last", 58, 10, 0);
  recording.Add(home), recording.Add(away);
  EXPECT_EQ(Spans(recording.Import()), "next root .child last .within crossing ");
}

TEST(Recording, PrintsArgumentsAsTorchDoes) {
  const uint32_t minus_one = 0xffffffff;
  PayloadBytes payload;
  payload.Argument(ArgKind::kTensor, 2, arg_flags::kContiguous, 6, {3, 4})
      .Argument(ArgKind::kTensor, 2, 0, 15, {3, 4, 1, 3})
      .Argument(ArgKind::kTensor, 1, arg_flags::kWide | arg_flags::kContiguous, 4, {0, 2})
      .Argument(ArgKind::kTensor, 2, arg_flags::kNoStrides, 7, {5, 6})
      .Argument(ArgKind::kUndefined)
      .Argument(ArgKind::kOther)
      .Argument(ArgKind::kTensorList, 2)
      .Element(ArgKind::kTensor, 1, arg_flags::kContiguous, 11, {9})
      .Element(ArgKind::kUndefined)
      .Argument(ArgKind::kInt, 0, 0, 0, {minus_one, minus_one})
      .Argument(ArgKind::kBool, 1)
      .Argument(ArgKind::kIntList, 2, 0, 0, {64, minus_one})
      .Argument(ArgKind::kIntList)
      .Argument(ArgKind::kBoolList, 2, 0, 0, {1, 0})
      .Argument(ArgKind::kDouble)
      .Double(0.1)
      .Argument(ArgKind::kDoubleList, 2)
      .Double(1.0)
      .Double(1e20)
      .Argument(ArgKind::kComplex)
      .Double(0.5)
      .Double(-2.0);
  Recording recording;
  ChunkBytes chunk(Small());
  chunk.Scope("op", 0, 1, 0, payload.Finish()), chunk.Scope("op", 2, 1, 0, payload.Finish());
  recording.Add(chunk);
  const Trace trace = recording.Import();
  EXPECT_EQ(trace.argument_list_count(), 1u);
  EXPECT_EQ(trace.spans().args[0], trace.spans().args[1]);
  const std::string dump = ToDebugText(trace);
  EXPECT_NE(dump.find("args=(tensor \"float\"[3,4]/[4,1]; tensor \"c10::BFloat16\"[3,4]/[1,3]; "
                      "tensor \"long int\"[8589934592]/[1]; tensor \"double\"[5,6]; undefined; other; "
                      "tensors \"TensorList\"(tensor \"bool\"[9]/[1]; undefined); scalar \"Scalar\" value=\"-1\"; "
                      "scalar \"Scalar\" value=\"True\"; scalars \"ScalarList\" value=\"[64, -1]\"; "
                      "scalars \"ScalarList\" value=\"[]\"; scalars \"ScalarList\" value=\"[True, False]\"; "
                      "scalar \"Scalar\" value=\"0.10000000000000001\"; "
                      "scalars \"ScalarList\" value=\"[1., 1e+20]\"; scalar \"Scalar\" value=\"0.5-2.j\")"),
            std::string::npos)
      << dump;
}

// The program: two forward ops with sequence number 5 (the later one is linked), their backward.
TEST(Recording, LinksForwardToBackwardAsKinetoDoes) {
  Recording recording;
  ChunkBytes forward(Small()), backward(Small({.os_thread = 9, .thread_index = 2, .logical_thread = 2}));
  const auto sequence = [](int64_t number, uint64_t thread) {
    return PayloadBytes().Sequence(number, thread).Finish();
  };
  forward.Scope("aten::mul", 110, 10, 1, sequence(5, 0)), forward.Scope("aten::linear", 100, 50, 0, sequence(5, 0));
  backward.Scope("MulBackward0", 210, 20, 1, sequence(5, 1), kBackward);
  backward.Scope("autograd::engine::evaluate_function: MulBackward0", 200, 50, 0);
  backward.Scope("torch::autograd::AccumulateGrad", 310, 20, 1, sequence(-1, 1), kBackward);
  backward.Scope("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 300, 50, 0);
  recording.Add(forward), recording.Add(backward);
  const Trace trace = recording.Import();
  const SpanColumns& spans = trace.spans();
  ASSERT_EQ(spans.size(), 6u);
  EXPECT_EQ(spans.sequence[2], 5);  // passed up from MulBackward0
  EXPECT_EQ(spans.forward_thread[2], 1u);
  EXPECT_EQ(spans.sequence[4], -1);
  EXPECT_EQ(spans.forward_thread[4], 0u);
  EXPECT_EQ(spans.forward_thread[5], 0u);  // hidden without a sequence number
  for (uint32_t i = 0; i < 6; ++i)
    EXPECT_EQ(spans.external_id[i], i + 1);
  ASSERT_EQ(trace.flows().size(), 1u);
  EXPECT_EQ(trace.flows().id[0], 1u);
  EXPECT_EQ(trace.text(trace.flows().category[0]), "fwdbwd");
  EXPECT_EQ(trace.flows().start_span[0], SpanId{1});  // aten::mul starts later than aten::linear
  EXPECT_EQ(trace.flows().end_span[0], SpanId{3});    // MulBackward0 ends before the function around it
}

TEST(Recording, NumbersSpansOfAllThreadsByStart) {
  Recording recording;
  ChunkBytes one(Small()), two(Small({.thread_index = 2}));
  one.Scope("a", 10, 1, 0), one.Scope("c", 30, 1, 0), two.Scope("b", 20, 1, 0), two.Scope("d", 40, 1, 0);
  recording.Add(one), recording.Add(two);
  const Trace trace = recording.Import();
  EXPECT_EQ(std::vector<uint32_t>(trace.spans().external_id.begin(), trace.spans().external_id.end()),
            (std::vector<uint32_t>{1, 3, 2, 4}));
}

TEST(Recording, ReadsAllOtherKindsOfRecords) {
  Recording recording;
  ChunkBytes chunk(Small());
  const auto add = [&](RecordKind kind, std::string_view name, uint64_t start, uint64_t value,
                       std::string payload = {}) {
    Record record;
    record.kind = kind, record.start = start, record.value = value, record.name = chunk.Name(name);
    if (!payload.empty()) record.payload = chunk.Side(payload);
    chunk.Add(record);
  };
  add(RecordKind::kCounter, "loss", 1010, std::bit_cast<uint64_t>(0.25));
  add(RecordKind::kInstant, "epoch", 1020, 0);
  add(RecordKind::kFlowBegin, "arrow", 1030, 77);
  add(RecordKind::kFlowEnd, "arrow", 1040, 77);
  add(RecordKind::kFlowEnd, "stray", 1045, 78);
  add(RecordKind::kAllocation, "", 1050, static_cast<uint64_t>(-64),
      PayloadBytes().Field(payload_fields::kAddress, {0xabc0, uint64_t{0xffffffff} << 32}).Finish());
  add(RecordKind::kDeviceSpan, "gemm", 1060, 5,
      PayloadBytes().Field(payload_fields::kDevice, {uint64_t{7} << 32 | 1, 9}).Finish());
  add(RecordKind::kEnter, "f.py(3): main", 1070, 0), add(RecordKind::kEnter, "f.py(9): step", 1071, 0);
  add(RecordKind::kExit, "", 1075, 0);
  recording.Add(chunk);
  EXPECT_EQ(ToDebugText(recording.Import(), {.info = false}),
            "process 4242 name=\"train\"\n"
            "process 1\n"
            "track 0 process=0 tid=100 logical_thread=1 spans=2\n"
            "track 1 process=1 kind=1 tid=7 device=1 spans=1\n"
            "span 0 70+999999930 \"f.py(3): main\" category=\"user_annotation\" flags=1\n"
            "span 0 71+4   \"f.py(9): step\" category=\"user_annotation\" parent=0\n"
            "span 1 60+5 \"gemm\" category=\"kernel\" correlation=9\n"
            "instant 20 \"epoch\" category=\"cpu_instant_event\" track=0\n"
            "instant 50 \"[memory]\" category=\"cpu_instant_event\" track=0\n"
            "counter 10 \"loss\" series=\"value\" track=0 value=0.25\n"
            "flow 77 \"arrow\" category=\"flow\" from=30 track=0 to=40 track=0\n"
            "allocation 50 -64 track=0 address=0xabc0\n"
            "problem unfinished_scope count=1 message=\"scopes were still open when the recording ended\"\n"
            "problem unpaired_flow count=1 message=\"flow ends without their other end were dropped\"\n");
}

TEST(Recording, CountsRecordsThatContradictTheFormat) {
  Recording recording;
  ChunkBytes chunk(Small());
  chunk.Scope("good", 0, 1, 0);
  const auto bad = [&](auto change) {
    Record record;
    record.kind = RecordKind::kScope;
    change(&record);
    chunk.Add(record);
  };
  bad([](Record* r) { r->kind = RecordKind::kNone; });
  bad([](Record* r) { r->kind = static_cast<RecordKind>(200); });
  bad([](Record* r) { r->name = 4096; });
  bad([](Record* r) { r->name = 3; });
  bad([](Record* r) { r->payload = 0xfffffff8; });
  bad([&](Record* r) { r->payload = chunk.Side(std::string("\x09\0\0\0\0\0\0\0", 8)); });
  bad([&](Record* r) { r->payload = chunk.Side(PayloadBytes().Argument(ArgKind::kTensor, 60000).Finish()); });
  bad([&](Record* r) { r->payload = chunk.Side(PayloadBytes().Argument(ArgKind::kTensorList, 65535).Finish()); });
  chunk.Put(104, uint32_t{2000000});  // more records than there is room for
  recording.Add(chunk);
  const Trace trace = recording.Import();
  EXPECT_EQ(trace.spans().size(), 1u);
  EXPECT_GT(ProblemCount(trace, "damaged_record"), 8u);
  EXPECT_TRUE(trace.is_partial());
}

TEST(Recording, MakesAProblemOfWhatASourceCouldNotRecord) {
  const Trace trace = Recording("\"metadata\":{\"opscope.source_failures\":3,\"n\":1}").Import();
  EXPECT_EQ(ProblemCount(trace, "source_failure"), 3u);
  EXPECT_EQ(trace.metadata().size(), 1u);
}

TEST(Recording, KeepsMetadataAndOptionsAsTheyWere) {
  Recording recording("\"max_bytes\":1024,\"metadata\":{\"a b\":{\"x\" : [1, 2.50]},\"n\":-1e3,\"s\":\"\\udcff\"}");
  const Trace trace = recording.Import();
  EXPECT_EQ(trace.info().options_json, "{\"at_cap\":\"stop\",\"max_bytes\":1024}");
  ASSERT_EQ(trace.metadata().size(), 3u);
  EXPECT_EQ(trace.text(trace.metadata().json[0]), "{\"x\" : [1, 2.50]}");
  EXPECT_EQ(trace.text(trace.metadata().json[1]), "-1e3");
  EXPECT_EQ(trace.text(trace.metadata().json[2]), "\"\\udcff\"");
}

TEST(Recording, SurvivesNamesOfAnyBytes) {
  Recording recording;
  ChunkBytes chunk(Small());
  using namespace std::string_literals;
  const std::string name = "quote\" \\ \n\t\xff\xfe \xf0\x9f\x98\x80\0end"s;
  chunk.Scope(name, 0, 1, 0);
  recording.Add(chunk);
  const Trace trace = recording.Import();
  EXPECT_EQ(trace.text(trace.spans().name[0]), name);
}

TEST(Recording, SharesOneTrackBetweenWindowsThatOverlap) {
  Recording recording;
  ChunkBytes one(Small()), two(Small({.window = 2}));
  one.Scope("inner", 20, 10, 1), one.Scope("outer", 10, 100, 0), two.Scope("inner", 20, 10, 0);
  recording.Add(one), recording.Add(two);
  const Trace trace = recording.Import();
  EXPECT_EQ(trace.tracks().size(), 1u);
  EXPECT_EQ(Spans(trace), "outer .inner ..inner ");
}

TEST(Recording, FlipsOfAnyByteOfAChunkNeverCrash) {
  ChunkBytes chunk([] {
    ChunkFacts facts;
    facts.size = 640;
    return facts;
  }());
  chunk.Scope("a", 10, 1, 1, PayloadBytes().Sequence(3, 1).Argument(ArgKind::kIntList, 2, 0, 0, {1, 2}).Finish());
  chunk.Scope("b", 5, 20, 0);
  const std::string good = chunk.bytes();
  for (size_t at = 0; at < good.size(); ++at) {
    for (const int mask : {0x01, 0x80, 0xff}) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ mask);
      const RecordingBlock block{block_types::kRawChunk, std::as_bytes(std::span(bytes))};
      const Result<Trace> trace = ImportRecording(std::span(&block, 1));
      ASSERT_TRUE(trace.ok());
      ASSERT_LE(trace.value().spans().size(), 2u);
    }
  }
}

}  // namespace
}  // namespace opscope
