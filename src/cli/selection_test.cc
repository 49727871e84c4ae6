// --where, --steps and --time as users give them.
// SPDX-License-Identifier: Apache-2.0
#include <simdjson.h>

#include <string>

#include "cli/program_for_test.h"

namespace opscope {
namespace {

using Selection = Cli;

constexpr const char kThreeSteps[] = R"({"traceEvents":[
{"ph":"X","name":"ProfilerStep#0","cat":"user_annotation","pid":1,"tid":1,"ts":0,"dur":100},
{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":1,"tid":1,"ts":10,"dur":20},
{"ph":"X","name":"ProfilerStep#1","cat":"user_annotation","pid":1,"tid":1,"ts":100,"dur":100},
{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":1,"tid":1,"ts":110,"dur":40},
{"ph":"X","name":"aten::add","cat":"cpu_op","pid":1,"tid":1,"ts":160,"dur":5},
{"ph":"X","name":"ProfilerStep#2","cat":"user_annotation","pid":1,"tid":1,"ts":200,"dur":100},
{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":1,"tid":1,"ts":210,"dur":80}]})";

TEST_F(Selection, ChoosesSpansByConditionStepAndTime) {
  const std::string file = Quoted(Put("a.json", kThreeSteps));
  simdjson::dom::parser parser;
  const auto total_of_mm = [&](const std::string& options) -> int64_t {
    const Outcome outcome = Run("summary --json " + options + " " + file);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    for (const simdjson::dom::element row : simdjson::dom::array(parser.parse(outcome.out)["rows"])) {
      if (std::string_view(row["name"]) == "aten::mm") return int64_t(row["total_ns"]);
    }
    return 0;
  };
  EXPECT_EQ(total_of_mm(""), 140'000);
  EXPECT_EQ(total_of_mm("--where 'name ~ mm and duration > 30us'"), 120'000);
  EXPECT_EQ(total_of_mm("--where 'name ~ mm' --where 'duration < 50us'"), 60'000);
  EXPECT_EQ(total_of_mm("--where 'name = x or name ~ mm' --steps 1"), 40'000) << "a condition stands by itself";
  EXPECT_EQ(total_of_mm("--steps 1.."), 120'000);
  EXPECT_EQ(total_of_mm("--steps ..1"), 60'000);
  EXPECT_EQ(total_of_mm("--time 100us..210us"), 40'000);
  EXPECT_EQ(total_of_mm("--time 0.11ms.."), 120'000);
}

TEST_F(Selection, ChoosesAndGroupsByKindWhateverTheFormatCallsIt) {
  const char* const kTrace = R"json({"schemaVersion":"1.0.2","traceEvents":[
{"ph":"X","name":"matmul[9.000 us]","cat":"Operator","pid":1,"tid":"1(C++)","ts":0,"dur":9,"args":{}},
{"ph":"X","name":"matmul infer_meta[1.000 us]","cat":"OperatorInner","pid":1,"tid":"1(C++)","ts":1,"dur":1,"args":{}},
{"ph":"X","name":"gemm[5.000 us]","cat":"Kernel","pid":0,"tid":7,"ts":4,"dur":5,"args":{}}]})json";
  const std::string file = Quoted(Put("paddle.json", kTrace));
  const std::string kernels = Run("summary --csv --where 'kind = kernel' " + file).out;
  EXPECT_NE(kernels.find("\ngemm,1,5000,"), std::string::npos) << kernels;
  EXPECT_EQ(std::count(kernels.begin(), kernels.end(), '\n'), 2) << kernels;
  const std::string groups = Run("summary --csv --group-by kind " + file).out;
  for (const char* group : {"\noperator,1,9000,", "\nkernel,1,5000,", "\nother,1,1000,"})
    EXPECT_NE(groups.find(group), std::string::npos) << groups;
  EXPECT_NE(Run("summary --csv --where 'kind ~ er' --group-by kind " + file).out.find("operator"), std::string::npos);
  const Outcome wrong = Run("summary --where 'kind = Kernel' " + file);
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.error.find("at character 8: no kind 'Kernel'; choose from other, operator, kernel, copy"),
            std::string::npos)
      << wrong.error;
}

TEST_F(Selection, ExportsAndCountsThePartThatWasChosen) {
  const std::string file = Quoted(Put("a.json", kThreeSteps));
  EXPECT_EQ(Run("convert --steps 1 -o b.opscope " + file).exit_code, 0);
  EXPECT_EQ(Run("export --steps 1 --to chrome -o b.json " + file).exit_code, 0);
  const std::string table = Run("summary b.opscope --csv").out;
  EXPECT_NE(table.find("aten::mm,1,40000,"), std::string::npos) << table;
  EXPECT_NE(table.find("ProfilerStep#1,1,100000,55000,"), std::string::npos) << table;
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 4);
  EXPECT_EQ(Run("summary b.json --csv").out, table);
  EXPECT_NE(ReadText(Path("b.json")).find("\"opscope_cut\": {\"spans\":3,\"spans_before\":7,"), std::string::npos);
  const Outcome info = Run("info --json --where 'name = aten::mm' " + file);
  EXPECT_NE(info.out.find("\"spans\":3,"), std::string::npos) << info.out;
  for (const char* verb : {"info", "convert -o x", "export --to chrome -o x"}) {
    const Outcome wrong = Run(std::string(verb) + " --steps two " + file);
    EXPECT_EQ(wrong.exit_code, 2) << verb;
    EXPECT_TRUE(IsOneLine(wrong.error)) << wrong.error;
  }
}

TEST_F(Selection, TheTableInTorchsStyleIsOfTheChosenSpansAlone) {
  const std::string file = Quoted(Put("a.json", kThreeSteps));
  const std::string table = Run("summary --style torch --steps 2 " + file).out;
  EXPECT_NE(table.find(" aten::mm        80.00%      80.000us "), std::string::npos) << table;
  EXPECT_EQ(table.find("aten::add"), std::string::npos) << table;
  Run("convert --steps 2 -o one.opscope " + file);
  EXPECT_EQ(Run("summary --style torch one.opscope").out, table);
}

TEST_F(Selection, SaysWhatItCannotRead) {
  const std::string file = Quoted(Put("a.json", kThreeSteps));
  for (const auto& [options, error] :
       {std::pair("--where 'price = 3'",
                  "opscope: summary: --where: at character 1: no field 'price'; choose from name, "
                  "category, kind, overload, thread, process, duration, start, depth, sequence, step, "
                  "rank, device, correlation\n"),
        std::pair("--where 'rank = 1) or (rank = 2'",
                  "opscope: summary: --where: at character 9: 'and' or 'or' is missing\n"),
        std::pair("--steps two", "opscope: summary: --steps: 'two' is no range; 3, 3..7, 3.. or ..7, from 0 on\n"),
        std::pair("--steps ..", "opscope: summary: --steps: '..' is no range; 3, 3..7, 3.. or ..7, from 0 on\n"),
        std::pair("--steps ''", "opscope: summary: --steps: '' is no range; 3, 3..7, 3.. or ..7, from 0 on\n"),
        std::pair("--steps=-2..3", "opscope: summary: --steps: '-2..3' is no range; 3, 3..7, 3.. or ..7, from 0 on\n"),
        std::pair("--steps 7..3",
                  "opscope: summary: --steps: '7..3' ends before it begins; 3, 3..7, 3.. or ..7, from 0 on\n"),
        std::pair("--time ''", "opscope: summary: --time: '' is no range; 10ms..20ms, 1s.. or ..5us\n"),
        std::pair("--time 2ms..1ms",
                  "opscope: summary: --time: '2ms..1ms' ends before it begins; 10ms..20ms, 1s.. or ..5us\n"),
        std::pair("--time 10..20",
                  "opscope: summary: --time: '10..20' lacks a unit: ns, us, ms or s; 10ms..20ms, 1s.. or ..5us\n"),
        std::pair("--time 10us..20",
                  "opscope: summary: --time: '10us..20' lacks a unit: ns, us, ms or s; 10ms..20ms, 1s.. or ..5us\n"),
        std::pair("--time 10..",
                  "opscope: summary: --time: '10..' lacks a unit: ns, us, ms or s; 10ms..20ms, 1s.. or ..5us\n"),
        std::pair("--time 5us", "opscope: summary: --time: '5us' is no range; 10ms..20ms, 1s.. or ..5us\n")}) {
    const Outcome outcome = Run("summary " + std::string(options) + " " + file);
    EXPECT_EQ(outcome.exit_code, 2) << options;
    EXPECT_EQ(outcome.out, "") << options;
    EXPECT_EQ(outcome.error, error);
  }
}

}  // namespace
}  // namespace opscope
