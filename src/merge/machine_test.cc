// SPDX-License-Identifier: Apache-2.0
#include "merge/machine.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>

#include "trace/builder.h"

namespace opscope {
namespace {

constexpr int64_t kFarthestNs = 5'000'000'000;

Machine Of(std::initializer_list<std::pair<const char*, const char*>> metadata) {
  TraceBuilder builder;
  for (const auto& [key, json] : metadata)
    builder.AddMetadata(key, json);
  return MachineOf(builder.Build());
}

TEST(Machine, IsTheBootWhereBothSayOneAndTheHostOtherwise) {
  const Machine ours = Of({{"opscope_boot", "\"a\""}, {"host_name", "\"n\""}});
  EXPECT_TRUE(BoundBetween(ours, Of({{"opscope_boot", "\"a\""}, {"host_name", "\"m\""}}), kFarthestNs))
      << "containers of one machine have names of their own";
  EXPECT_FALSE(BoundBetween(ours, Of({{"opscope_boot", "\"b\""}, {"host_name", "\"n\""}}), kFarthestNs));
  EXPECT_TRUE(BoundBetween(ours, Of({{"host_name", "\"n\""}}), kFarthestNs));
  EXPECT_FALSE(BoundBetween(ours, Of({{"host_name", "\"m\""}}), kFarthestNs));
  EXPECT_TRUE(BoundBetween(ours, Of({{"hostnames", "[ \"n\" ]"}}), kFarthestNs)) << "XLA";
  EXPECT_FALSE(BoundBetween(ours, Of({{"hostnames", "[\"n\",\"m\"]"}}), kFarthestNs));
  EXPECT_FALSE(BoundBetween(Of({}), Of({}), kFarthestNs)) << "nothing is told";
  const Machine any = Of({{"host_name", "\"localhost\""}});
  EXPECT_FALSE(BoundBetween(any, any, kFarthestNs)) << "any machine calls itself that";
}

TEST(Machine, BoundsItsWallClockByTheReadings) {
  const auto recorded = [](const char* readings) {
    return Of({{"opscope_boot", "\"a\""}, {"opscope_wall_clock", readings}});
  };
  const Machine first = recorded("[[1000,5000,30]]");
  const auto bound = BoundBetween(first, recorded("[[9000,13007,40]]"), kFarthestNs);
  ASSERT_TRUE(bound && bound->is_measured);
  EXPECT_EQ(bound->bound_ns, 7 + 30 + 40 + 2000);
  EXPECT_EQ(BoundBetween(first, recorded("[[1,3001,0],[1,4501,0]]"), kFarthestNs)->bound_ns, 1000 + 30 + 2000)
      << "the window that differs most";
  for (const char* damaged : {"[[1,2]]", "[]", "7", "\"x\"", "[[1,-2,3]]", "[[1,99999999999999999999,3]]"}) {
    const auto unmeasured = BoundBetween(first, recorded(damaged), kFarthestNs);
    ASSERT_TRUE(unmeasured) << damaged;
    EXPECT_FALSE(unmeasured->is_measured) << damaged;
    EXPECT_EQ(unmeasured->bound_ns, kFarthestNs) << damaged;
  }
  EXPECT_GT(BoundBetween(recorded("[[0,4611686018427387903,4611686018427387903]]"),
                         recorded("[[4611686018427387903,0,4611686018427387903]]"), kFarthestNs)
                ->bound_ns,
            0);
}

TEST(Machine, OfSeveralFilesIsWhatHoldsForAll) {
  const Machine first = Of({{"opscope_boot", "\"a\""}, {"opscope_wall_clock", "[[0,100,1]]"}, {"host_name", "\"n\""}});
  const Machine other = Of({{"opscope_boot", "\"b\""}, {"opscope_wall_clock", "[[0,300,2]]"}, {"host_name", "\"n\""}});
  const Machine common = CommonMachine(first, other);
  EXPECT_EQ(common.boot, "");
  EXPECT_EQ(common.host, "\"n\"");
  ASSERT_TRUE(common.offsets);
  EXPECT_EQ(common.offsets->least_ns, 100);
  EXPECT_EQ(common.offsets->most_ns, 300);
  EXPECT_EQ(common.offsets->within_ns, 2);
}

}  // namespace
}  // namespace opscope
