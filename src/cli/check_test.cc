// The command line of `opscope check`.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "cli/check_rules.h"
#include "cli/exit_code.h"
#include "cli/program_for_test.h"

namespace opscope {
namespace {

using testing::HasSubstr;

constexpr int kExitCrossed = kExitLimit;

// Steps of these lengths in us, each with aten::mm for 10 us.
std::string StepsText(const std::vector<int>& lengths) {
  std::string text = "[";
  int begin = 0;
  for (size_t step = 0; step < lengths.size(); ++step) {
    for (const auto& [category, name, length] :
         {std::tuple("user_annotation", "ProfilerStep#" + std::to_string(step), lengths[step]),
          std::tuple("cpu_op", std::string("aten::mm"), 10)}) {
      text += text.size() > 1 ? "," : "";
      text += R"({"ph":"X","pid":1,"tid":1,"cat":")" + std::string(category) + R"(","name":")" + name + R"(","ts":)" +
              std::to_string(begin) + R"(,"dur":)" + std::to_string(length) + "}";
    }
    begin += lengths[step];
  }
  return text + "]";
}

class CheckCommand : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    main_ = Quoted(Put("main.json", StepsText({1000, 1000, 1000})));
    slow_ = Quoted(Put("slow.json", StepsText({1060, 1060, 1060})));
  }
  int Code(const std::string& arguments) const { return Run("check " + slow_ + " " + arguments).exit_code; }

  std::string main_, slow_;
};

TEST_F(CheckCommand, CrossesTheLimitOfTheExampleOfTheDefinition) {
  const Outcome outcome = Run("check --json " + slow_ + " --baseline " + main_ + " --max-increase step_p50_ns=5%");
  EXPECT_EQ(outcome.exit_code, kExitCrossed) << outcome.error;
  EXPECT_EQ(outcome.out,
            "{\"schema\":\"opscope.check/1\",\"passed\":false,\"rows\":[\n"
            "{\"metric\":\"step_p50_ns\",\"name\":null,\"limit_kind\":\"max_increase\",\"value\":1060000,"
            "\"baseline\":1000000,\"limit\":1050000,\"passed\":false,\"message\":\"step_p50_ns is 1060000, more than "
            "1050000 (baseline 1000000 + 5%)\"}\n"
            "],\"problems\":[],\"quality\":{\"verdict\":\"good\",\"reasons\":[]}}\n");
  EXPECT_EQ(Code("--baseline " + main_ + " --max-increase step_p50_ns=6%"), kExitDone)
      << "an equal value does not cross";
  EXPECT_EQ(Code("--baseline " + main_ + " --max-increase step_p50_ns=60000"), kExitDone);
  EXPECT_EQ(Code("--baseline " + main_ + " --max-increase step_p50_ns=59999"), kExitCrossed);
  EXPECT_EQ(Code("--baseline " + main_ + " --max-decrease step_p50_ns=-5%"), kExitDone);
}

TEST_F(CheckCommand, HasARowForEachLimitInTheOrderOfTheCommandLine) {
  const std::string rules = Quoted(Put("rules.toml", "[[rule]]\nmetric = 'spans'\nmin = 1\nmax = 9\n"));
  const Outcome outcome = Run("check --csv --max problems=0 " + slow_ + " --min op_count:aten::mm=3 --rules " + rules +
                              " --max op_self_ns:aten::mm=29999.5 --min step_max_ns=1");
  EXPECT_EQ(outcome.exit_code, kExitCrossed);
  EXPECT_EQ(outcome.out,
            "metric,name,limit_kind,value,baseline,limit,passed,message\r\n"
            "problems,,max,0,,0,true,\"problems is 0, at most 0\"\r\n"
            "op_count,aten::mm,min,3,,3,true,\"op_count of aten::mm is 3, at least 3\"\r\n"
            "spans,,min,6,,1,true,\"spans is 6, at least 1\"\r\n"
            "spans,,max,6,,9,true,\"spans is 6, at most 9\"\r\n"
            "op_self_ns,aten::mm,max,30000,,29999.5,false,\"op_self_ns of aten::mm is 30000, more than 29999.5\"\r\n"
            "step_max_ns,,min,1060000,,1,true,\"step_max_ns is 1060000, at least 1\"\r\n");
}

TEST_F(CheckCommand, ReadsRulesAndTheirBaselineBesideThem) {
  fs::create_directory(folder_ / "ci");
  const std::string rules = Quoted(Put("ci/rules.toml", R"(baseline = "../main.json"  # of main
[[rule]]
metric = "step_mean_ns"
max_increase = "5%"
max_decrease = 100
[[rule]]
metric = "op_total_ns"
name = 'aten::mm'
max = 2_000_000
)"));
  EXPECT_EQ(Code("--rules " + rules), kExitCrossed);
  EXPECT_EQ(Code("--rules " + rules + " --baseline " + slow_), kExitDone) << "the option takes precedence";
  EXPECT_EQ(Run("check " + main_ + " --rules " + rules).out,
            "Metric        Name      Kind            Value  Baseline    Limit  Passed\n"
            "step_mean_ns  -         max_increase  1000000   1000000  1050000     yes\n"
            "step_mean_ns  -         max_decrease  1000000   1000000   999900     yes\n"
            "op_total_ns   aten::mm  max             30000         -  2000000     yes\n");
}

TEST_F(CheckCommand, ReadsTheExampleOfTheDocuments) {
  const std::string rules = Quoted((fs::path(OPSCOPE_SOURCE_DIR) / "examples/limits.toml").string());
  const Outcome outcome = Run("check --csv " + slow_ + " --baseline " + main_ + " --rules " + rules);
  EXPECT_EQ(outcome.exit_code, kExitDone) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("\r\nop_self_ns,aten::mm,max_increase,30000,30000,31500,true,"));
  EXPECT_THAT(outcome.out, HasSubstr("\r\nop_count,aten::item,max,0,,0,true,"));
}

TEST_F(CheckCommand, CrossesALimitOfWhatTheTraceDoesNotHave) {
  const std::string none = Quoted(Put("none.json", R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":1}])"));
  for (const char* limit : {"--max step_p99_ns=9", "--min device_busy_share=0", "--max device_idle_ns=9",
                            "--max exposed_communication_ns=9", "--max peak_memory_bytes=9"}) {
    const Outcome outcome = Run("check --json " + none + " " + limit);
    EXPECT_EQ(outcome.exit_code, kExitCrossed) << limit;
    EXPECT_THAT(outcome.out, HasSubstr("\"value\":null"));
    EXPECT_THAT(outcome.out, HasSubstr("is unknown: the trace does not have it"));
  }
  EXPECT_EQ(Run("check " + none + " --max op_self_ns:gone=0 --max problems=0 --max spans=1").exit_code, kExitDone);
  const Outcome baseline = Run("check --json " + slow_ + " --baseline " + none + " --max-increase step_p50_ns=5%");
  EXPECT_EQ(baseline.exit_code, kExitCrossed);
  EXPECT_THAT(baseline.out, HasSubstr("\"value\":1060000,\"baseline\":null,\"limit\":null,\"passed\":false"));
}

TEST_F(CheckCommand, EndsWithTheExitCodeOfTheInput) {
  const std::string cut = Quoted(Put("cut.json", StepsText({1060, 1060, 1060}).substr(0, 250)));
  EXPECT_EQ(Run("check " + cut + " --max spans=9").exit_code, kExitPartial);
  EXPECT_EQ(Run("check " + cut + " --max spans=0").exit_code, kExitCrossed);
  EXPECT_EQ(Run("check " + cut + " --max problems=0").exit_code, kExitCrossed);
  EXPECT_EQ(Run("check no-such-file --max spans=0").exit_code, kExitFailed);
  EXPECT_EQ(Code("--baseline no-such-file --max spans=9"), kExitFailed);
  EXPECT_EQ(Code("--rules no-such-file"), kExitFailed);
}

TEST_F(CheckCommand, RefusesWrongLimits) {
  for (const char* rules :
       {"= 3", "[[rule]]\nmetric = 'spans'", "[[rule]]\nmax = 3", "[[rule]]\nmetric = 3\nmax = 3",
        "[[rule]]\nmetric = 'planets'\nmax = 3", "[[rule]]\nmetric = 'spans'\nmost = 3",
        "[[rule]]\nmetric = 'spans'\nmax = '3'", "[[rule]]\nmetric = 'spans'\nmax = '5%'",
        "[[rule]]\nmetric = 'spans'\nmax = nan", "[[rule]]\nmetric = 'spans'\nmax = true",
        "[[rule]]\nmetric = 'spans'\nname = 'a'\nmax = 3", "[[rule]]\nmetric = 'op_count'\nmax = 3",
        "[[rule]]\nmetric = 'spans'\nmax_increase = '5%'", "rule = 3", "rule = [3]", "",
        "basline = 'x'\n[[rule]]\nmetric = 'spans'\nmax = 3", "baseline = 3\n[[rule]]\nmetric = 'spans'\nmax = 3"}) {
    const Outcome outcome = Run("check " + slow_ + " --rules " + Quoted(Put("wrong.toml", rules)));
    EXPECT_EQ(outcome.exit_code, kExitUsage) << rules;
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(IsOneLine(outcome.error)) << outcome.error;
  }
  for (const char* arguments : {"", "--max spans", "--max spans=", "--max spans=x", "--max spans=5%", "--max =3",
                                "--max spans:a=3", "--max op_count=3", "--max op_count:=3", "--max planets=3",
                                "--max-increase spans=5%", "--min spans=inf", "--max spans=1e999"}) {
    EXPECT_EQ(Code(arguments), kExitUsage) << arguments;
  }
  EXPECT_EQ(Code("--max spans=9 --junit " + slow_), kExitUsage) << "it would overwrite an input";
}

TEST_F(CheckCommand, WritesJUnit) {
  const std::string odd =
      Quoted(Put("odd.json", R"([{"ph":"X","name":"a<\"&\u0001>","pid":1,"tid":1,"ts":0,"dur":1}])"));
  const std::string limits = " --max spans=1 --max 'op_count:a<\"&\x01>=0'";
  const Outcome outcome = Run("check " + odd + limits + " --junit " + Quoted(Path("out.xml")));
  EXPECT_EQ(outcome.exit_code, kExitCrossed);
  EXPECT_THAT(outcome.out, HasSubstr("Crossed: op_count of a"));
  EXPECT_EQ(ReadText(Path("out.xml")),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"opscope check\" tests=\"2\" failures=\"1\">\n"
            "  <testcase classname=\"opscope.check\" name=\"spans max\"/>\n"
            "  <testcase classname=\"opscope.check\" name=\"op_count:a&lt;&quot;&amp;\xef\xbf\xbd&gt; max\">\n"
            "    <failure message=\"op_count of a&lt;&quot;&amp;\xef\xbf\xbd&gt; is 1, more than 0\"/>\n"
            "  </testcase>\n"
            "</testsuite>\n");
  EXPECT_EQ(Run("check " + odd + limits + " --junit -").out, ReadText(Path("out.xml")));
  EXPECT_EQ(Code("--max spans=9 --junit /no/such/folder/x.xml"), kExitFailed);
}

TEST_F(CheckCommand, TakesSeveralFilesForOneJob) {
  EXPECT_EQ(Run("check " + main_ + " " + slow_ + " --min spans=12 --max spans=12").exit_code, kExitDone);
}

TEST_F(CheckCommand, AnalysesOfSeveralFilesAreThoseOfTheMergedFile) {
  const std::string merged = Quoted(Path("job.opscope"));
  ASSERT_EQ(Run("merge " + main_ + " " + slow_ + " -o " + merged).exit_code, kExitDone);
  for (const char* verb : {"steps", "devices", "memory", "critical-path", "advise", "roofline"}) {
    const Outcome files = Run(std::string(verb) + " --json " + main_ + " " + slow_);
    const Outcome job = Run(std::string(verb) + " --json " + merged);
    EXPECT_EQ(files.exit_code, job.exit_code) << verb << files.error;
    EXPECT_EQ(files.out, job.out) << verb;
    EXPECT_TRUE(files.out.starts_with("{")) << files.out;
  }
  EXPECT_TRUE(Run("summary --json " + main_ + " " + slow_).out.starts_with("[")) << "each file has its own";
}

TEST(CheckRules, TakeNamesWithColonsAndEqualSigns) {
  const Result<CheckLimit> limit = ParseLimit(LimitKind::kMaxIncrease, "op_self_ns:a::b=c=-2.5%");
  ASSERT_TRUE(limit.ok());
  EXPECT_EQ(limit.value().name, "a::b=c");
  EXPECT_EQ(limit.value().number, -2.5);
  EXPECT_TRUE(limit.value().is_percent);
}

}  // namespace
}  // namespace opscope
