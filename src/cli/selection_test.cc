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

TEST_F(Selection, SaysWhichStepsThereAreWhereNoneMatches) {
  const std::string file = Quoted(Put("a.json", kThreeSteps));
  for (const char* verb :
       {"summary", "summary --style torch", "flame", "modules", "info", "export --to csv -o x.csv"}) {
    const Outcome outcome = Run(std::string(verb) + " --steps 7..9 " + file);
    EXPECT_EQ(outcome.exit_code, 0) << verb;
    EXPECT_NE(outcome.error.find("none of its spans is chosen by --where, --steps and --time; its steps are 0..2\n"),
              std::string::npos)
        << verb << outcome.error;
    EXPECT_TRUE(IsOneLine(outcome.error)) << verb << outcome.error;
  }
}

TEST_F(Selection, FindsAllStepsByTheNameThatTheTableShows) {
  const std::string file = Quoted(Put("a.json", kThreeSteps));
  const std::string steps = Run("summary --csv --where \"name = 'ProfilerStep*'\" " + file).out;
  EXPECT_EQ(std::count(steps.begin(), steps.end(), '\n'), 4) << steps;
  EXPECT_NE(steps.find("ProfilerStep#2,1,100000,"), std::string::npos) << steps;
  EXPECT_NE(Run("summary --where \"name = 'ProfilerStep*'\" " + file).out.find("\nProfilerStep*      3 "),
            std::string::npos);
  const std::string others = Run("summary --csv --where \"name != 'ProfilerStep*'\" " + file).out;
  EXPECT_EQ(std::count(others.begin(), others.end(), '\n'), 3) << others;
  EXPECT_EQ(Run("flame --metric count " + file).out,
            "ProfilerStep* 3\nProfilerStep*;aten::mm 3\nProfilerStep*;aten::add 1\n");
  EXPECT_EQ(Run("flame --metric count --steps 1 " + file).out,
            "ProfilerStep* 1\nProfilerStep*;aten::mm 1\nProfilerStep*;aten::add 1\n");
}

constexpr const char kWorkers[] = R"json({"traceEvents":[
{"ph":"M","name":"process_name","pid":5,"tid":0,"args":{"name":"python"}},
{"ph":"M","name":"thread_name","pid":5,"tid":11,"args":{"name":"worker"}},
{"ph":"M","name":"thread_name","pid":5,"tid":12,"args":{"name":"worker"}},
{"ph":"M","name":"thread_name","pid":5,"tid":13,"args":{"name":"main"}},
{"ph":"X","name":"load","cat":"cpu_op","pid":5,"tid":11,"ts":0,"dur":10},
{"ph":"X","name":"load","cat":"cpu_op","pid":5,"tid":12,"ts":0,"dur":20},
{"ph":"X","name":"ProfilerStep#4","cat":"user_annotation","pid":5,"tid":13,"ts":5,"dur":20},
{"ph":"X","name":"PyTorch Profiler (0)","cat":"Trace","pid":"Spans","tid":"PyTorch Profiler","ts":0,"dur":90}]})json";

TEST_F(Selection, ListsTheThreadsAndStepsThatItCanChoose) {
  Put("w.json", kWorkers);
  EXPECT_EQ(Run("info --list-threads w.json --csv --where 'category = cpu_op'").out,
            "name,tid,process,pid,rank,kind,device,spans,start_ns,end_ns\r\n"
            "worker (11),11,python,5,,thread,,1,0,10000\r\n"
            "worker (12),12,python,5,,thread,,1,0,20000\r\n");
  EXPECT_EQ(Run("info --list-steps w.json --csv").out,
            "step,name,rank,spans,start_ns,duration_ns\r\n4,ProfilerStep#4,,1,5000,20000\r\n");
  const std::string threads = Run("info --list-threads w.json").out;
  EXPECT_NE(threads.find("\nworker (12)       12                python   5      thread      1      0 ns  20.000 us\n"),
            std::string::npos)
      << threads;
  const std::string steps = Run("info --list-steps w.json").out;
  EXPECT_NE(steps.find("\n   4  ProfilerStep#4      1  5.000 us  20.000 us\n"), std::string::npos) << steps;
  simdjson::dom::parser parser;
  const Outcome json = Run("info --json --list-threads --list-steps w.json");
  const simdjson::dom::object object = parser.parse(json.out);
  EXPECT_EQ(std::string_view(object["schema"]), "opscope.info/1");
  EXPECT_EQ(simdjson::dom::array(object["thread_list"]).size(), 4u);
  EXPECT_EQ(int64_t(simdjson::dom::array(object["step_list"]).at(0)["step"]), 4);
  EXPECT_EQ(uint64_t(object["steps"]), 1u) << "the facts stay as they are";
  EXPECT_EQ(Run("info --csv --list-threads --list-steps w.json").exit_code, 2);
  Put("none.json", R"([{"ph":"X","name":"a","cat":"cpu_op","pid":1,"tid":1,"ts":0,"dur":1}])");
  const Outcome none = Run("info --list-steps none.json");
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(none.error, "opscope: none.json: it has no steps\n");
}

TEST_F(Selection, TellsThreadsOfOneNameApart) {
  Put("w.json", kWorkers);
  const std::string rows = Run("summary w.json --csv --group-by thread").out;
  EXPECT_NE(rows.find("\nworker (11),1,10000,"), std::string::npos) << rows;
  EXPECT_NE(rows.find("\nworker (12),1,20000,"), std::string::npos) << rows;
  EXPECT_NE(rows.find("\nmain,1,20000,"), std::string::npos) << rows;
  EXPECT_EQ(Run("flame w.json").out, "worker (11);load 10000\nworker (12);load 20000\nmain;ProfilerStep* 20000\n");
  EXPECT_EQ(Run("flame w.json --where \"thread = 'worker (12)'\"").out, "worker (12);load 20000\n");
}

TEST_F(Selection, LeavesTheRecordingsOwnSpanOutOfTablesAlone) {
  Put("w.json", kWorkers);
  const std::string window = "PyTorch Profiler (0)";
  EXPECT_EQ(Run("summary w.json").out.find(window), std::string::npos);
  EXPECT_EQ(Run("summary w.json --group-by kind").out.find("other"), std::string::npos);
  EXPECT_NE(Run("summary w.json --all").out.find(window), std::string::npos);
  EXPECT_NE(Run("summary w.json --json").out.find(window), std::string::npos);
  EXPECT_NE(Run("summary w.json --csv").out.find(window), std::string::npos);
  const Outcome alone = Run("summary w.json --where 'category = Trace'");
  EXPECT_EQ(alone.out, "");
  EXPECT_EQ(alone.error, "opscope: w.json: there is only the recording's own span, which --all shows\n");
  Put("own.json", R"json([{"ph":"X","name":"PyTorch Profiler (0)","cat":"Trace","pid":1,"tid":1,"ts":0,"dur":1}])json");
  EXPECT_NE(Run("summary own.json").out.find(window), std::string::npos) << "a span of a thread";
}

TEST_F(Selection, SaysWhatToRecordForKeysThatNoSpanHas) {
  Put("w.json", kWorkers);
  const Outcome stack = Run("summary w.json --group-by stack");
  EXPECT_EQ(stack.exit_code, 0);
  EXPECT_EQ(stack.error, "opscope: w.json: no call stacks were recorded; that takes with_stack=True (torch)\n");
  EXPECT_EQ(Run("summary w.json --group-by rank").error, "opscope: w.json: it does not say which rank it is of\n");
  EXPECT_EQ(Run("summary w.json --group-by name,step,process").error, "");
}

TEST_F(Selection, GroupsByTheCallsOfPythonThatWereRecorded) {
  Put("calls.json", R"([
{"ph":"X","name":"t.py(3): main","cat":"python_function","pid":1,"tid":1,"ts":0,"dur":100},
{"ph":"X","name":"nn.Module: Net_0","cat":"python_function","pid":1,"tid":1,"ts":10,"dur":50},
{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":1,"tid":1,"ts":20,"dur":30},
{"ph":"X","name":"aten::add","cat":"cpu_op","pid":1,"tid":1,"ts":70,"dur":10},
{"ph":"X","name":"aten::add","cat":"cpu_op","pid":1,"tid":1,"ts":110,"dur":5}])");
  const Outcome stacks = Run("summary calls.json --csv --group-by stack");
  EXPECT_EQ(stacks.error, "");
  for (const char* row :
       {"\nt.py(3): main,2,100000,50000,", "\nt.py(3): main;nn.Module: Net_0,2,50000,50000,", "\n,1,5000,5000,"})
    EXPECT_NE(stacks.out.find(row), std::string::npos) << stacks.out;
  EXPECT_NE(Run("summary calls.json --csv --group-by name,stack").out.find("\naten::add,t.py(3): main,1,10000,"),
            std::string::npos);
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
        std::pair("--steps two", "opscope: summary: --steps: 'two' is not a range; 3, 3..7, 3.. or ..7, from 0 on\n"),
        std::pair("--steps ..", "opscope: summary: --steps: '..' is not a range; 3, 3..7, 3.. or ..7, from 0 on\n"),
        std::pair("--steps ''", "opscope: summary: --steps: '' is not a range; 3, 3..7, 3.. or ..7, from 0 on\n"),
        std::pair("--steps=-2..3",
                  "opscope: summary: --steps: '-2..3' is not a range; 3, 3..7, 3.. or ..7, from 0 on\n"),
        std::pair("--steps 7..3",
                  "opscope: summary: --steps: '7..3' ends before it begins; 3, 3..7, 3.. or ..7, from 0 on\n"),
        std::pair("--time ''", "opscope: summary: --time: '' is not a range; 10ms..20ms, 1s.. or ..5us\n"),
        std::pair("--time 2ms..1ms",
                  "opscope: summary: --time: '2ms..1ms' ends before it begins; 10ms..20ms, 1s.. or ..5us\n"),
        std::pair("--time 10..20",
                  "opscope: summary: --time: '10..20' lacks a unit: ns, us, ms or s; 10ms..20ms, 1s.. or ..5us\n"),
        std::pair("--time 10us..20",
                  "opscope: summary: --time: '10us..20' lacks a unit: ns, us, ms or s; 10ms..20ms, 1s.. or ..5us\n"),
        std::pair("--time 10..",
                  "opscope: summary: --time: '10..' lacks a unit: ns, us, ms or s; 10ms..20ms, 1s.. or ..5us\n"),
        std::pair("--time 5us", "opscope: summary: --time: '5us' is not a range; 10ms..20ms, 1s.. or ..5us\n")}) {
    const Outcome outcome = Run("summary " + std::string(options) + " " + file);
    EXPECT_EQ(outcome.exit_code, 2) << options;
    EXPECT_EQ(outcome.out, "") << options;
    EXPECT_EQ(outcome.error, error);
  }
}

}  // namespace
}  // namespace opscope
