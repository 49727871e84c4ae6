// The arguments of a page keep to about their number of bytes, whatever the lengths and the values are.
// SPDX-License-Identifier: Apache-2.0
#include "report/html/page_arguments.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "trace/builder.h"

namespace opscope {
namespace {

constexpr int64_t kSpans = 1000;

// Every other span is longer; append(span, integers, members) adds its arguments.
template <typename Append>
std::string ArgumentsBy(size_t max_bytes, const Append& append) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (int64_t i = 0; i < kSpans; ++i)
    builder.AddSpan({.start = {i * 10}, .duration = {2 - i % 2}, .name = builder.Intern("op"), .track = track});
  const Trace trace = builder.Build();
  PageResults results;
  results.trace = &trace;
  results.append_arguments = append;
  std::vector<uint32_t> kept(trace.spans().size());
  std::iota(kept.begin(), kept.end(), 0u);
  PageStrings strings(trace, 1000);
  PageArguments arguments(results, kept, max_bytes);
  arguments.AddTexts(&strings);
  std::string json;
  arguments.AppendJson(&json);
  return json;
}

// value_of(span) is the argument "v".
template <typename ValueOf>
std::string ArgumentsOf(size_t max_bytes, const ValueOf& value_of) {
  return ArgumentsBy(max_bytes, [&](uint32_t span, std::vector<IntegerArgument>* integers, std::string*) {
    integers->push_back({"v", value_of(span)});
  });
}

TEST(PageArguments, AreAllThereIfTheyFit) {
  const std::string json = ArgumentsOf(100'000, [](uint32_t span) { return int64_t{span}; });
  EXPECT_NE(json.find("\"value\":{\"n\":1000,"), std::string::npos) << json;
  EXPECT_NE(json.find("\"left_out\":0}"), std::string::npos) << json;
}

TEST(PageArguments, LackThoseOfTheShortestSpansIfTheyDoNotFit) {
  const std::string json = ArgumentsOf(1000, [](uint32_t span) { return int64_t{span} % 7 * 100'000'000'000; });
  EXPECT_EQ(json.find("\"value\":{\"n\":1000,"), std::string::npos) << json;
  EXPECT_EQ(json.find("\"left_out\":0}"), std::string::npos) << json;
}

// The texts have 8 MB, more than the cache of parsed texts, so it is emptied on the way.
TEST(PageArguments, AreThoseOfTheirTextsHoweverManyTextsThereAre) {
  const std::string other = "\"w\":\"" + std::string(8000, 'w') + "\",\"v\":";
  const auto value_of = [](uint32_t span) { return int64_t{span} * 7919 % 900; };
  const std::string json =
      ArgumentsBy(1'000'000, [&](uint32_t span, std::vector<IntegerArgument>*, std::string* members) {
        *members = other + std::to_string(value_of(span));
      });
  IntegerColumn values(IntegerColumn::kDeltas);
  for (uint32_t span = 0; span < kSpans; ++span)
    values.Add(value_of(span));
  std::string expected = "\"value\":";
  values.AppendJson(&expected);
  EXPECT_NE(json.find(expected), std::string::npos) << json;
  EXPECT_NE(json.find("\"left_out\":0}"), std::string::npos) << json;
}

// In the order of the trace each difference takes eight bytes, by length nearly all are zero.
TEST(PageArguments, MayFitByLengthThoughTheyDoNotFitInTheOrderOfTheTrace) {
  const std::string json = ArgumentsOf(2000, [](uint32_t span) { return span % 2 == 0 ? 0 : 900'000'000'000'000; });
  EXPECT_NE(json.find("\"left_out\":0}"), std::string::npos) << json;
}

}  // namespace
}  // namespace opscope
