// What Paddle's files contain beside times and names, and that damaged numbers leave them readable.
// SPDX-License-Identifier: Apache-2.0
#include "export/paddle/facts.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "opscope/export/formats.h"
#include "opscope/import.h"
#include "trace/builder.h"

namespace opscope {
namespace {

TEST(PaddleFacts, DecodeBothHalvesOfACharacter) {
  EXPECT_EQ(TextOfJson(R"("a\ud83d\udc96b")"),
            "a\xf0\x9f\x92\x96"
            "b");
  EXPECT_EQ(TextOfJson(R"("\u00e9\n\"\/")"), "\xc3\xa9\n\"/");
  EXPECT_EQ(TextOfJson(R"("\udcff")"), "\xff") << "a byte that is not UTF-8";
  EXPECT_EQ(TextOfJson(R"("\ud83dx")"), "\xed\xa0\xbdx") << "half a character";
  EXPECT_EQ(TextOfJson(R"("\u12")"), "\\u12") << "not an escape";
}

TEST(PaddleFacts, OfManyThreadsHaveTheFirstNameOfEach) {
  constexpr int64_t kThreads = 200'000;
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1}), second = builder.AddProcess({.pid = 2});
  for (int64_t i = 0; i < kThreads; ++i)
    builder.AddTrack({.process = process, .tid = i, .name = builder.Intern("t" + std::to_string(i))});
  builder.AddTrack({.process = second, .tid = 5, .name = builder.Intern("another")});
  const PaddleRunFacts facts = ReadPaddleRunFacts(builder.Build());  // minutes, were it quadratic
  const auto is_named = [](const auto& entry) { return entry.first == "5"; };
  ASSERT_EQ(std::count_if(facts.extra_info.begin(), facts.extra_info.end(), is_named), 1);
  EXPECT_EQ(std::find_if(facts.extra_info.begin(), facts.extra_info.end(), is_named)->second, "t5");
  EXPECT_GE(facts.extra_info.size(), size_t{kThreads});
}

TEST(PaddleChrome, IsJsonIfANumberOfAKernelIsBeyondThoseOfFloat) {
  constexpr std::string_view kText = R"({"traceEvents":[
{"ph":"X","name":"op","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":50},
{"ph":"X","name":"cudaLaunchKernel","cat":"cuda_runtime","pid":1,"tid":1,"ts":5,"dur":5,"args":{"correlation":5}},
{"ph":"X","name":"kernel","cat":"kernel","pid":0,"tid":7,"ts":20,"dur":5,
 "args":{"device":0,"stream":7,"correlation":5,"blocks per SM":1e39}}]})";
  const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(kText)), "trace.json");
  ASSERT_TRUE(trace.ok());
  const std::string json = ExportToBytes(trace.value(), ExportFormat::kPaddleChrome).value().bytes;
  EXPECT_NE(json.find("\"blocks per SM\":0.000000"), std::string::npos) << json;
  simdjson::dom::parser parser;
  EXPECT_EQ(parser.parse(json).error(), simdjson::SUCCESS) << json;
}

}  // namespace
}  // namespace opscope
