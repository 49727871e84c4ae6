// `opscope roofline`: the table, the JSON and the sentences of the verb.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "cli/program_for_test.h"

namespace opscope {
namespace {

const char* const kCalls = R"([
{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":1,"tid":1,"ts":0,"dur":2,
 "args":{"Input Dims":[[64,32],[32,16]],"Input type":["float","float"]}},
{"ph":"X","name":"aten::median","cat":"cpu_op","pid":1,"tid":1,"ts":5,"dur":1,
 "args":{"Input Dims":[[64,32]],"Input type":["float"]}}])";

class RooflineVerbTest : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    Put("run.json", kCalls);
    Put("bare.json", R"([{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":1,"tid":1,"ts":0,"dur":2}])");
  }
};

TEST_F(RooflineVerbTest, PrintsRatesAndTheShareOfThePeak) {
  const Outcome outcome = Run("roofline run.json --peak-flops 1e11 --peak-bandwidth 1e10");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_NE(outcome.out.find("66.7 % of this time has FLOPs and bytes"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("71.7"), std::string::npos) << outcome.out;
}

// 2 * 64 * 32 * 16 operations and 4 (2048 + 512 + 1024) bytes in 2 us.
TEST_F(RooflineVerbTest, HasAllNumbersAsJson) {
  const Outcome outcome = Run("roofline run.json --json --peak-flops 1e11 --peak-bandwidth 1e10");
  EXPECT_EQ(outcome.out.find(R"({"schema":"opscope.roofline/1")"), 0u) << outcome.out;
  for (const char* member :
       {R"("flops":65536,"bytes":14336)", R"("gb_per_s":7.168)", R"("bound":"memory")", R"("peak_share":0.7168)",
        R"("name":"aten::median")", R"("flops":null,"bytes":null)", R"("known_ns":2000)"})
    EXPECT_NE(outcome.out.find(member), std::string::npos) << member << outcome.out;
}

TEST_F(RooflineVerbTest, SaysThatShapesAreMissing) {
  const Outcome outcome = Run("roofline bare.json");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.error.find("record with record_shapes=True"), std::string::npos) << outcome.error;
  EXPECT_EQ(Run("roofline bare.json -q").error, "");
}

TEST_F(RooflineVerbTest, SaysThatShapesHaveNoTypes) {
  Put("untyped.json", R"([{"ph":"X","name":"matmul dygraph","cat":"cpu_op","pid":1,"tid":1,"ts":0,"dur":2,
    "args":{"Input Dims":[[64,32],[32,16]]}}])");
  const Outcome outcome = Run("roofline untyped.json");
  EXPECT_NE(outcome.error.find("the input shapes have no data types"), std::string::npos) << outcome.error;
  EXPECT_EQ(outcome.error.find("record_shapes"), std::string::npos) << outcome.error;
}

TEST_F(RooflineVerbTest, RefusesAPeakOfNothing) {
  EXPECT_EQ(Run("roofline run.json --peak-flops 0").exit_code, 2);
}

}  // namespace
}  // namespace opscope
