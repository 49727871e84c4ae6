// SPDX-License-Identifier: Apache-2.0
#include "merge/merge_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/builder.h"

namespace opscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::map<int32_t, int64_t> OffsetsIn(const char* json) {
  TraceBuilder builder;
  builder.AddMetadata("opscope_merge", json);
  return OffsetsOfRanks(builder.Build());
}

TEST(OffsetsOfRanks, AreThoseOfTheInputsThatWereMerged) {
  EXPECT_THAT(OffsetsIn(R"({"world_size":4,"inputs":[{"rank":2,"offset_ns":-7},{"rank":0,"offset_ns":5}]})"),
              ElementsAre(Pair(0, 5), Pair(2, -7)));
  EXPECT_THAT(OffsetsIn(R"({"inputs":[{"rank":1},{"rank":3,"left_out":"cut","offset_ns":9},{"offset_ns":4}]})"),
              ElementsAre(Pair(1, 0)));
}

TEST(OffsetsOfRanks, OfADamagedFileAreNoneOfOtherRanks) {
  // As 32 bits, the first number is rank 0 and the second one rank 1.
  EXPECT_THAT(OffsetsIn(R"({"inputs":[{"rank":4294967296,"offset_ns":5},{"rank":-4294967295,"offset_ns":6}]})"),
              IsEmpty());
  EXPECT_THAT(OffsetsIn(R"({"inputs":[{"rank":"1","offset_ns":5},{"rank":1.5,"offset_ns":6},{"rank":-1}]})"),
              IsEmpty());
  for (const char* json : {"", "{", "{}", R"({"inputs":)", R"({"inputs":[)", R"({"inputs":[{"rank":)", "[]", "7"})
    EXPECT_THAT(OffsetsIn(json), IsEmpty()) << json;
}

}  // namespace
}  // namespace opscope
