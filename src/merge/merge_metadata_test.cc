// SPDX-License-Identifier: Apache-2.0
#include "merge/merge_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace opscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string_view JsonOf(const Trace& trace, std::string_view key) {
  for (size_t row = 0; row < trace.metadata().size(); ++row) {
    if (trace.text(trace.metadata().key[row]) == key) return trace.text(trace.metadata().json[row]);
  }
  return "";
}

// left_out: of the last input; "": the result has it.
Trace WithMetadata(const std::vector<InputMetadata>& inputs, std::string_view left_out = "") {
  Merged merged;
  merged.inputs.resize(inputs.size());
  merged.inputs.back().left_out = left_out;
  TraceBuilder builder;
  AddMergeMetadata(inputs, merged, &builder);
  return builder.Build();
}

TEST(MergeMetadata, SharesWhatAllInputsHaveButThoseThatAreLeftOut) {
  const std::vector<InputMetadata> inputs = {{{"same", "1"}, {"other", "2"}}, {{"same", "1"}, {"other", "3"}}, {}};
  const Trace trace = WithMetadata(inputs, "of another job");
  EXPECT_EQ(JsonOf(trace, "same"), "1");
  EXPECT_EQ(JsonOf(trace, "other"), "");
  EXPECT_NE(JsonOf(trace, "opscope_merge").find(R"("metadata":{"other":3})"), std::string_view::npos);
}

TEST(MergeMetadata, OfManyEntriesTakesNoQuadraticTime) {
  constexpr size_t kEntries = 50'000;
  InputMetadata metadata;
  for (size_t i = 0; i < kEntries; ++i)
    metadata.emplace_back("entry " + std::to_string(i), "1");
  EXPECT_EQ(WithMetadata({metadata, metadata}).metadata().size(), kEntries + 1);
}

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
