// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string_view>

#include "opscope/torch/function_events.h"
#include "trace/builder.h"

namespace opscope {
namespace {

// An operator that calls a function of Python, which calls another operator.
Trace OperatorsAroundACall() {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 5, .logical_thread = 1});
  const auto add = [&](std::string_view name, std::string_view category, int64_t start, int64_t end) {
    builder.AddSpan({.start = {start},
                     .duration = {end - start},
                     .name = builder.Intern(name),
                     .category = builder.Intern(category),
                     .track = track});
  };
  add("aten::linear", "cpu_op", 0, 20);
  add("a.py(1): f", "python_function", 1, 10);
  add("aten::addmm", "cpu_op", 2, 4);
  return builder.Build();
}

TEST(FunctionEventList, NestsOperatorsInEachOtherWhereCallsOfPythonAreLeftOut) {
  const Trace trace = OperatorsAroundACall();
  for (const bool as_collected : {false, true}) {
    FunctionEventOptions options;
    options.as_collected = as_collected;
    EXPECT_EQ(BuildFunctionEvents(trace, options).size(), 3u);
    options.python_functions = false;
    const FunctionEvents events = BuildFunctionEvents(trace, options);
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(NameText(trace, events, 0), "aten::linear");
    EXPECT_EQ(NameText(trace, events, 1), "aten::addmm");
    EXPECT_EQ(events.parent[1], EventIndex{0});
    EXPECT_EQ(AverageFunctionEvents(trace, events).size(), 2u);
  }
}

}  // namespace
}  // namespace opscope
