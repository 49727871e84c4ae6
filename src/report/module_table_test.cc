// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <string>

#include "opscope/report/modules.h"

namespace opscope {
namespace {

ModuleSummary SmallSummary() {
  ModuleSummary summary;
  summary.nodes = {{}, {"Net_0", 0, 1}, {"Head_0", 0, 1}, {"Linear_0", 1, 2}};
  summary.rows.resize(4);
  summary.rows[0] = {.ops = 3, .forward_self_ns = 10, .forward_ns = 1000};
  summary.rows[1] = {.calls = 2, .ops = 2, .forward_self_ns = 200, .forward_ns = 700};
  summary.rows[2] = {.calls = 1, .self_ops = 1, .ops = 1, .forward_self_ns = 290, .forward_ns = 290};
  summary.rows[3] = {.calls = 2, .self_ops = 2, .ops = 2, .forward_self_ns = 500, .forward_ns = 500};
  return summary;
}

TEST(ModuleTable, IsIndentedByDepthInTheOrderOfTheProgram) {
  EXPECT_EQ(ModuleTable(Trace(), SmallSummary()).Text(),
            "Module      Calls  Ops   Forward  Forward self   Share\n"
            "(all)           0    3  1.000 us         10 ns  100.0%\n"
            "Net_0           2    2    700 ns        200 ns   70.0%\n"
            "  Linear_0      2    2    500 ns        500 ns   50.0%\n"
            "Head_0          1    1    290 ns        290 ns   29.0%\n");
}

TEST(ModuleTable, ShowsColumnsThatHaveNumbers) {
  ModuleSummary summary = SmallSummary();
  summary.rows[0].backward_ns = summary.rows[0].backward_self_ns = 1;
  summary.rows[0].flops = 5;
  const std::string table = ModuleTable(Trace(), summary).Text();
  const std::string title = table.substr(0, table.find('\n'));
  EXPECT_NE(title.find("Backward self"), std::string::npos);
  EXPECT_NE(title.find("FLOPs"), std::string::npos);
  EXPECT_EQ(title.find("Memory"), std::string::npos);
}

TEST(ModuleTable, TakesLinearMemoryHoweverDeepModulesAreNested) {
  constexpr uint32_t kDepth = 2000;
  ModuleSummary summary;
  summary.nodes.emplace_back();
  for (uint32_t depth = 1; depth <= kDepth; ++depth)
    summary.nodes.push_back({"Linear_0", depth - 1, depth});
  summary.rows.resize(summary.nodes.size());
  const ResultTable table = ModuleTable(Trace(), summary);
  constexpr size_t kLongest = 4400;
  for (const std::string& text : {table.Csv(0), table.Text()}) {
    for (size_t at = 0, end = 0; at < text.size(); at = end + 1) {
      end = std::min(text.find('\n', at), text.size());
      ASSERT_LT(end - at, kLongest);
    }
  }
  EXPECT_NE(table.Csv(0).find("\r\n....Linear_0,"), std::string::npos) << "a path that begins anew";
}

TEST(ModulesJson, HasEveryNumberByPath) {
  simdjson::dom::parser parser;
  const simdjson::padded_string text(ResultJson({.tables = {ModuleTable(Trace(), SmallSummary())}}, Trace()));
  const simdjson::dom::element root = parser.parse(text);
  EXPECT_EQ(std::string_view(root["schema"]), "opscope.modules/1");
  const simdjson::dom::array rows = root["rows"];
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(std::string_view(rows.at(2)["module"]), "Net_0.Linear_0");
  EXPECT_EQ(int64_t(rows.at(2)["forward_self_ns"]), 500);
  EXPECT_EQ(int64_t(rows.at(2)["depth"]), 2);
  EXPECT_EQ(int64_t(rows.at(1)["calls"]), 2);
}

}  // namespace
}  // namespace opscope
