// What is read of get_profile()'s output for profile_analyze, and what of a damaged one.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "opscope/megengine/operator_profile.h"

namespace opscope {
namespace {

using testing::ElementsAre;

// `device` and `print`: JSON, of the one operator.
std::string Graph(const std::string& device, const std::string& print) {
  return R"({"profiler":{"device":{"6":)" + device + R"(},"host":{"6":{"t":{"start":1,"kern":1.5,"end":2}}},)" +
         R"("opr_footprint":{"6":)" + print +
         R"(}},"graph_exec":{"operator":{"6":{"id":"6","name":"a\u00e4","type":"ADD",)" +
         R"("input":["5","3"],"output":[]}},"var":{"3":{"mem_plan":null},"5":{"mem_plan":{"layout":{"dtype":"Int8"}}}}}})";
}

Result<MegEngineProfile> Read(const std::string& text) {
  return ReadMegEngineProfile(std::as_bytes(std::span(text)), "graph");
}

TEST(MegEngineProfile, HasTimesCostsAndTypes) {
  const auto profile = Read(
      Graph(R"({"gpu0":{"start":0.5,"kern":0.75,"end":2},"opencl0":{"start":1,"kern":1,"end":1}})",
            R"({"computation":12,"memory":1e3,"in_shapes":[[2,3],[]],"in_layouts":[[1,2],null],"out_shapes":[[6]]})"));
  ASSERT_TRUE(profile.ok());
  EXPECT_TRUE(profile.value().is_graph);
  EXPECT_TRUE(profile.value().is_on_opencl);
  ASSERT_EQ(profile.value().operators.size(), 1u);
  const MegEngineOperator& opr = profile.value().operators[0];
  EXPECT_EQ(opr.name, "a\xc3\xa4");
  EXPECT_EQ(opr.type, "ADD");
  EXPECT_THAT(opr.input_dtypes, ElementsAre("Int8", "")) << "a variable without a place has no type";
  ASSERT_EQ(opr.device.size(), 2u);
  EXPECT_EQ(opr.device[0].whole, 1.5);
  EXPECT_EQ(opr.device[0].wait, 0.25);
  ASSERT_EQ(opr.host.size(), 1u);
  EXPECT_EQ(opr.computation, 12.0);
  EXPECT_EQ(opr.memory, 1000.0);
  ASSERT_TRUE(opr.in_shapes && opr.in_layouts && opr.out_shapes);
  EXPECT_THAT((*opr.in_shapes)[0], ElementsAre(2, 3));
  EXPECT_EQ((*opr.in_shapes)[1].size(), 0u);
  EXPECT_THAT((*opr.in_layouts)[0], ElementsAre(1, 2));
  EXPECT_EQ(profile.value().trace.problems().size(), 0u);
}

TEST(MegEngineProfile, ReadsTimesThatAreNoNumbers) {
  const auto profile = Read(Graph(R"({"gpu0":{"start":0,"kern":"nan","end":"inf"}})", "{}"));
  ASSERT_TRUE(profile.ok());
  const MegEngineOperator& opr = profile.value().operators.at(0);
  ASSERT_EQ(opr.device.size(), 1u);
  EXPECT_TRUE(std::isinf(opr.device[0].whole) && std::isnan(opr.device[0].wait));
  EXPECT_EQ(opr.in_shapes, std::nullopt);
}

TEST(MegEngineProfile, LeavesOutAndCountsWhatIsNoSuchThing) {
  const auto profile =
      Read(Graph(R"({"gpu0":{"start":0,"kern":true,"end":1}})", R"({"memory":[1],"in_shapes":[["a"]]})"));
  ASSERT_TRUE(profile.ok());
  const MegEngineOperator& opr = profile.value().operators.at(0);
  EXPECT_TRUE(opr.device.empty());
  EXPECT_EQ(opr.memory, std::nullopt);
  EXPECT_EQ(opr.in_shapes, std::nullopt);
  ASSERT_EQ(profile.value().trace.problems().size(), 1u);
  EXPECT_EQ(profile.value().trace.text(profile.value().trace.problems().kind[0]), "bad_value");
  EXPECT_EQ(profile.value().trace.problems().count[0], 3u);
}

TEST(MegEngineProfile, IsReadAsFarAsItIsWhole) {
  const std::string whole = Graph(R"({"gpu0":{"start":0,"kern":0,"end":1}})", R"({"memory":8})");
  size_t with_operators = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto profile = Read(whole.substr(0, size));
    if (!profile.ok()) continue;
    EXPECT_TRUE(profile.value().trace.is_partial() || !profile.value().is_graph) << size;
    with_operators += profile.value().operators.empty() ? 0 : 1;
  }
  EXPECT_GT(with_operators, 100u);
}

TEST(MegEngineProfile, GivesTheTraceOfAnythingElse) {
  const auto profile = Read(R"({"traceEvents":[{"name":"a","ph":"X","ts":1,"dur":2,"pid":1,"tid":1}]})");
  ASSERT_TRUE(profile.ok());
  EXPECT_FALSE(profile.value().is_graph);
  EXPECT_EQ(profile.value().trace.spans().size(), 1u);
  EXPECT_EQ(Read("nothing of the kind \x01").error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace opscope
