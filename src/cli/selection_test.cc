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

TEST_F(Selection, SaysWhatItCannotRead) {
  const std::string file = Quoted(Put("a.json", kThreeSteps));
  for (const auto& [options, error] :
       {std::pair("--where 'price = 3'",
                  "opscope: summary: --where: at character 1: no field 'price'; choose from name, "
                  "category, overload, thread, process, duration, start, depth, sequence, step, "
                  "rank, device, correlation\n"),
        std::pair("--where 'rank = 1) or (rank = 2'",
                  "opscope: summary: --where: at character 9: 'and' or 'or' is missing\n"),
        std::pair("--steps two", "opscope: summary: --steps: 'two' is no range; 3, 3..7, 3.. or ..7\n"),
        std::pair("--steps ..", "opscope: summary: --steps: '..' is no range; 3, 3..7, 3.. or ..7\n"),
        std::pair("--time 5us", "opscope: summary: --time: '5us' is no range; 10ms..20ms, 1s.. or ..5us\n"),
        std::pair("--style torch --steps 1",
                  "opscope: summary: --style torch shows every event; --where, --steps and "
                  "--time are of the plain style\n")}) {
    const Outcome outcome = Run("summary " + std::string(options) + " " + file);
    EXPECT_EQ(outcome.exit_code, 2) << options;
    EXPECT_EQ(outcome.out, "") << options;
    EXPECT_EQ(outcome.error, error);
  }
}

}  // namespace
}  // namespace opscope
