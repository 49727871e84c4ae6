// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/result_table.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "opscope/report/info.h"
#include "report/result_units.h"
#include "trace/builder.h"

namespace opscope {
namespace {

using namespace result_units;

struct Fruit {
  std::string name;
  int64_t total_ns;
  std::optional<double> share;
  int64_t empty;
  int64_t id;
};

constexpr ResultField<Fruit> kFields[] = {
    {{"name", "Name", kText, "Its name."}, [](const Fruit& fruit) { return fruit.name; }},
    {{"total_ns", "Total", kTime, "Its time.", kIfNonZero}, [](const Fruit& fruit) { return fruit.total_ns; }},
    {{"share", "Share", kShare, "Its share."}, [](const Fruit& fruit) { return fruit.share; }},
    {{"empty", "Empty", kNumber, "Nothing.", kIfNonZero}, [](const Fruit& fruit) { return fruit.empty; }},
    {{"id", "", kNumber, "Its number."}, [](const Fruit& fruit) { return fruit.id; }},
};
const ResultDescription kFruitResult = DescribeResult<Fruit>("eat", "rows", "A fruit.", kFields);

ResultTable TableOf(const std::vector<Fruit>& fruits) {
  return MakeResultTable<Fruit>(kFruitResult, kFields, Trace(), fruits);
}

ResultTable Fruits() {
  return TableOf({{"pear", 2000, 1 / 3.0, 0, 7},
                  {"apple, \"red\"", 500, 2 / 3.0, 0, -8},
                  {"fig\n2", 2000, 0, 0, 9007199254740993}});
}

TEST(ResultTable, IsAlignedInTextWithoutEmptyColumnsAndLineEnds) {
  EXPECT_EQ(Fruits().Text(0, 0),
            "Name             Total  Share\n"
            "pear          2.000 us  33.3%\n"
            "apple, \"red\"    500 ns  66.7%\n"
            "fig\\x0a2      2.000 us   0.0%\n");
}

TEST(ResultTable, CutsTextsInTheMiddleToFitATerminal) {
  EXPECT_EQ(TableOf({{"abcdefghijklmnopqrstuvwxyz", 0, 1.0, 0, 0}}).Text(0, 23),
            "Name              Share\nabcdef...uvwxyz  100.0%\n");
}

TEST(ResultTable, KeepsTheColumnThatItIsSortedByInANarrowTerminal) {
  ResultTable rows = Fruits();
  EXPECT_EQ(rows.Text(1, 16), "Name     Total\npear  2.000 us\nLeft out: Share\n");
  ASSERT_TRUE(rows.Sort("share").ok());
  EXPECT_EQ(rows.Text(1, 16), "Name       Share\napp...ed\"  66.7%\nLeft out: Total\n");
}

TEST(ResultTable, IsCsvWithEveryKey) {
  EXPECT_EQ(Fruits().Csv(2),
            "name,total_ns,share,empty,id\r\n"
            "pear,2000,0.3333333333333333,0,7\r\n"
            "\"apple, \"\"red\"\"\",500,0.6666666666666666,0,-8\r\n");
}

TEST(ResultTable, IsJsonWithExactNumbers) {
  std::string text;
  Fruits().AppendJson(0, &text);
  simdjson::dom::parser parser;
  const simdjson::padded_string padded(text);
  const simdjson::dom::array rows = parser.parse(padded);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(std::string_view(rows.at(2)["name"]), "fig\n2");
  EXPECT_EQ(int64_t(rows.at(2)["id"]), 9007199254740993);
  EXPECT_EQ(double(rows.at(1)["share"]), 2.0 / 3);
}

TEST(ResultTable, HasNoValueWhereItIsUnknown) {
  const ResultTable rows = TableOf({{"plum", 1, std::nullopt, 0, 2}});
  EXPECT_EQ(rows.Text(), "Name  Total  Share\nplum   1 ns      -\n");
  EXPECT_EQ(rows.Csv(), "name,total_ns,share,empty,id\r\nplum,1,,0,2\r\n");
  std::string json;
  rows.AppendJson(0, &json);
  EXPECT_EQ(json, "[\n{\"name\":\"plum\",\"total_ns\":1,\"share\":null,\"empty\":0,\"id\":2}\n]");
}

TEST(ResultTable, IsATableForArrowWithTheDocumentationOfEachColumn) {
  const std::shared_ptr<const OwnedTable> table = Fruits().ToTable(2);
  const TableView& view = table->view();
  EXPECT_EQ(view.name, "rows");
  EXPECT_EQ(view.rows, 2u);
  ASSERT_EQ(view.columns.size(), 5u);
  EXPECT_EQ(view.columns[0].meaning, ColumnMeaning::kText);
  EXPECT_EQ(view.own_texts[1], "apple, \"red\"");
  EXPECT_EQ(view.columns[2].type, ColumnType::kFloat64);
  EXPECT_EQ(static_cast<const double*>(view.columns[2].data)[1], 2.0 / 3);
  EXPECT_EQ(static_cast<const int64_t*>(view.columns[4].data)[1], -8);
  EXPECT_EQ(view.columns[4].documentation, "Its number.");
}

TEST(ResultJson, HasFactsListsProblemsAndQuality) {
  VerbResult result{.tables = {Fruits()}, .facts_json = "\"corrected\":true", .quality = Quality()};
  simdjson::dom::parser parser;
  const simdjson::padded_string text(ResultJson(result, Trace(), {.limit = 1}));
  const simdjson::dom::element root = parser.parse(text);
  EXPECT_EQ(std::string_view(root["schema"]), "opscope.eat/1");
  EXPECT_TRUE(bool(root["corrected"]));
  EXPECT_EQ(root["rows"].get_array().value().size(), 1u);
  EXPECT_EQ(root["problems"].get_array().value().size(), 0u);
  EXPECT_EQ(std::string_view(root["quality"]["verdict"]), "good");
}

TEST(VerbResult, OfSeveralRanksCountsTheRowsThatAllOfThemLack) {
  VerbResult whole{.tables = {Fruits()}, .why_empty = "nothing"};
  AppendRows({.tables = {Fruits()}, .omitted = {"rows", 3}}, &whole);
  AppendRows({.tables = {Fruits()}, .omitted = {"rows", 0}}, &whole);
  AppendRows({.tables = {Fruits()}, .omitted = {"rows", 4}}, &whole);
  EXPECT_EQ(whole.tables[0].size(), 4 * Fruits().size());
  EXPECT_EQ(whole.why_empty, "");
  simdjson::dom::parser parser;
  const simdjson::padded_string text(ResultJson(whole, Trace()));
  EXPECT_EQ(uint64_t(parser.parse(text)["omitted_rows"]), 7u);
  EXPECT_NE(ResultText(whole).find("\n7 rows are left out\n"), std::string::npos);
  EXPECT_EQ(ResultJson({.tables = {Fruits()}}, Trace()).find("omitted"), std::string::npos);
}

TEST(ResultJson, HasTheListsWithinRowsWhereSortingPutsThem) {
  ResultTable table = Fruits();
  const auto text = [](const ResultTable& rows, size_t row) {
    std::string out;
    rows.AppendJsonMembers(row, &out);
    return out.substr(out.find("\"rows\""));
  };
  table.Nest(Fruits(), {0, 0, 1, 3});
  EXPECT_EQ(text(table, 0), "\"rows\":[\n]");
  const std::string third = text(table, 2);
  EXPECT_EQ(std::count(third.begin(), third.end(), '{'), 2);
  const Result<std::vector<uint32_t>> order = table.OrderBy("name");
  ASSERT_TRUE(order.ok());
  const std::string second = text(table, order.value()[1]);
  ASSERT_TRUE(table.Sort("name").ok());
  EXPECT_EQ(text(table, 1), second);
}

TEST(ResultDescriptions, HaveADocumentationForEachKeyAndNoKeyTwice) {
  for (const ResultDescription* result : ResultDescriptions()) {
    std::set<std::string_view> keys;
    EXPECT_FALSE(result->documentation.empty()) << result->verb;
    for (const ResultColumn& column : result->columns) {
      EXPECT_NE(column.key.empty() && column.title.empty(), true) << result->verb;
      if (column.key.empty()) continue;
      EXPECT_TRUE(keys.insert(column.key).second) << column.key;
      EXPECT_TRUE(column.documentation.ends_with('.')) << result->verb << " " << column.key;
    }
  }
}

TEST(ResultTable, SortsNumbersDownTextsUpAndKeepsEqualRowsInOrder) {
  ResultTable rows = Fruits();
  ASSERT_TRUE(rows.Sort("total").ok());
  EXPECT_EQ(rows.Text(2, 0), "Name         Total  Share\npear      2.000 us  33.3%\nfig\\x0a2  2.000 us   0.0%\n");
  ASSERT_TRUE(rows.Sort("name").ok());
  EXPECT_EQ(rows.Csv(1), "name,total_ns,share,empty,id\r\n\"apple, \"\"red\"\"\",500,0.6666666666666666,0,-8\r\n");
}

TEST(ResultTable, NamesTheKeysWhenItCannotSort) {
  ResultTable rows = Fruits();
  EXPECT_EQ(rows.Sort("price").error().message,
            "cannot sort by 'price'; choose one of: name, total_ns, share, empty, id");
}

struct Probability {
  std::optional<double> p;
};
constexpr ResultField<Probability> kProbabilityFields[] = {
    {{"p", "p", kDouble, "A probability."}, [](const Probability& row) { return row.p; }},
};

TEST(ResultTable, WritesRealNumbersWithAllDigitsForProgramsAndThreeInText) {
  const ResultDescription description = DescribeResult<Probability>("test", "rows", "A test.", kProbabilityFields);
  ResultTable table = MakeResultTable<Probability>(
      description, kProbabilityFields, Trace(),
      std::vector<Probability>{
          {std::nullopt}, {0.00804989310083772}, {std::nullopt}, {1.0}, {1.25e-9}, {std::nullopt}});
  ASSERT_TRUE(table.Sort("p").ok());
  EXPECT_EQ(table.Csv(), "p\r\n1\r\n0.00804989310083772\r\n1.25e-09\r\n\r\n\r\n\r\n") << "unknown ones last";
  EXPECT_EQ(table.Text(3), "       p\n       1\n 0.00805\n1.25e-09\n");
}

TEST(ResultJson, HasAListOfOneRowAsAnObjectIfItIsDescribedSo) {
  ResultDescription description = kFruitResult;
  description.list = "best";
  description.is_object = true;
  VerbResult result;
  result.tables = {Fruits(),
                   MakeResultTable<Fruit>(description, kFields, Trace(), std::vector<Fruit>{{"pear", 2, 0.5, 0, 7}})};
  EXPECT_NE(
      ResultJson(result, Trace(), {.limit = 1})
          .find("\n],\"best\":{\"name\":\"pear\",\"total_ns\":2,\"share\":0.5,\"empty\":0,\"id\":7},\"problems\":[]"),
      std::string::npos);
}

TEST(ResultJson, HasTheRanksOfAProblemOnlyIfTheyAreAList) {
  const auto json = [](const std::string& ranks) {
    TraceBuilder builder;
    builder.RestoreProblem("truncated", ProblemSeverity::kDataLoss, 1, -1, "cut", ranks);
    const Trace trace = builder.Build();
    return ProblemsJson(std::vector<ResultInput>{{&trace, {}}});
  };
  for (const std::string list : {"[]", "[3]", "[-1,0,12]"})
    EXPECT_NE(json(list).find("\"message\":\"cut\",\"ranks\":" + list + "}"), std::string::npos) << json(list);
  for (const std::string wrong : {"", "3", "[", "[3", "[03]", "[3,]", "[--1]", "[1 2]", "[],\"x\":[]", "[99999999999]"})
    EXPECT_EQ(json(wrong).find("ranks"), std::string::npos) << json(wrong);
}

TEST(ResultJson, HasTheProblemsOfAllInputsWithTheirFiles) {
  TraceBuilder builder;
  builder.AddProblem("truncated", 7, 2);
  const Trace whole, cut = builder.Build();
  const ResultInput inputs[] = {{&cut, "a\"b"}, {&whole, "c"}, {&cut, "d"}};
  // "[\n{...\n]" without the first bracket of the object
  const std::string rest = "," + ProblemsJson(cut).substr(3, ProblemsJson(cut).size() - 5);
  EXPECT_EQ(ProblemsJson(inputs), std::string("[\n{\"file\":\"a\\\"b\"") + rest + ",\n{\"file\":\"d\"" + rest + "\n]");
  EXPECT_EQ(ProblemsJson(std::span(inputs, 1)), ProblemsJson(cut)) << "of one input it says no file";
  EXPECT_EQ(ProblemsJson(std::span(inputs + 1, 1)), "[]");
  const Quality quality = JudgeInputs(inputs);
  EXPECT_EQ(quality.verdict, Verdict::kDoubtful);
  ASSERT_EQ(quality.reasons.size(), 2u);
  EXPECT_EQ(quality.reasons[1].find("d: "), 0u);
}

struct Rate {
  double per_second;
};

constexpr ResultField<Rate> kRateFields[] = {
    {{"per_second", "Rate", kAmount, "Its rate."}, [](const Rate& rate) { return rate.per_second; }}};

TEST(ResultTable, ClampsNumbersBeyondThoseOfAnInteger) {
  const ResultDescription description = DescribeResult<Rate>("eat", "rates", "A rate.", kRateFields);
  const std::vector<Rate> rates = {{1e30}, {2.7}};
  EXPECT_EQ(MakeResultTable<Rate>(description, kRateFields, Trace(), rates).Csv(0),
            "per_second\r\n9223372036854775807\r\n2\r\n");
}

TEST(InfoJson, IsJsonWhateverBytesADamagedFileHas) {
  TraceBuilder builder;
  builder.info().options_json = "{\"a\":";
  builder.AddMetadata("parent_pid", "007");
  const simdjson::padded_string text(InfoJson(builder.Build(), Quality()));
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  ASSERT_EQ(parser.parse(text).get(document), simdjson::SUCCESS) << text;
  EXPECT_EQ(std::string_view(document["options"]["damaged"]), "{\"a\":");
  EXPECT_NE(document["parent_pid"].error(), simdjson::SUCCESS);
}

TEST(ThreadList, HasTimesThatDoNotWrapAround) {
  constexpr int64_t kFar = 9'000'000'000'000'000'000;
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  builder.AddSpan({.start = {-kFar}, .track = builder.AddTrack({.process = process, .tid = 1})});
  builder.AddSpan({.start = {kFar}, .track = builder.AddTrack({.process = process, .tid = 2})});
  EXPECT_NE(ThreadListTable(builder.Build()).Text(0, 0).find("9223372036.855 s"), std::string::npos);
}

}  // namespace
}  // namespace opscope
