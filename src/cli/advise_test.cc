// The text of `opscope advise`.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/exit_code.h"
#include "cli/program_for_test.h"

namespace opscope {
namespace {

using testing::HasSubstr;
using testing::Not;

// `steps` steps of 1 ms, each with `calls` calls of `name` from its middle on.
std::string StepsWithCalls(int steps, int calls, const std::string& name, const std::string& category) {
  std::string text;
  for (int step = 0; step < steps; ++step) {
    text += (step == 0 ? "[" : ",") + std::string(R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#)") +
            std::to_string(step) + R"(","pid":1,"tid":1,"ts":)" + std::to_string(step * 1000) + R"(,"dur":1000})";
    for (int call = 0; call < calls; ++call)
      text += R"(,{"ph":"X","cat":")" + category + R"(","name":")" + name + R"(","pid":1,"tid":1,"ts":)" +
              std::to_string(step * 1000 + 500 + 200 * call) + R"(,"dur":150})";
  }
  return text + "]";
}

class AdviseCommand : public Cli {
 protected:
  Outcome Advise(const std::string& trace) const { return Run("advise " + Quoted(Put("trace.json", trace))); }
};

TEST_F(AdviseCommand, SaysOnceWhereACauseOccursOncePerStep) {
  const Outcome once = Advise(StepsWithCalls(4, 1, "aten::copy_", "cpu_op"));
  EXPECT_EQ(once.exit_code, kExitDone) << once.error;
  EXPECT_THAT(once.out, HasSubstr("Tensors are copied or converted, once per step, mostly in aten::copy_."));
  EXPECT_THAT(once.out, Not(HasSubstr("no steps")));
  EXPECT_THAT(Advise(StepsWithCalls(4, 2, "aten::copy_", "cpu_op")).out, HasSubstr("converted, 2 times per step,"));
}

TEST_F(AdviseCommand, NamesMeansOfTorchToProgramsOfTorchAlone) {
  // A kernel in the middle of each step, whose launch comes late.
  const auto launched_late = [](const std::string& op) {
    std::string text = "[";
    for (int step = 0; step < 4; ++step) {
      const auto span = [&](const char* category, const std::string& name, int begin, int length, int pid, int call) {
        text += std::string(text == "[" ? "" : ",") + R"({"ph":"X","cat":")" + category + R"(","name":")" + name +
                R"(","pid":)" + std::to_string(pid) + R"(,"tid":1,"ts":)" + std::to_string(step * 1000 + begin) +
                R"(,"dur":)" + std::to_string(length) + R"(,"args":{"device":0,"stream":1,"correlation":)" +
                std::to_string(step * 10 + call) + "}}";
      };
      span("user_annotation", "ProfilerStep#" + std::to_string(step), 0, 1000, 1, 0);
      span("cpu_op", op, 10, 890, 1, 0);
      for (int call = 0; call < 2; ++call) {
        span("cuda_runtime", "cudaLaunchKernel", 100 + 600 * call, 5, 1, call + 1);
        span("kernel", "gemm", 110 + 600 * call, 100, 0, call + 1);
      }
    }
    return text + "]";
  };
  EXPECT_THAT(Advise(launched_late("aten::mm")).out, HasSubstr("Launch less: CUDA graphs, torch.compile, larger"));
  const Outcome other = Advise(launched_late("MatrixMul"));
  EXPECT_THAT(other.out, HasSubstr("Launch less: larger batches, or a graph that is compiled or captured."));
  EXPECT_THAT(other.out, Not(HasSubstr("torch")));
}

// The first two steps are not considered, so a number per step of all steps would be too small.
TEST_F(AdviseCommand, CountsAllocationsOfTheDriverAfterTheFirstTwoSteps) {
  EXPECT_THAT(Advise(StepsWithCalls(4, 2, "cudaMalloc", "cuda_runtime")).out,
              HasSubstr("cudaMalloc is called 4 times after the first two steps."));
}

TEST_F(AdviseCommand, SpeaksOfNoStepsWhereTheTraceHasNone) {
  const std::string op = R"({"ph":"X","cat":"cpu_op","name":"aten::copy_","pid":1,"tid":1,"ts":)";
  const Outcome outcome = Advise("[" + op + "0,\"dur\":50}," + op + "60,\"dur\":50}]");
  EXPECT_THAT(outcome.out, HasSubstr("Tensors are copied or converted, 2 times, mostly in aten::copy_."));
  EXPECT_THAT(outcome.out, HasSubstr("\nThe trace has no steps; all of it counts as one step.\n"));
}

}  // namespace
}  // namespace opscope
