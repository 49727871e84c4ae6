// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "opscope/torch/function_events.h"
#include "trace/builder.h"

namespace opscope {
namespace {

// A Kineto file has neither torch's thread numbers nor sequence numbers of AccumulateGrad.
TEST(FunctionEventStacks, ABackwardEventWithoutASequenceNumberHasNoStackOfAnotherEvent) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 5});
  const StackId stack = builder.AddStack(builder.AddFrame(builder.Intern("data.py(3): load")), StackId::kNone);
  const auto add = [&](const char* name, int64_t start, int64_t end, StackId of) {
    builder.AddSpan({.start = {start},
                     .duration = {end - start},
                     .name = builder.Intern(name),
                     .category = builder.Intern("cpu_op"),
                     .track = track,
                     .stack = of});
  };
  add("aten::empty", 0, 10, stack);
  add("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 20, 40, StackId::kNone);
  add("torch::autograd::AccumulateGrad", 22, 38, StackId::kNone);
  const Trace trace = builder.Build();
  const FunctionEvents events = BuildFunctionEvents(trace);
  ASSERT_EQ(ScopeTypeOf(trace, events, 2), ScopeType::kBackwardFunction);
  const FunctionEventStacks stacks(trace, events);
  EXPECT_EQ(stacks.Of(0), std::vector<std::string_view>{"data.py(3): load"});
  EXPECT_EQ(stacks.Of(2), std::vector<std::string_view>());
}

}  // namespace
}  // namespace opscope
