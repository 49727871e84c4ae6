// Ids of asynchronous ranges and arrows mean something only within one input: in a merged job, and in a file of it,
// those of two inputs are never mixed.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "merge/merged_for_test.h"
#include "opscope/export.h"
#include "opscope/import.h"

namespace opscope {
namespace {

Trace ReadInput(const std::string& text) {
  Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "input.json");
  EXPECT_TRUE(trace.ok()) << text;
  return trace.ok() ? std::move(trace).value() : Trace();
}

// Ranges and arrows of ids that every input uses. Their names are those of the input and a number.
std::string RandomInput(int input, std::mt19937_64* random) {
  const auto pick = [random](const std::vector<const char*>& texts) { return texts[(*random)() % texts.size()]; };
  std::string text = "{\"distributedInfo\":{\"rank\":" + std::to_string(input) + ",\"world_size\":3},\"traceEvents\":[";
  for (int i = 0; i < 24; ++i) {
    const std::string id =
        pick({"\"id\":7", "\"id\":\"0x1\"", "\"id2\":{\"local\":\"0x1\"}", "\"id2\":{\"global\":7}"});
    const std::string scope = pick({"", ",\"scope\":\"net\"", ",\"scope\":\"rank 1\""});
    const std::string name = std::to_string(input) + "." + std::to_string(i % 3);
    text += (i == 0 ? "" : ",\n") + std::string("{\"ph\":\"") + pick({"b", "e", "s", "t", "f"}) +
            "\",\"cat\":\"c\",\"name\":\"" + name + "\"," + id + scope + ",\"pid\":" + pick({"5", "6"}) +
            ",\"tid\":1,\"ts\":" + std::to_string(10 * i + input) + "}";
  }
  // Something must happen at the same time in all of them, else they are no job.
  return text + ",{\"ph\":\"X\",\"name\":\"work\",\"cat\":\"cpu_op\",\"pid\":5,\"tid\":1,\"ts\":0,\"dur\":200}]}";
}

std::vector<std::string> RangesOf(const Trace& trace) {
  std::vector<std::string> ranges;
  const AsyncSpanColumns& spans = trace.async_spans();
  for (size_t i = 0; i < spans.size(); ++i)
    ranges.push_back(std::string(trace.text(spans.name[i])) + " " + std::to_string(spans.duration[i].ns));
  const FlowColumns& arrows = trace.flows();
  for (size_t i = 0; i < arrows.size(); ++i) {
    ranges.push_back("arrow " + std::string(trace.text(arrows.name[i])) + " " +
                     std::string(trace.text(arrows.id_scope[i])) + " " +
                     std::to_string((arrows.end_time[i] - arrows.start_time[i]).ns));
  }
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

TEST(MergedIds, OfTwoInputsAreNotMixedWhenTheFileIsReadAgain) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300 && !testing::Test::HasFailure(); ++round) {
    std::vector<MergeInput> inputs;
    std::vector<std::string> expected;
    std::string texts;
    for (int input = 0; input < 3; ++input) {
      const std::string text = RandomInput(input, &random);
      texts += text + "\n";
      Trace trace = ReadInput(text);
      const std::vector<std::string> ranges = RangesOf(trace);
      expected.insert(expected.end(), ranges.begin(), ranges.end());
      inputs.push_back({std::move(trace), "rank" + std::to_string(input) + ".json"});
    }
    std::sort(expected.begin(), expected.end());
    const Merged merged = MergeAll(std::move(inputs));
    ASSERT_EQ(RangesOf(merged.trace), expected) << texts;
    const std::string file = ChromeTraceText(merged.trace).value();
    ASSERT_EQ(RangesOf(ReadInput(file)), expected) << texts << file;
  }
}

TEST(MergedIds, ThatNoOtherInputUsesStayAsTheyAre) {
  const auto input = [](const std::string& id) {
    const std::string rest = ",\"cat\":\"c\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":";
    return ReadInput("[{\"ph\":\"b\"," + id + rest + "1},{\"ph\":\"e\"," + id + rest + "2}]");
  };
  const auto ids_of = [&](const std::string& first, const std::string& second) {
    std::vector<MergeInput> inputs;
    inputs.push_back({input(first), "a"}), inputs.push_back({input(second), "b"});
    const Merged merged = MergeAll(std::move(inputs));
    std::vector<std::string> ids;
    for (const StringId id : merged.trace.async_spans().id)
      ids.emplace_back(merged.trace.text(id));
    return ids;
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids_of(R"("id":1)", R"("id":2)"), (Ids{"1", "2"}));
  EXPECT_EQ(ids_of(R"("id":1)", R"("id":1)"), (Ids{"1", R"({"scope": "2", "id": "1"})"}));
  EXPECT_EQ(ids_of(R"("id":1,"scope":"net")", R"("id":1,"scope":"net")"),
            (Ids{R"({"scope": "net", "id": "1"})", R"({"scope": "net 2", "id": "1"})"}));
  EXPECT_EQ(ids_of(R"("id2":{"local":1})", R"("id2":{"local":1})"), (Ids{R"({"local": "1"})", R"({"local": "1"})"}));
}

}  // namespace
}  // namespace opscope
