// Wrong usage ends with exit code 2 and one line that says what is wrong.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "cli/program_for_test.h"

namespace opscope {
namespace {

constexpr const char kOneOp[] = R"([{"ph":"X","name":"outer","cat":"cpu_op","pid":1,"tid":1,"ts":10,"dur":90}])";

TEST_F(Cli, AnswersWrongUsageWithTwoAndOneLine) {
  const std::string file = Quoted(Put("a.json", kOneOp));
  for (const std::string& arguments : {std::string(),
                                       std::string("frobnicate"),
                                       std::string("summary"),
                                       "summary --style pink " + file,
                                       "summary --limit 0 " + file,
                                       "summary --limit x " + file,
                                       "summary --sort price " + file,
                                       "summary --group-by planet " + file,
                                       "summary --style torch --group-by thread " + file,
                                       "summary --style torch --sort price " + file,
                                       "summary --json --csv " + file,
                                       "summary --nope " + file,
                                       "export " + file + " --to chrome",
                                       "export " + file + " -o x",
                                       "export " + file + " --to pdf -o x",
                                       "export " + file + " " + file + " --to chrome -o x",
                                       "convert " + file,
                                       "info --max-memory many " + file,
                                       "info --attempt x " + file,
                                       "summary --attempt -1 " + file,
                                       "steps --attempt x " + file,
                                       "diff --attempt x " + file + " " + file,
                                       "check --max spans=1 --attempt x " + file,
                                       "report --attempt x -o x.html " + file,
                                       "merge --attempt x -o x.opscope " + file,
                                       "merge --ranks 0 -o x.opscope " + file,
                                       "ranks --engine sparc " + file,
                                       "ranks --master local " + file,
                                       "flame -o x.html " + file,
                                       "flame -o x.png " + file}) {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments << outcome.error;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_TRUE(IsOneLine(outcome.error)) << arguments << "\n" << outcome.error;
    EXPECT_TRUE(outcome.error.starts_with("opscope: ")) << outcome.error;
  }
}

TEST_F(Cli, NeedsPythonForSpark) {
  const Outcome outcome = Run("ranks --engine spark job");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.error, "opscope: job: --engine spark needs Python: pip install 'opscope[spark]'\n");
}

TEST_F(Cli, RefusesAnEngineThatWouldNotGiveTheAnswer) {
  const std::string file = Quoted(Put("a.json", kOneOp));
  for (const std::string& arguments :
       {"summary " + file, "summary --quantiles " + file, "steps " + file, "devices " + file,
        "query " + file + " 'SELECT 1'", "diff --a " + file + " --b " + file, "merge -o x.opscope " + file}) {
    const Outcome outcome = Run(arguments + " --engine spark");
    EXPECT_EQ(outcome.exit_code, 2) << arguments << outcome.error;
    EXPECT_EQ(outcome.out, "") << arguments;
    const std::string verb = arguments.substr(0, arguments.find(' '));
    EXPECT_TRUE(outcome.error.starts_with("opscope: " + verb + ": --engine spark: ")) << outcome.error;
    EXPECT_EQ(Run(arguments + " --master local").exit_code, 2) << arguments;
  }
  EXPECT_EQ(Run("summary --engine duckdb " + file).exit_code, 0);
  EXPECT_EQ(Run("collect --engine duckdb -o job " + file).exit_code, 2);
}

TEST_F(Cli, BracketsAroundAnOperandAreNoList) {
  Put("[a,b]", kOneOp);
  EXPECT_EQ(Run("info '[a,b]'").exit_code, 0);
  EXPECT_EQ(Run("info '[a,b]' '[c]'").error, "opscope: [c]: No such file or directory\n");
  EXPECT_EQ(Run("query '[a,b]' '[c]' '[d]'").error,
            "opscope: query: '[d]' is one argument too many; see 'opscope query --help'\n");
}

TEST_F(Cli, WrongUsageIsASentence) {
  const std::pair<std::string, std::string> cases[] = {
      {"summary", "FILE is missing"},
      {"report a.json", "--output is missing"},
      {"summary --limit", "--limit needs a value"},
      {"summary --limit=1 --limit=2 a.json", "--limit takes one value, but 2 are given"},
      {"export --to chrome a.json b.json", "FILE takes one value, but 2 are given"},
      {"stragglers a b", "JOB takes one value, but 2 are given"},
      {"summary --limit x a.json", "--limit: 'x' is not a whole number of 1 or more"},
      {"summary --style odd a.json", "--style: 'odd' is not one of plain, torch, paddle"},
      {"info --json --csv a.json", "--json and --csv exclude each other"},
      {"info --odd a.json", "there is no option --odd"},
      {"compact --engine duckdb a", "there is no option --engine"},
      {"info --jsn=1 a.json", "there is no option --jsn (did you mean --json?)"},
      {"query a.json 'SELECT 1' more", "'more' is one argument too many"},
  };
  for (const auto& [arguments, sentence] : cases) {
    const std::string verb = arguments.substr(0, arguments.find(' '));
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.error, "opscope: " + verb + ": " + sentence + "; see 'opscope " + verb + " --help'\n");
    EXPECT_EQ(outcome.exit_code, 2);
  }
  EXPECT_EQ(Run("sumary a.json").error,
            "opscope: there is no 'sumary' (did you mean summary?); see 'opscope --help'\n");
  EXPECT_EQ(Run("").error, "opscope: a command is missing; see 'opscope --help'\n");
  EXPECT_EQ(Run("--odd info a.json").error, "opscope: info: there is no option --odd; see 'opscope info --help'\n");
}

TEST_F(Cli, TakesOptionsBeforeAndBehindTheFileInAnyOrder) {
  Put("a.json", kOneOp);
  const std::string expected = Run("summary a.json --where 'name ~ out' --where 'duration > 1us' --limit 1 --json").out;
  ASSERT_NE(expected.find("outer"), std::string::npos);
  for (const char* arguments : {"summary --where 'name ~ out' --where 'duration > 1us' a.json --limit 1 --json",
                                "summary --where 'name ~ out' a.json --where 'duration > 1us' --json --limit 1",
                                "summary --json --where 'name ~ out' a.json --limit 1 --where 'duration > 1us'"}) {
    EXPECT_EQ(Run(arguments).out, expected) << arguments;
  }
  EXPECT_EQ(Run("check --max spans=1 a.json -q").exit_code, 0);
  EXPECT_EQ(Run("check --max spans=1 --min spans=2 a.json -q --csv").exit_code, 4);
}

TEST_F(Cli, RefusesNumbersOutOfTheirRangeAndTellsIt) {
  const std::string file = " " + Quoted(Put("a.json", kOneOp));
  const std::pair<std::string, std::string> cases[] = {
      {"summary --limit abc", "summary: --limit: 'abc' is not a whole number of 1 or more"},
      {"summary --limit 0", "summary: --limit: '0' is not a whole number of 1 or more"},
      {"summary --limit 2.5", "summary: --limit: '2.5' is not a whole number of 1 or more"},
      {"summary --limit 99999999999999999999",
       "summary: --limit: '99999999999999999999' is not a whole number of 1 or more"},
      {"summary --peak-flops nan", "summary: --peak-flops: 'nan' is not a number of 1 or more"},
      {"summary --peak-flops inf", "summary: --peak-flops: 'inf' is not a number of 1 or more"},
      {"summary --peak-flops 0x10", "summary: --peak-flops: '0x10' is not a number of 1 or more"},
      {"flame --width 10", "flame: --width: '10' is not a number of 200 to 20000"},
      {"info --max-memory=-5",
       "info: --max-memory: '-5' is not a number of bytes; 0 (no limit) or more, with K, M or G behind it"},
      {"info --max-memory 1.5M",
       "info: --max-memory: '1.5M' is not a number of bytes; 0 (no limit) or more, with K, M or G behind it"},
      {"info --max-memory 5X",
       "info: --max-memory: '5X' is not a number of bytes; 0 (no limit) or more, with K, M or G behind it"},
      {"report -o x.html --max-size 1M5", "report: --max-size: '1M5' is not a number of bytes; 0 (no limit) or more"},
  };
  for (const auto& [arguments, error] : cases) {
    const Outcome outcome = Run(arguments + file);
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_TRUE(outcome.error.starts_with("opscope: " + error)) << outcome.error;
    EXPECT_TRUE(IsOneLine(outcome.error)) << outcome.error;
  }
  EXPECT_EQ(Run("info --max-memory 64M" + file).exit_code, 0);
  EXPECT_EQ(Run("summary --peak-flops 1.5e12 --limit 1" + file).exit_code, 0);
}

TEST_F(Cli, EveryVerbThatReadsTakesTheFormatOfItsInput) {
  const std::string file = Quoted(Put("prose.txt", "Training took 12\nEpoch 3\n"));
  for (const char* verb : {"summary", "info", "flame", "modules", "devices", "export --to csv -o -",
                           "convert -o x.opscope", "merge -o y.opscope"}) {
    const Outcome outcome = Run(std::string(verb) + " --from collapsed-stacks " + file);
    EXPECT_EQ(outcome.exit_code, 0) << verb << outcome.error;
    EXPECT_EQ(Run(std::string(verb) + " --from kineto " + file).exit_code, 2) << verb;
  }
  EXPECT_NE(Run("summary --from collapsed-stacks " + file).out.find("Training took"), std::string::npos);
  EXPECT_EQ(Run("analyze-megengine --from opscope " + file).exit_code, 1);
}

}  // namespace
}  // namespace opscope
