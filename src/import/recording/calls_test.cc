// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "import/recording/recorded_bytes_for_test.h"
#include "trace/debug_text_for_test.h"
#include "trace/problem_count_for_test.h"

namespace opscope {
namespace {

// One thread that enters and leaves calls of Python; identities are the test's own, times count from 1000.
class Calls {
 public:
  explicit Calls(uint32_t chunk_bytes = 8192) : chunk_({.size = chunk_bytes}) {}
  Calls& Enter(const std::string& name, uint64_t start, uint64_t identity) {
    return Add(RecordKind::kEnter, chunk_.Name(name), start, identity);
  }
  Calls& Call(const std::string& name, uint64_t start, uint64_t identity, CallKind kind) {
    Record record;
    record.kind = RecordKind::kEnter, record.name = chunk_.Name(name), record.start = 1000 + start,
    record.value = identity, record.source = RecordSource::kPython, record.scope = static_cast<uint8_t>(kind);
    chunk_.Add(record);
    return Exit(start + 1, identity);
  }
  // With a payload at this offset of the chunk.
  Calls& CallFrom(uint32_t payload, const std::string& name, uint64_t start, uint64_t identity) {
    Record record;
    record.kind = RecordKind::kEnter, record.name = chunk_.Name(name), record.payload = payload,
    record.start = 1000 + start, record.value = identity, record.source = RecordSource::kPython;
    chunk_.Add(record);
    return Exit(start + 1, identity);
  }
  // A payload with JSON members; its offset.
  uint32_t Members(const std::string& members) {
    const uint32_t text = chunk_.Name(members);
    return chunk_.Side(PayloadBytes().Field(payload_fields::kKeywords, {text}).Finish());
  }
  Result<Trace> Import(const std::string& metadata = "") {
    RecordingBytes recording;
    recording.Add(block_types::kWindowInfo, WindowInfoText("\"metadata\":{" + metadata + "}"));
    recording.Add(block_types::kRawChunk, chunk_.bytes());
    return ImportRecording(recording.blocks);
  }
  // Of its spans in their order.
  std::vector<SpanKind> ReadKinds() {
    const Result<Trace> trace = Import();
    if (!trace.ok()) return {};
    const std::span<const SpanKind> kinds = trace.value().spans().kind;
    return {kinds.begin(), kinds.end()};
  }
  Calls& Exit(uint64_t start, uint64_t identity) { return Add(RecordKind::kExit, 0, start, identity); }
  Calls& Scope(const std::string& name, uint64_t start, uint64_t ticks, uint16_t depth) {
    chunk_.Scope(name, 1000 + start, ticks, depth);
    return *this;
  }
  Calls& Step(const std::string& name, uint64_t start, uint64_t ticks) {
    Record record;
    record.kind = RecordKind::kScope, record.name = chunk_.Name(name), record.start = 1000 + start,
    record.value = ticks;
    record.source = RecordSource::kTorch, record.scope = static_cast<uint8_t>(ScopeType::kUserScope);
    chunk_.Add(record);
    return *this;
  }
  // Its spans, Python calls and problems, as ToDebugText writes them.
  std::string Read(const std::string& metadata = "\"opscope.call_stacks\":1") {
    const Result<Trace> trace = Import(metadata);
    if (!trace.ok()) return trace.error().message;
    const std::string all = ToDebugText(trace.value(), {.info = false});
    std::string kept;
    for (size_t at = 0, end = 0; (end = all.find('\n', at)) != std::string::npos; at = end + 1) {
      const std::string line = all.substr(at, end + 1 - at);
      if (line.starts_with("span") || line.starts_with("python_call") || line.starts_with("problem")) kept += line;
    }
    return kept;
  }

 private:
  Calls& Add(RecordKind kind, uint32_t name, uint64_t start, uint64_t identity) {
    Record record;
    record.kind = kind, record.name = name, record.start = 1000 + start, record.value = identity;
    record.source = RecordSource::kPython;
    chunk_.Add(record);
    return *this;
  }
  ChunkBytes chunk_;
};

TEST(RecordingCalls, NestWithTheOperatorsThatTheyMake) {
  Calls calls;
  calls.Enter("f", 10, 1).Enter("len", 12, 3).Exit(14, 3).Scope("aten::add", 20, 5, 0).Exit(40, 1);
  EXPECT_EQ(calls.Read(),
            "span 0 10+30 \"f\" category=\"python_function\"\n"
            "span 0 12+2   \"len\" category=\"python_function\" parent=0 stack=\"f\"\n"
            "span 0 20+5   \"aten::add\" category=\"cpu_op\" parent=0 scope=0 external_id=1 stack=\"f\"\n"
            "python_call span=0 id=1 thread=0\n"
            "python_call span=1 id=2 caller=1 thread=0\n");
}

TEST(RecordingCalls, LeaveARangeThatCrossesThemBesideThem) {
  Calls calls;
  calls.Enter("main", 5, 1);
  calls.Enter("__enter__", 10, 2).Enter("late", 22, 3).Exit(24, 3).Exit(30, 2);  // the range begins at 20
  calls.Scope("aten::add", 32, 5, 1);
  calls.Enter("__exit__", 40, 2).Scope("range", 20, 25, 0).Exit(50, 2).Exit(60, 1);
  EXPECT_EQ(
      calls.Read(),
      "span 0 5+55 \"main\" category=\"python_function\"\n"
      "span 0 10+20   \"__enter__\" category=\"python_function\" parent=0 stack=\"main\"\n"
      "span 0 20+25   \"range\" category=\"cpu_op\" parent=0 scope=0 external_id=1 stack=\"__enter__\" < \"main\"\n"
      "span 0 22+2     \"late\" category=\"python_function\" parent=2 stack=\"__enter__\" < \"main\"\n"
      "span 0 32+5     \"aten::add\" category=\"cpu_op\" parent=2 scope=0 external_id=2 stack=\"main\"\n"
      "span 0 40+10   \"__exit__\" category=\"python_function\" parent=0 stack=\"main\"\n"
      "python_call span=0 id=1 thread=0\n"
      "python_call span=1 id=2 caller=1 thread=0\n"
      "python_call span=3 id=3 caller=2 thread=0\n"
      "python_call span=5 id=4 caller=1 thread=0\n");
}

TEST(RecordingCalls, NestWhenTheyWereOpenAllTheTime) {
  Calls calls;
  calls.Enter("main", 0, 1).Enter("train", 0, 2).Enter("len", 12, 3).Exit(14, 3);
  EXPECT_EQ(calls.Read(),
            "span 0 0+1000000000 \"main\" category=\"python_function\" flags=1\n"
            "span 0 0+1000000000   \"train\" category=\"python_function\" parent=0 flags=1 stack=\"main\"\n"
            "span 0 12+2     \"len\" category=\"python_function\" parent=1 stack=\"train\" < \"main\"\n"
            "python_call span=0 id=1 thread=0\n"
            "python_call span=1 id=2 caller=1 thread=0\n"
            "python_call span=2 id=3 caller=2 thread=0\n");
}

TEST(RecordingCalls, EndByIdentityInWhateverOrder) {
  Calls calls;  // two greenlets
  calls.Enter("a", 10, 1).Enter("b", 20, 2).Exit(30, 1).Enter("c", 40, 3).Exit(50, 2).Exit(60, 3);
  EXPECT_EQ(calls.Read(),
            "span 0 10+20 \"a\" category=\"python_function\"\n"
            "span 0 20+30 \"b\" category=\"python_function\"\n"
            "span 0 40+20 \"c\" category=\"python_function\"\n"
            "python_call span=0 id=1 thread=0\n"
            "python_call span=1 id=2 thread=0\n"
            "python_call span=2 id=3 thread=0\n");
}

TEST(RecordingCalls, AreOfTheKindThatTheRecordSays) {
  Calls calls;
  calls.Call("<eval_with_key>.0 from /a.py:12 in forward(5): forward", 10, 1, CallKind::kPython);
  calls.Call("<built-in method a(1): b of C object at 0x7f00>", 20, 2, CallKind::kFunction);
  calls.Call("Linear_0", 30, 3, CallKind::kModule);
  calls.Call("gc.py(1): collect", 40, 4, CallKind::kCollector);
  EXPECT_EQ(calls.ReadKinds(),
            (std::vector{SpanKind::kPythonFunction, SpanKind::kCFunction, SpanKind::kModule, SpanKind::kOther}));
}

// All calls of the first recordings say kPython.
TEST(RecordingCalls, OfTheFirstRecordingsAreOfTheKindThatTheNameSays) {
  Calls calls;
  calls.Call("train.py(3): main", 10, 1, CallKind::kPython).Call("nn.Module: Linear_0", 20, 2, CallKind::kPython);
  calls.Call("<built-in function len>", 30, 3, CallKind::kPython).Call("Python GC", 40, 4, CallKind::kPython);
  EXPECT_EQ(calls.ReadKinds(),
            (std::vector{SpanKind::kPythonFunction, SpanKind::kModule, SpanKind::kCFunction, SpanKind::kOther}));
}

TEST(RecordingCalls, CountEndsThatBelongToNone) {
  Calls calls;
  calls.Exit(5, 7).Enter("a", 10, 1).Exit(20, 2).Exit(30, 1).Exit(40, 1);
  EXPECT_EQ(calls.Read(),
            "span 0 10+20 \"a\" category=\"python_function\"\n"
            "python_call span=0 id=1 thread=0\n"
            "problem stray_end count=3 message=\"end events without a begin were dropped\"\n");
}

TEST(RecordingCalls, LastToTheEndOfTheWindowWhenTheyDoNotEnd) {
  Calls calls;
  calls.Enter("a", 10, 1).Enter("a", 20, 2).Exit(30, 2);
  EXPECT_EQ(calls.Read(),
            "span 0 10+999999990 \"a\" category=\"python_function\" flags=1\n"
            "span 0 20+10   \"a\" category=\"python_function\" parent=0 stack=\"a\"\n"
            "python_call span=0 id=1 thread=0\n"
            "python_call span=1 id=2 caller=1 thread=0\n");
}

// The first step ends in a call that began in it; the second in one that began before it; in the third one begins that
// ends before the step does.
Calls ThreeSteps() {
  Calls calls;
  calls.Enter("step", 40, 1).Step("ProfilerStep#0", 10, 40).Enter("open", 52, 3).Exit(54, 3);
  calls.Step("ProfilerStep#1", 60, 5).Exit(70, 1).Enter("train", 90, 1).Exit(95, 1).Step("ProfilerStep#2", 80, 20);
  return calls;
}

TEST(RecordingCalls, TakeTheStepThatEndsInThemWhenThatIsAsked) {
  EXPECT_EQ(ThreeSteps().Read("\"opscope.adjust_steps\":1"),
            "span 0 40+30 \"step\" category=\"python_function\"\n"
            "span 0 41+9   \"ProfilerStep#0\" category=\"user_annotation\" parent=0 flags=8 scope=7 external_id=1\n"
            "span 0 52+2   \"open\" category=\"python_function\" parent=0\n"
            "span 0 60+5   \"ProfilerStep#1\" category=\"user_annotation\" parent=0 flags=8 scope=7 external_id=2\n"
            "span 0 80+20 \"ProfilerStep#2\" category=\"user_annotation\" flags=8 scope=7 external_id=3\n"
            "span 0 90+5   \"train\" category=\"python_function\" parent=4\n"
            "python_call span=0 id=1\n"
            "python_call span=2 id=2 caller=1\n"
            "python_call span=5 id=3\n");
}

TEST(RecordingCalls, HaveTheMembersOfTheirPayloadWhichTheyShare) {
  Calls calls;
  const uint32_t place = calls.Members("\"CallFrom\":\"a.py:1\""), other = calls.Members("\"CallFrom\":\"a.py:2\"");
  calls.CallFrom(place, "f", 10, 1).CallFrom(other, "g", 12, 2).CallFrom(place, "h", 14, 3);
  const std::string read = calls.Read("");
  EXPECT_NE(read.find("\"f\" category=\"python_function\" extra=\"\\\"CallFrom\\\":\\\"a.py:1\\\"\""),
            std::string::npos)
      << read;
  EXPECT_NE(read.find("\"g\" category=\"python_function\" extra=\"\\\"CallFrom\\\":\\\"a.py:2\\\"\""),
            std::string::npos);
  EXPECT_NE(read.find("\"h\" category=\"python_function\" extra=\"\\\"CallFrom\\\":\\\"a.py:1\\\"\""),
            std::string::npos);
}

TEST(RecordingCalls, AreKeptWithoutMembersWhereTheirPayloadIsDamaged) {
  Calls calls;
  calls.CallFrom(8188, "f", 10, 1).CallFrom(4, "g", 12, 2);
  const std::string read = calls.Read("");
  EXPECT_NE(read.find("\"f\" category=\"python_function\"\n"), std::string::npos) << read;
  EXPECT_NE(read.find("\"g\" category=\"python_function\"\n"), std::string::npos) << read;
}

TEST(RecordingCalls, LeaveStepsWhereTheyAreWhenNobodyAsks) {
  EXPECT_NE(ThreeSteps().Read("").find("span 0 10+40 \"ProfilerStep#0\""), std::string::npos);
}

// A program of tens of thousands of greenlets, each of them in a call. A search through all open calls would compare
// more than 1,600,000,000 numbers.
TEST(RecordingCalls, OfManyGreenletsEndInAnyOrder) {
  constexpr uint64_t kCalls = 40'000;
  Calls calls(8 << 20);
  for (const uint64_t of_identity : {0, 1}) {  // two of each identity
    for (uint64_t i = 0; i < kCalls; ++i)
      calls.Enter("f", 10 + of_identity * kCalls + i, i);
  }
  for (uint64_t i = 0; i < kCalls; ++i)
    calls.Exit(500'000 + i, i).Exit(500'000 + i, kCalls + i);  // the second has no begin
  const Result<Trace> trace = calls.Import();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(ProblemCount(trace.value(), "stray_end"), kCalls);
  const SpanColumns& spans = trace.value().spans();
  ASSERT_EQ(spans.size(), 2 * kCalls);
  for (size_t i = 0; i < spans.size(); ++i) {
    // The inner one of each identity has ended, the outer one has not.
    const bool is_inner = spans.start[i].ns >= static_cast<int64_t>(10 + kCalls);
    ASSERT_EQ(spans.flags[i], is_inner ? 0 : span_flags::kUnfinished);
    ASSERT_EQ(is_inner, spans.duration[i].ns == 499'990 - static_cast<int64_t>(kCalls));
  }
}

}  // namespace
}  // namespace opscope
