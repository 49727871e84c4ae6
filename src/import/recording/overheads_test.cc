// SPDX-License-Identifier: Apache-2.0
#include "import/recording/overheads.h"

#include <gtest/gtest.h>

#include "opscope/export.h"
#include "opscope/import.h"
#include "trace/random_tables_for_test.h"

namespace opscope {
namespace {

constexpr const char kOptions[] =
    R"({"abi":2,"own_cost":{"scope":{"inside_ns":12.5,"begin_ns":16,"end_ns":13.25,"async_end_ns":23},)"
    R"("point":{"begin_ns":20},"torch_op":{"inside_ns":25,"begin_ns":45,"end_ns":23,"floor_ns":31},)"
    R"("torch_argument":{"begin_ns":19,"inside_ns":7},"python_call":{"begin_ns":60,"end_ns":40,"inside_ns":34},)"
    R"("c_call":{"begin_ns":66},"later_kind":{"begin_ns":1}}})";

void ExpectTheCosts(const std::optional<MeasuredOverheads>& costs) {
  ASSERT_TRUE(costs.has_value());
  const auto row = [&](std::string_view source, SpanKind kind) {
    const OverheadRow* found = costs->Find(source, kind);
    return found == nullptr ? OverheadRow{} : *found;
  };
  const OverheadRow scope = row(MeasuredOverheads::kProgram, SpanKind::kUserRange);
  EXPECT_EQ(scope.cost.whole_ns(), 29.25);
  EXPECT_EQ(scope.cost.outside_ns(), 16.75);
  EXPECT_EQ(scope.async_end_ns, 23);
  EXPECT_EQ(row(MeasuredOverheads::kProgram, SpanKind::kOther).cost.whole_ns(), 20);
  EXPECT_EQ(row("torch", SpanKind::kOperator).cost.floor_ns, 31);
  EXPECT_EQ(row("torch", SpanKind::kOperator).argument.inside_ns, 7);
  EXPECT_EQ(costs->Find("torch", SpanKind::kUserRange), nullptr) << "was not measured";
  EXPECT_EQ(row(MeasuredOverheads::kPython, SpanKind::kPythonFunction).cost.outside_ns(), 66);
  EXPECT_EQ(row(MeasuredOverheads::kPython, SpanKind::kCFunction).cost.whole_ns(), 66);
  EXPECT_EQ(costs->Find(MeasuredOverheads::kPython, SpanKind::kModule), nullptr) << "was not measured";
  EXPECT_EQ(costs->rows.size(), 5u) << "what is of no known kind is left out";
}

TEST(MeasuredOverheads, AreReadFromTheOptions) {
  ExpectTheCosts(ParseOverheads(kOptions));
}

TEST(MeasuredOverheads, StayWithTheTraceThroughAFile) {
  TraceBuilder builder;
  builder.info().format = "opscope";
  builder.info().options_json = kOptions;
  builder.AddSpan({.track = builder.AddTrack({.process = builder.AddProcess({.pid = 1})})});
  const Trace trace = builder.Build();
  const std::string file = OpscopeBytes(trace).value();
  const Result<Trace> back = ImportBytes(std::as_bytes(std::span(file)), "file.opscope");
  ASSERT_TRUE(back.ok());
  ExpectTheCosts(back.value().info().overheads);
}

TEST(MeasuredOverheads, AreNoneWhereTheOptionsSayNone) {
  for (const char* options :
       {"{}", "{\"own_cost\":{}}", "{\"own_cost\":7}", "{\"own_cost\":{\"point\":{\"begin_ns\":1}}}",
        "{\"own_cost\":{\"scope\":", "[\"own_cost\"]", "\"own_cost\""}) {
    EXPECT_FALSE(ParseOverheads(options).has_value()) << options;
  }
}

TEST(MeasuredOverheads, OfAFrameworkStandUnderItsName) {
  const MeasuredOverheads costs =
      *ParseOverheads(R"({"own_cost":{"scope":{"begin_ns":1},"mine_range":{"begin_ns":2},"mine_op":{"begin_ns":3}}})");
  EXPECT_EQ(costs.Find("mine", SpanKind::kUserRange)->cost.begin_ns, 2);
  EXPECT_EQ(costs.FindOfFramework(SpanKind::kOperator)->source, "mine");
}

TEST(MeasuredOverheads, NumbersThatCannotBeAreZero) {
  const std::optional<MeasuredOverheads> costs =
      ParseOverheads(R"({"own_cost":{"scope":{"inside_ns":-5,"begin_ns":"fast","end_ns":1e300,"async_end_ns":null}}})");
  ASSERT_TRUE(costs.has_value());
  const OverheadRow scope = *costs->Find(MeasuredOverheads::kProgram, SpanKind::kUserRange);
  EXPECT_EQ(scope.cost.whole_ns(), 0);
  EXPECT_EQ(scope.cost.inside_ns, 0);
  EXPECT_EQ(scope.async_end_ns, 0);
  EXPECT_EQ(costs->FindOfFramework(SpanKind::kOperator), nullptr);
}

}  // namespace
}  // namespace opscope
