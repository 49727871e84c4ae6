// The command line of `opscope diff`.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/exit_code.h"
#include "cli/program_for_test.h"

namespace opscope {
namespace {

using testing::HasSubstr;
using testing::Not;

// A step of 1 ms for each time in us of aten::mm, as Chrome JSON.
std::string RunText(const std::vector<int>& times, const std::string& more = "") {
  std::string text = "[";
  for (size_t step = 0; step < times.size(); ++step) {
    const std::string begin = std::to_string(step * 1000);
    text += R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#)" + std::to_string(step) +
            R"(","pid":1,"tid":1,"ts":)" + begin + R"(,"dur":1000},)";
    text += R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":)" + begin + R"(,"dur":)" +
            std::to_string(times[step]) + "},";
  }
  return text + more + R"({"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":2,"ts":5,"dur":7}])";
}

class DiffCommand : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    a_ = Quoted(Put("a.json", RunText({100, 110, 120})));
    b_ = Quoted(Put("b.json", RunText({140, 150, 160})));
    cut_ = Quoted(Put("cut.json", RunText({140}).substr(0, 190)));
  }

  std::string a_, b_, cut_;
};

TEST_F(DiffCommand, PrintsTheExampleOfTheDefinition) {
  const Outcome outcome = Run("diff --json " + a_ + " " + b_);
  EXPECT_EQ(outcome.exit_code, kExitDone) << outcome.error;
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.out, testing::StartsWith("{\"schema\":\"opscope.diff/1\",\"rows\":[\n{\"name\":\"aten::mm\","
                                               "\"status\":\"slower\",\"delta_ns\":40000,\"low_ns\":17330,"
                                               "\"high_ns\":62670,\"p\":0.00804989310083"));
  EXPECT_THAT(outcome.out, HasSubstr("\"a_self_ns\":330000,\"b_self_ns\":450000,\"a_count\":3,\"b_count\":3,"
                                     "\"a_total_ns\":330000,\"b_total_ns\":450000,\"a_memory_bytes\":0,"
                                     "\"b_memory_bytes\":0}"));
  EXPECT_THAT(outcome.out, HasSubstr("\"name\":\"aten::add\",\"status\":\"matched\",\"delta_ns\":0"));
  EXPECT_THAT(outcome.out, HasSubstr("\"steps\":{\"a_count\":3,\"b_count\":3,\"a_mean_ns\":1000000,"
                                     "\"b_mean_ns\":1000000,\"delta_ns\":0,\"low_ns\":0,\"high_ns\":0,\"p\":1}"));
  EXPECT_THAT(outcome.out,
              HasSubstr("\"memory\":[\n],\"problems\":[],\"quality\":{\"verdict\":\"good\",\"reasons\":[]}}"));
}

TEST_F(DiffCommand, PrintsTheDifferenceNextToTheName) {
  const Outcome outcome = Run("diff " + a_ + " " + b_);
  EXPECT_EQ(
      outcome.out,
      "Name       Status       Delta        Low       High        p      A self      B self  A count  B count     "
      "A total     B total\n"
      "aten::mm   slower   40.000 us  17.330 us  62.670 us  0.00805  330.000 us  450.000 us        3        3  "
      "330.000 us  450.000 us\n"
      "aten::add  matched       0 ns  -9.162 us   9.162 us        1    7.000 us    7.000 us        1        1    "
      "7.000 us    7.000 us\n"
      "1 slower, 1 matched\n"
      "\n"
      "A steps  B steps    A mean    B mean  Delta   Low  High  p\n"
      "      3        3  1.000 ms  1.000 ms   0 ns  0 ns  0 ns  1\n");
}

TEST_F(DiffCommand, NamesDevicesAsMemoryDoes) {
  const auto with_memory = [](int device_type, int device, int bytes) {
    return R"({"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":1,"args":{"Addr":16,)"
           R"("Bytes":)" +
           std::to_string(bytes) + R"(,"Total Allocated":)" + std::to_string(bytes) + R"(,"Device Type":)" +
           std::to_string(device_type) + R"(,"Device Id":)" + std::to_string(device) + "}},";
  };
  const std::string before =
      Quoted(Put("before.json", RunText({1}, with_memory(1, 3, 1024) + with_memory(0, -1, 2048))));
  const std::string after = Quoted(Put("after.json", RunText({1}, with_memory(1, 3, 4096))));
  EXPECT_THAT(Run("diff " + before + " " + after).out, HasSubstr("Device    A peak    B peak\n"
                                                                 "cpu     2.00 KiB         -\n"
                                                                 "cuda:3  1.00 KiB  4.00 KiB\n"));
  EXPECT_THAT(Run("diff --json " + before + " " + after).out,
              HasSubstr(R"({"rank":-1,"device_type":1,"device":3,"a_peak_bytes":1024,"b_peak_bytes":4096})"));
}

TEST_F(DiffCommand, TakesSetsOfRunsBehindOptions) {
  const Outcome sets = Run("diff --json --a " + a_ + " " + a_ + " " + a_ + " --b " + b_ + " " + b_ + " " + a_);
  EXPECT_EQ(sets.exit_code, kExitDone) << sets.error;
  EXPECT_THAT(sets.out, HasSubstr("\"name\":\"aten::mm\",\"status\":\"matched\",\"delta_ns\":26667"));
  EXPECT_THAT(sets.out, HasSubstr("\"a_count\":9,\"b_count\":9"));
  EXPECT_THAT(sets.out, HasSubstr("\"steps\":{\"a_count\":3,\"b_count\":3"));
  EXPECT_EQ(Run("diff --json --a " + a_ + " --b " + b_).out, Run("diff --json " + a_ + " " + b_).out);
  const Outcome one = Run("diff --a " + a_ + " --by name --b " + b_ + " " + b_);
  EXPECT_THAT(one.out, HasSubstr("2 matched; a side has fewer than 3 samples: nothing is tested"));
}

TEST_F(DiffCommand, RefusesOtherNumbersOfInputs) {
  for (const auto& [arguments, error] : std::vector<std::pair<std::string, std::string>>{
           {"diff", "diff: takes 2 files; there are 0"},
           {"diff " + a_, "diff: takes 2 files; there are 1"},
           {"diff " + a_ + " " + b_ + " " + b_, "diff: takes 2 files; there are 3"},
           {"diff --a " + a_, "diff: lacks --b"},
           {"diff --b " + a_, "diff: lacks --a"},
           {"diff " + a_ + " --a " + a_ + " --b " + b_, "diff: takes files either behind --a or without options"}}) {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.exit_code, kExitUsage) << arguments;
    EXPECT_EQ(outcome.error, "opscope: " + error + "\n") << arguments;
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_EQ(Run("diff --by planet " + a_ + " " + b_).exit_code, kExitUsage);
  EXPECT_EQ(Run("diff " + a_ + " no-such-file").exit_code, kExitFailed);
}

TEST_F(DiffCommand, HasTheProblemsAndTheQualityOfAllInputs) {
  for (const std::string& inputs : {cut_ + " " + b_, b_ + " " + cut_, "--a " + b_ + " --b " + cut_ + " " + b_}) {
    const Outcome json = Run("diff --json " + inputs);
    EXPECT_EQ(json.exit_code, kExitPartial) << inputs;
    EXPECT_THAT(json.out, HasSubstr("{\"file\":\"" + Path("cut.json") + "\",\"kind\":\"")) << inputs;
    EXPECT_THAT(json.out, HasSubstr("\"quality\":{\"verdict\":\"doubtful\",\"reasons\":[\"" + Path("cut.json") + ": "));
    const Outcome text = Run("diff " + inputs);
    EXPECT_EQ(text.exit_code, kExitPartial);
    EXPECT_THAT(text.error, HasSubstr(Path("cut.json") + ": doubtful"));
    EXPECT_THAT(text.error, Not(HasSubstr(Path("b.json"))));
  }
}

TEST_F(DiffCommand, ComparesChosenSpansByTheChosenKey) {
  EXPECT_EQ(Run("diff --csv --where 'name = aten::mm' --steps 1..2 " + a_ + " " + b_).out,
            "name,status,delta_ns,low_ns,high_ns,p,a_self_ns,b_self_ns,a_count,b_count,a_total_ns,b_total_ns,"
            "a_memory_bytes,b_memory_bytes\r\n"
            "aten::mm,matched,40000,,,,230000,310000,2,2,230000,310000,0,0\r\n");
  EXPECT_THAT(Run("diff --csv --by step " + a_ + " " + b_).out, HasSubstr("\r\naten::mm,1,"));
  EXPECT_THAT(Run("diff --json --by shape " + a_ + " " + b_).out, HasSubstr("\"name\":\"aten::mm\",\"shape\":\"\","));
  const Outcome kernels = Run("diff --by kernel " + a_ + " " + b_);
  EXPECT_EQ(kernels.exit_code, kExitDone);
  EXPECT_EQ(kernels.error, "opscope: " + Path("a.json") + ", " + Path("b.json") + ": there are no spans to compare\n");
  EXPECT_THAT(Run("diff --csv --sort p --limit 1 " + a_ + " " + b_).out, HasSubstr("\r\naten::add,"));
}

TEST_F(DiffCommand, OfAFileWithItselfMatchesEverything) {
  const Outcome outcome =
      Run("diff --csv " + Quoted(Golden("flops_and_shapes")) + " " + Quoted(Golden("flops_and_shapes")));
  EXPECT_EQ(outcome.exit_code, kExitDone);
  for (const char* other : {",slower,", ",faster,", ",new,", ",vanished,"})
    EXPECT_THAT(outcome.out, Not(HasSubstr(other)));
  EXPECT_THAT(outcome.out, HasSubstr(",matched,0,"));
}

}  // namespace
}  // namespace opscope
