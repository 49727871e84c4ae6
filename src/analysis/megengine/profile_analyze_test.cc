// What is chosen, added up and ordered, and what is not known.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/megengine/profile_analyze.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace opscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

MegEngineOperator Made(std::string name, std::string type, double seconds, std::optional<double> computation = {}) {
  MegEngineOperator opr;
  opr.name = std::move(name), opr.type = std::move(type), opr.id = std::to_string(opr.name.size());
  opr.device = {{.whole = seconds, .wait = seconds / 4}};
  opr.computation = computation;
  return opr;
}

const std::vector<MegEngineOperator>& Four() {
  static const std::vector<MegEngineOperator> operators = [] {
    std::vector<MegEngineOperator> made = {Made("conv1", "Convolution", 4, 100.0), Made("fc", "MatrixMul", 1, 50.0),
                                           Made("conv2x", "Convolution", 2), Made("copy", "Copy", 3, 0.0)};
    made[0].input_dtypes = {"Int32", "Float32"};
    made[1].input_dtypes = {"Float32"};
    made[1].device.push_back({.whole = 1.5, .wait = 0});
    made[1].host = {{.whole = 0.25, .wait = 0.125}};
    return made;
  }();
  return operators;
}

MegEngineSelection All() {
  return {.types = {}, .input_dtype = {}, .order = {}};
}

std::vector<std::string> Names(const std::vector<MegEngineRecord>& records) {
  std::vector<std::string> names;
  for (const MegEngineRecord& record : records)
    names.emplace_back(record.opr != nullptr ? record.opr->name : record.group);
  return names;
}

std::vector<std::string> Chosen(const MegEngineSelection& selection) {
  return Names(AnalyzeMegEngineOperators(Four(), selection).device);
}

TEST(MegEngineAnalyze, TakesTheLongestOfItsDevicesAndAllForTheTotal) {
  MegEngineSelection selection = All();
  selection.types = {"MatrixMul"};
  const MegEngineAnalysis analysis = AnalyzeMegEngineOperators(Four(), selection);
  EXPECT_EQ(analysis.device_time, 10.5);
  EXPECT_EQ(analysis.host_time, 0.25);
  ASSERT_EQ(analysis.device.size(), 1u);
  EXPECT_EQ(analysis.device[0].time, 1.5);
  EXPECT_EQ(analysis.device[0].flops(), 50 / 1.5);
  EXPECT_THAT(Names(AnalyzeMegEngineOperators(Four(), All()).host), ElementsAre("fc"));
}

TEST(MegEngineAnalyze, ChoosesByTypeNameElementAndTime) {
  EXPECT_THAT(Chosen(All()), ElementsAre("conv1", "copy", "conv2x", "fc"));
  MegEngineSelection selection = All();
  selection.types = {"Copy", "MatrixMul"};
  EXPECT_THAT(Chosen(selection), ElementsAre("copy", "fc"));
  selection = All();
  selection.name_matches = [](std::string_view name) { return name.starts_with("conv"); };
  EXPECT_THAT(Chosen(selection), ElementsAre("conv1", "conv2x"));
  selection = All();
  selection.input_dtype = "Float32";
  EXPECT_THAT(Chosen(selection), ElementsAre("conv1", "fc"));
  selection = All();
  selection.min_time = 2, selection.max_time = 3;
  EXPECT_THAT(Chosen(selection), ElementsAre("copy", "conv2x")) << "both bounds are in";
  selection.is_wait_time = true;
  EXPECT_THAT(Chosen(selection), IsEmpty()) << "of the times that are asked for";
}

TEST(MegEngineAnalyze, ShowsSoManyOfTheFirst) {
  MegEngineSelection selection = All();
  for (const auto& [top, count] : std::vector<std::pair<int64_t, size_t>>{{0, 4}, {1, 1}, {9, 4}, {-1, 3}, {-9, 0}}) {
    selection.top = top;
    EXPECT_EQ(Chosen(selection).size(), count) << top;
  }
}

TEST(MegEngineAnalyze, PutsWhatIsNotKnownLastInAnyOrder) {
  for (const auto& [order, names] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"computation", {"conv1", "fc", "conv2x", "copy"}},
           {"+computation", {"fc", "conv1", "conv2x", "copy"}},  // a computation of 0 is not known
           {"+time", {"fc", "conv2x", "copy", "conv1"}},
           {"OPR_ID", {"conv2x", "conv1", "copy", "fc"}}}) {
    MegEngineSelection selection = All();
    selection.order = ParseMegEngineOrder(order).value();
    EXPECT_EQ(Chosen(selection), names) << order;
  }
  EXPECT_EQ(ParseMegEngineOrder("size").error().code, ErrorCode::kInvalidArgument);
}

TEST(MegEngineAnalyze, AddsUpGroups) {
  MegEngineSelection selection = All();
  selection.by_type = true;
  const auto convolutions = [&](MegEngineAggregate aggregate) {
    selection.aggregate = aggregate;
    for (const MegEngineRecord& record : AnalyzeMegEngineOperators(Four(), selection).device) {
      if (record.group == "Convolution") return record;
    }
    return MegEngineRecord();
  };
  const MegEngineRecord sum = convolutions(MegEngineAggregate::kSum);
  EXPECT_EQ(sum.count, 2u);
  EXPECT_EQ(sum.time, 6);
  EXPECT_EQ(sum.computation, 100.0) << "sums leave out what is not known";
  EXPECT_EQ(convolutions(MegEngineAggregate::kMean).computation, 50.0) << "means count it as nothing";
  EXPECT_EQ(convolutions(MegEngineAggregate::kMean).time, 3);
  EXPECT_EQ(convolutions(MegEngineAggregate::kMax).time, 4);
  EXPECT_EQ(convolutions(MegEngineAggregate::kMax).computation, std::nullopt) << "which may be greater";
  EXPECT_EQ(convolutions(MegEngineAggregate::kMin).time, 2);
  EXPECT_EQ(convolutions(MegEngineAggregate::kMin).computation, 100.0);
  selection.by_type = false;
  const MegEngineAnalysis whole = AnalyzeMegEngineOperators(Four(), selection);
  EXPECT_TRUE(whole.is_aggregated);
  EXPECT_THAT(Names(whole.device), ElementsAre("all"));
}

TEST(MegEngineAnalyze, TellsWhatCopiesTook) {
  MegEngineSelection selection = All();
  selection.with_copy_time = true;
  const MegEngineAnalysis analysis = AnalyzeMegEngineOperators(Four(), selection);
  ASSERT_TRUE(analysis.copy_time && analysis.copy_wait_time);
  EXPECT_EQ(analysis.copy_time->total, 3);
  EXPECT_EQ(analysis.copy_wait_time->mean, 0.75);
  selection.types = {"MatrixMul"};
  EXPECT_FALSE(AnalyzeMegEngineOperators(Four(), selection).copy_time) << "none of the chosen is a copy";
}

TEST(MegEngineAnalyze, RefusesAGraphThatTookNoTime) {
  const std::vector<MegEngineOperator> still = {Made("x", "ADD", 0)};
  const MegEngineAnalysis analysis = AnalyzeMegEngineOperators(still, All());
  EXPECT_EQ(CheckMegEngineTotal(analysis, false, "file").error().message.substr(0, 5), "file:");
  EXPECT_NE(CheckMegEngineTotal(analysis, true, "file").error().message.find("opencl"), std::string::npos);
  EXPECT_TRUE(CheckMegEngineTotal(AnalyzeMegEngineOperators({}, All()), false, "file").ok());
}

}  // namespace
}  // namespace opscope
