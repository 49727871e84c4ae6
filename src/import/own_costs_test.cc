// SPDX-License-Identifier: Apache-2.0
#include "import/own_costs.h"

#include <gtest/gtest.h>

#include "opscope/export.h"
#include "opscope/import.h"
#include "trace/random_trace.h"

namespace opscope {
namespace {

constexpr const char kOptions[] =
    R"({"abi":2,"own_cost":{"scope":{"inside_ns":12.5,"begin_ns":16,"end_ns":13.25,"async_end_ns":23},)"
    R"("point":{"begin_ns":20},"torch_op":{"inside_ns":25,"begin_ns":45,"end_ns":23,"floor_ns":31},)"
    R"("torch_argument":{"begin_ns":19,"inside_ns":7},"python_call":{"begin_ns":60,"end_ns":40,"inside_ns":34},)"
    R"("c_call":{"begin_ns":66},"later_kind":{"begin_ns":1}}})";

void ExpectTheCosts(const std::optional<OwnCosts>& costs) {
  ASSERT_TRUE(costs.has_value());
  EXPECT_EQ(costs->scope.whole_ns(), 29.25);
  EXPECT_EQ(costs->scope.outside_ns(), 16.75);
  EXPECT_EQ(costs->async_end_ns, 23);
  EXPECT_EQ(costs->point.whole_ns(), 20);
  EXPECT_TRUE(costs->has_torch);
  EXPECT_EQ(costs->torch_op.floor_ns, 31);
  EXPECT_EQ(costs->torch_argument.inside_ns, 7);
  EXPECT_EQ(costs->torch_range.whole_ns(), 0) << "was not measured";
  EXPECT_TRUE(costs->has_calls);
  EXPECT_EQ(costs->python_call.outside_ns(), 66);
  EXPECT_EQ(costs->c_call.whole_ns(), 66);
  EXPECT_EQ(costs->module_call.whole_ns(), 0) << "was not measured";
}

TEST(OwnCosts, AreReadFromTheOptions) {
  ExpectTheCosts(ParseOwnCosts(kOptions));
}

TEST(OwnCosts, StayWithTheTraceThroughAFile) {
  TraceBuilder builder;
  builder.info().format = "opscope";
  builder.info().options_json = kOptions;
  builder.AddSpan({.track = builder.AddTrack({.process = builder.AddProcess({.pid = 1})})});
  const Trace trace = builder.Build();
  const std::string file = OpscopeBytes(trace).value();
  const Result<Trace> back = ImportBytes(std::as_bytes(std::span(file)), "file.opscope");
  ASSERT_TRUE(back.ok());
  ExpectTheCosts(back.value().info().own_costs);
}

TEST(OwnCosts, AreNoneWhereTheOptionsSayNone) {
  for (const char* options :
       {"{}", "{\"own_cost\":{}}", "{\"own_cost\":7}", "{\"own_cost\":{\"point\":{\"begin_ns\":1}}}",
        "{\"own_cost\":{\"scope\":", "[\"own_cost\"]", "\"own_cost\""}) {
    EXPECT_FALSE(ParseOwnCosts(options).has_value()) << options;
  }
}

TEST(OwnCosts, NumbersThatCannotBeAreZero) {
  const std::optional<OwnCosts> costs =
      ParseOwnCosts(R"({"own_cost":{"scope":{"inside_ns":-5,"begin_ns":"fast","end_ns":1e300,"async_end_ns":null}}})");
  ASSERT_TRUE(costs.has_value());
  EXPECT_EQ(costs->scope.whole_ns(), 0);
  EXPECT_EQ(costs->scope.inside_ns, 0);
  EXPECT_EQ(costs->async_end_ns, 0);
  EXPECT_FALSE(costs->has_torch);
}

}  // namespace
}  // namespace opscope
