// SPDX-License-Identifier: Apache-2.0
#include "analysis/torch/function_event_rules.h"

#include <gtest/gtest.h>

#include "opscope/torch/function_events.h"
#include "trace/builder.h"

namespace opscope {
namespace {

TEST(FunctionEventRules, LeaveOutNodesOfGraphsThatAreNoWorkOfADevice) {
  TraceBuilder builder;
  const TrackId stream = builder.AddTrack(
      {.process = builder.AddProcess({.pid = 1}), .kind = TrackKind::kDeviceStream, .tid = 7, .device = 0});
  for (const char* category : {"kernel", "graph_host_node", "graph_event_node"}) {
    builder.AddSpan({.start = {10},
                     .duration = {5},
                     .name = builder.Intern(category),
                     .category = builder.Intern(category),
                     .track = stream});
  }
  const Trace trace = builder.Build();
  const FunctionEvents events = BuildFunctionEvents(trace);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(NameText(trace, events, 0), "kernel");
}

}  // namespace
}  // namespace opscope
