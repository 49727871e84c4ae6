// --explain says what an answer rests on.
// SPDX-License-Identifier: Apache-2.0
#include <simdjson.h>

#include <string>

#include "cli/program_for_test.h"

namespace opscope {
namespace {

using Explain = Cli;

constexpr const char* kJob = R"([
{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"ProfilerStep#1","cat":"user_annotation"},
{"ph":"X","pid":1,"tid":1,"ts":1,"dur":8,"name":"aten::mm","cat":"cpu_op"},
{"ph":"X","pid":1,"tid":1,"ts":5,"dur":1,"name":"cudaLaunchKernel","cat":"cuda_runtime","args":{"correlation":3}},
{"ph":"X","pid":0,"tid":7,"ts":4.5,"dur":2,"name":"gemm","cat":"kernel","args":{"device":0,"stream":7,"correlation":3}},
{"ph":"X","pid":0,"tid":7,"ts":8,"dur":1,"name":"gemm","cat":"kernel","args":{"device":0,"stream":7,"correlation":4}},
{"ph":"X","pid":1,"tid":1,"ts":2,"dur":-1,"name":"broken"}
])";

TEST_F(Explain, CountsTheSpansOfEachKindAndHowFarTheClocksDiffer) {
  Put("job.json", kJob);
  simdjson::dom::parser parser;
  for (const char* verb : {"summary", "steps", "devices", "advise", "modules"}) {
    const Outcome outcome = Run(std::string(verb) + " job.json --explain --json --where 'name != broken'");
    simdjson::dom::element json;
    ASSERT_EQ(parser.parse(outcome.out).get(json), simdjson::SUCCESS) << verb << outcome.out;
    const simdjson::dom::element basis = json["explain"];
    const auto number = [&](const char* key) { return int64_t(basis[key]); };
    EXPECT_EQ(number("spans"), 6) << verb;
    EXPECT_EQ(number("host_spans"), 3);
    EXPECT_EQ(number("works"), 2);
    EXPECT_EQ(number("step_spans"), 1);
    EXPECT_EQ(number("other_spans"), 0);
    EXPECT_EQ(number("left_out"), 1);
    EXPECT_EQ(number("launched_works"), 1);
    EXPECT_EQ(number("early_works"), 1);
    EXPECT_EQ(number("clock_error_ns"), 500);
    EXPECT_TRUE(basis["overhead_ns"].is_null());
    EXPECT_EQ(number("window_ns"), 10'000);
  }
  // Of 6 spans: "broken" has no step, the step, the operator and the launch are of the host, two works.
  struct Expected {
    const char* verb;
    int64_t used, unread;
  };
  for (const Expected& each : {Expected{"steps", 5, 0}, Expected{"devices", 3, 2}, Expected{"memory", 3, 2},
                               Expected{"critical-path", 4, 1}, Expected{"advise", 5, 0}, Expected{"roofline", 4, 1},
                               Expected{"diff job.json", 4, 1}, Expected{"diff --by kernel job.json", 2, 3}}) {
    const Outcome outcome = Run(std::string(each.verb) + " job.json --explain --json --where 'name != broken'");
    simdjson::dom::element json;
    ASSERT_EQ(parser.parse(outcome.out).get(json), simdjson::SUCCESS) << each.verb << outcome.out;
    simdjson::dom::element basis = json["explain"];
    if (basis.is_array()) basis = basis.at(0);
    EXPECT_EQ(int64_t(basis["used_spans"]), each.used) << each.verb;
    EXPECT_EQ(int64_t(basis["unread_spans"]), each.unread) << each.verb;
    EXPECT_EQ(int64_t(basis["outside_steps"]), 0) << each.verb;
    EXPECT_EQ(int64_t(basis["left_out"]), 1) << each.verb;
  }
  simdjson::dom::element json;
  ASSERT_EQ(parser.parse(Run("summary job.json --explain --json").out).get(json), simdjson::SUCCESS);
  EXPECT_TRUE(json["explain"]["used_spans"].is_null()) << "summary does not say";
  ASSERT_EQ(parser.parse(Run("steps job.json --json").out).get(json), simdjson::SUCCESS);
  EXPECT_NE(json["explain"].error(), simdjson::SUCCESS) << "only on request";
}

TEST_F(Explain, OfACheckIsThatOfTheTraceAndOfItsBaseline) {
  Put("job.json", kJob);
  Put("one.json", R"([{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"aten::mm","cat":"cpu_op"}])");
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  ASSERT_EQ(parser.parse(Run("check job.json --max spans=9 --explain --json").out).get(json), simdjson::SUCCESS);
  EXPECT_EQ(int64_t(json["explain"]["spans"]), 6);
  const std::string compared = "check job.json --max-increase spans=9 --baseline one.json --explain";
  ASSERT_EQ(parser.parse(Run(compared + " --json").out).get(json), simdjson::SUCCESS);
  EXPECT_EQ(int64_t(json["explain"].at(0)["spans"]), 6);
  EXPECT_EQ(int64_t(json["explain"].at(1)["spans"]), 1);
  const std::string error = Run(compared).error;
  EXPECT_NE(error.find("job.json: Spans: 6\n"), std::string::npos) << error;
  EXPECT_NE(error.find("one.json: Spans: 1\n"), std::string::npos) << error;
}

TEST_F(Explain, SaysInTextOnStandardErrorWhatThereIs) {
  Put("job.json", kJob);
  const Outcome outcome = Run("steps job.json --explain");
  EXPECT_EQ(outcome.out, Run("steps job.json").out);
  for (const char* line : {"job.json: Spans: 6\n", "job.json: Works of devices: 2\n",
                           "job.json: Problem: info: ", "job.json: Clocks differ by at least: 500 ns\n"}) {
    EXPECT_NE(outcome.error.find(line), std::string::npos) << line << "\n" << outcome.error;
  }
}

}  // namespace
}  // namespace opscope
