// A verb that is given by its function alone, of one Trace or of two.
// SPDX-License-Identifier: Apache-2.0
#include "cli/result_verb.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/parse.h"
#include "cli/program_for_test.h"

namespace opscope {
namespace {

struct SpanCount {
  size_t trace;
  size_t spans;
};
constexpr ResultField<SpanCount> kFields[] = {
    {{"trace", "Trace", ResultUnit::kNumber, "Which."}, [](const SpanCount& row) { return row.trace; }},
    {{"spans", "Spans", ResultUnit::kNumber, "How many."}, [](const SpanCount& row) { return row.spans; }},
};
const ResultDescription kCounts = DescribeResult<SpanCount>("count", "rows", "A trace.", kFields);

VerbResult CountSpans(std::span<const Trace> traces, const ResultVerb&) {
  std::vector<SpanCount> counts;
  for (const Trace& trace : traces)
    counts.push_back({counts.size(), trace.spans().size()});
  VerbResult result;
  result.tables.push_back(MakeResultTable<SpanCount>(kCounts, kFields, traces[0], counts));
  return result;
}

class ResultVerbs : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    one_ = Put("one.json", R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":1}])");
    two_ = Put("two.json", R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":1},
                               {"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"dur":1}])");
    cut_ = Put("cut.json", R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":1},{"ph":"X","na)");
  }

  // What the verb prints; the exit code in exit_code_.
  std::string Print(size_t inputs, std::vector<const char*> arguments) {
    CommandLine line;
    line.verbs.push_back(
        MakeResultVerb({.name = "count", .description = "spans", .compute = CountSpans, .inputs = inputs}));
    arguments.insert(arguments.begin(), {"opscope", "count"});
    const ParsedArguments parsed = ParseArguments(line, "0", static_cast<int>(arguments.size()), arguments.data());
    EXPECT_NE(parsed.verb, nullptr) << parsed.error;
    testing::internal::CaptureStdout();
    exit_code_ = parsed.verb->run();
    return testing::internal::GetCapturedStdout();
  }

  std::string one_, two_, cut_;
  int exit_code_ = -1;
};

TEST_F(ResultVerbs, OfOneTracePrintAResultForEachFile) {
  EXPECT_EQ(Print(1, {two_.c_str()}), "Trace  Spans\n    0      2\n");
  EXPECT_EQ(Print(1, {"--csv", one_.c_str(), two_.c_str()}), "trace,spans\r\n0,1\r\ntrace,spans\r\n0,2\r\n");
}

TEST_F(ResultVerbs, OfTwoTracesPrintOneResult) {
  EXPECT_EQ(Print(2, {one_.c_str(), two_.c_str()}), "Trace  Spans\n    0      1\n    1      2\n");
  EXPECT_EQ(Print(2, {"--csv", "--sort", "spans", one_.c_str(), two_.c_str()}), "trace,spans\r\n1,2\r\n0,1\r\n");
  EXPECT_EQ(Print(2, {"--json", "--limit=1", one_.c_str(), two_.c_str()}).find("{\"schema\":\"opscope.count/1\""), 0u);
  EXPECT_EQ(exit_code_, kExitDone);
}

TEST_F(ResultVerbs, OfTwoTracesTakeTwoFiles) {
  EXPECT_EQ(Print(2, {one_.c_str()}), "");
  EXPECT_EQ(exit_code_, kExitUsage);
}

TEST_F(ResultVerbs, OfTwoTracesAreDoneInPartWhereOneIsDamaged) {
  EXPECT_EQ(Print(2, {cut_.c_str(), two_.c_str()}), "Trace  Spans\n    0      1\n    1      2\n");
  EXPECT_EQ(exit_code_, kExitPartial);
  Print(2, {"no-such-file", two_.c_str()});
  EXPECT_EQ(exit_code_, kExitFailed);
}

}  // namespace
}  // namespace opscope
