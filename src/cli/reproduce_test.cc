// `opscope reproduce`: its script, its messages, and what it refuses.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "cli/program_for_test.h"

namespace opscope {
namespace {

const char* const kOperators = R"([
{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":5,"args":{"Input type":["float","float"],
 "Input Dims":[[2,3],[3,4]],"Input Strides":[[3,1],[1,3]],"Concrete Inputs":["",""]}},
{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":1,"tid":1,"ts":10,"dur":3,"args":{"Input type":["float","float"],
 "Input Dims":[[9,9],[9,9]],"Input Strides":[[9,1],[9,1]],"Concrete Inputs":["",""]}},
{"ph":"X","name":"SumBackward0","cat":"cpu_op","pid":1,"tid":1,"ts":20,"dur":3}])";

class ReproduceVerbTest : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    Put("run.json", kOperators);
  }
};

TEST_F(ReproduceVerbTest, WritesTheOperatorThatTookMostTimeAndSaysWhatElseIsChosen) {
  const Outcome outcome = Run("reproduce run.json --where 'name = aten::mm' -o -");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(
      outcome.error,
      "opscope: run.json: reproduces aten::mm (1 call); also chosen: 1 call of 1 other operator or shape, with less "
      "total time. Narrow --where to choose among them, e.g. with \"and duration > 5000ns\"\n");
  EXPECT_TRUE(outcome.out.starts_with("#!/usr/bin/env python3\n"));
  EXPECT_NE(outcome.out.find("        tensor((3, 4), (1, 3), torch.float32, \"normal\"),\n"), std::string::npos);
  EXPECT_EQ(Run("reproduce run.json --where 'name = aten::mm' -q -o -").error, "");
}

TEST_F(ReproduceVerbTest, WritesAFile) {
  EXPECT_EQ(Run("reproduce run.json --where 'name = aten::mm and duration < 4us' -o repro.py").exit_code, 0);
  EXPECT_NE(ReadText(Path("repro.py")).find("tensor((9, 9), (9, 1)"), std::string::npos);
}

TEST_F(ReproduceVerbTest, RefusesItsInputAsOutput) {
  const Outcome outcome = Run("reproduce run.json -o run.json");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.error, "opscope: reproduce: run.json is the input\n");
  EXPECT_EQ(ReadText(Path("run.json")), kOperators);
}

TEST_F(ReproduceVerbTest, FailsWithAReasonIfThereIsNothingToReproduce) {
  const Outcome nothing = Run("reproduce run.json --where 'name = aten::none' -o repro.py");
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_NE(nothing.error.find("none of its spans is chosen by --where"), std::string::npos) << nothing.error;
  const Outcome node = Run("reproduce run.json --where 'name ~ Backward' -o repro.py");
  EXPECT_EQ(node.exit_code, 1);
  EXPECT_NE(node.error.find("'SumBackward0' is a node of autograd"), std::string::npos) << node.error;
  EXPECT_EQ(Run("reproduce run.json --where 'nonsense' -o repro.py").exit_code, 2);
}

}  // namespace
}  // namespace opscope
