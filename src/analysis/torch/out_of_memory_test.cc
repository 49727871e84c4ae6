// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch/out_of_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "opscope/torch/function_events.h"
#include "trace/builder.h"

namespace opscope {
namespace {

using testing::ElementsAre;

// An operator from 0 to 100, and requests without memory in and behind it, later ones first.
Trace RefusedTwice() {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 5, .logical_thread = 1});
  builder.AddSpan({.start = {0},
                   .duration = {100},
                   .name = builder.Intern("outer"),
                   .category = builder.Intern("cpu_op"),
                   .track = track});
  for (const int64_t time : {150, 50}) {
    builder.AddInstant({.time = {time},
                        .name = builder.Intern("[OutOfMemory]"),
                        .category = builder.Intern("cpu_instant_event"),
                        .track = track,
                        .extra = builder.Intern(R"("Bytes": 4096, "Device Type": 1, "Device Id": 3)")});
  }
  return builder.Build();
}

TEST(OutOfMemory, IsReadFromItsInstant) {
  const std::vector<OutOfMemory> requests = FindOutOfMemory(RefusedTwice());
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[1].instant, 1u);
  EXPECT_EQ(requests[0].bytes, 4096);
  EXPECT_EQ(requests[0].device_type, 1);
  EXPECT_EQ(requests[0].device, 3);
}

TEST(OutOfMemory, IsAnEventWhereItWasAskedFor) {
  const Trace trace = RefusedTwice();
  for (const bool as_collected : {false, true}) {
    SCOPED_TRACE(as_collected);
    FunctionEventOptions options;
    options.as_collected = as_collected;
    const FunctionEvents events = BuildFunctionEvents(trace, options);
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(NameText(trace, events, 0), "outer");
    EXPECT_EQ(NameText(trace, events, 1), "[OutOfMemory]");
    EXPECT_EQ(NameText(trace, events, 2), "[OutOfMemory]");
    EXPECT_THAT(events.parent, ElementsAre(EventIndex::kNone, EventIndex{0}, EventIndex::kNone));
    EXPECT_THAT(events.cpu_memory_usage, ElementsAre(0, 0, 0));
    EXPECT_THAT(events.allocation, ElementsAre(0xffffffff, 1, 0));
  }
}

}  // namespace
}  // namespace opscope
