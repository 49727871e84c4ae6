// SPDX-License-Identifier: Apache-2.0
#include "merge/merge_metadata.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace opscope {
namespace {

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

}  // namespace
}  // namespace opscope
