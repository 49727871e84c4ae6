// The verbs that print rows: the same answer in three forms, sorted, limited, and of chosen spans.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <simdjson.h>

#include <regex>
#include <string>
#include <utility>

#include "cli/program_for_test.h"

namespace opscope {
namespace {

constexpr const char kTwoStreams[] = R"([
{"ph":"X","name":"ProfilerStep#1","cat":"user_annotation","pid":1,"tid":1,"ts":0,"dur":100},
{"ph":"X","name":"ProfilerStep#2","cat":"user_annotation","pid":1,"tid":1,"ts":100,"dur":100},
{"ph":"X","name":"gemm","cat":"kernel","pid":0,"tid":7,"ts":10,"dur":40,"args":{"device":0,"stream":7}},
{"ph":"X","name":"gemm","cat":"kernel","pid":0,"tid":20,"ts":30,"dur":40,"args":{"device":0,"stream":20}},
{"ph":"X","name":"Memcpy HtoD","cat":"gpu_memcpy","pid":0,"tid":20,"ts":150,"dur":10,"args":{"device":0,"stream":20}}])";

constexpr const char kModules[] = R"([
{"ph":"X","name":"nn.Module: Net_0","cat":"python_function","pid":1,"tid":1,"ts":0,"dur":100},
{"ph":"X","name":"nn.Module: Linear_0","cat":"python_function","pid":1,"tid":1,"ts":0,"dur":20},
{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":1,"tid":1,"ts":5,"dur":10},
{"ph":"X","name":"nn.Module: Linear_1","cat":"python_function","pid":1,"tid":1,"ts":50,"dur":50},
{"ph":"X","name":"aten::add","cat":"cpu_op","pid":1,"tid":1,"ts":60,"dur":30}])";

TEST_F(Cli, DevicesTellsTheBusyTimeOfEachStream) {
  Put("gpu.json", kTwoStreams);
  EXPECT_EQ(Run("devices gpu.json").out,
            "Device  Stream  Spans       Busy  Busy %        Idle  Longest idle    Kernels     Copies  Sets\n"
            "     0  all         3  70.000 us   46.7%   80.000 us     80.000 us  60.000 us  10.000 us  0 ns\n"
            "     0  7           1  40.000 us   26.7%  110.000 us    110.000 us  40.000 us       0 ns  0 ns\n"
            "     0  20          2  50.000 us   33.3%  100.000 us     80.000 us  40.000 us  10.000 us  0 ns\n");
  simdjson::dom::parser parser;
  const simdjson::padded_string json(Run("devices --json --limit 1 gpu.json").out);
  const simdjson::dom::element devices = parser.parse(json);
  EXPECT_EQ(std::string_view(devices["schema"]), "opscope.devices/1");
  const simdjson::dom::array rows = devices["rows"];
  ASSERT_EQ(rows.size(), 1u);
  for (const auto& [key, ns] : {std::pair("busy_ns", 70000), std::pair("idle_ns", 80000), std::pair("copy_ns", 10000)})
    EXPECT_EQ(int64_t(rows.at(0)[key]), ns) << key;
  EXPECT_EQ(devices["problems"].get_array().error(), simdjson::SUCCESS);
}

TEST_F(Cli, DevicesTellsWhyTheyWereIdleAndHowFarThatCanBeTrusted) {
  Put("gpu.json", R"([
{"ph":"X","name":"cudaLaunchKernel","cat":"cuda_runtime","pid":1,"tid":1,"ts":0,"dur":2,"args":{"correlation":5}},
{"ph":"X","name":"gemm","cat":"kernel","pid":0,"tid":7,"ts":10,"dur":40,"args":{"device":0,"stream":7,"correlation":5}},
{"ph":"X","name":"cudaLaunchKernel","cat":"cuda_runtime","pid":1,"tid":1,"ts":20,"dur":2,"args":{"correlation":6}},
{"ph":"X","name":"add","cat":"kernel","pid":0,"tid":7,"ts":60,"dur":10,"args":{"device":0,"stream":7,"correlation":6}}])");
  simdjson::dom::parser parser;
  const auto number = [&](const std::string& command, const char* key) {
    const simdjson::padded_string json(Run(command).out);
    return int64_t(parser.parse(json)["rows"].at(0)[key]);
  };
  EXPECT_EQ(number("devices --json gpu.json", "kernel_wait_ns"), 10000);
  EXPECT_EQ(number("devices --json --kernel-gap 10us gpu.json", "other_wait_ns"), 10000);
  EXPECT_EQ(number("devices --json gpu.json", "launch_delay_max_ns"), 38000);
  EXPECT_EQ(Run("devices --kernel-gap soon gpu.json").exit_code, 2);
  const simdjson::padded_string json(Run("devices --json gpu.json").out);
  EXPECT_EQ(std::string_view(parser.parse(json)["quality"]["verdict"]), "good");
  Put("early.json", R"([
{"ph":"X","name":"cudaLaunchKernel","cat":"cuda_runtime","pid":1,"tid":1,"ts":9,"dur":2,"args":{"correlation":5}},
{"ph":"X","name":"gemm","cat":"kernel","pid":0,"tid":7,"ts":5,"dur":40,"args":{"device":0,"stream":7,"correlation":5}}])");
  const simdjson::padded_string early(Run("devices --json early.json").out);
  const simdjson::dom::element quality = parser.parse(early)["quality"];
  EXPECT_EQ(std::string_view(quality["verdict"]), "doubtful");
  EXPECT_EQ(std::string_view(quality["reasons"].at(0)),
            "1 of 1 kernels, copies and sets begin before the call that launched them");
}

TEST_F(Cli, DevicesTellsOfKernelsAndCopies) {
  Put("gpu.json", R"json([
{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":1,"tid":1,"ts":0,"dur":9},
{"ph":"X","name":"cudaLaunchKernel","cat":"cuda_runtime","pid":1,"tid":1,"ts":2,"dur":2,"args":{"correlation":5}},
{"ph":"X","name":"s16816gemm","cat":"kernel","pid":0,"tid":7,"ts":10,"dur":30,"args":{"device":0,"stream":7,
 "correlation":5,"grid":[4,2,1],"block":[128,1,1],"est. achieved occupancy %":25}},
{"ph":"X","name":"add","cat":"kernel","pid":0,"tid":7,"ts":60,"dur":10,"args":{"device":0,"stream":7}},
{"ph":"X","name":"cudaMemcpy","cat":"cuda_runtime","pid":1,"tid":1,"ts":20,"dur":2,"args":{"correlation":6}},
{"ph":"X","name":"Memcpy HtoD (Pageable -> Device)","cat":"gpu_memcpy","pid":0,"tid":9,"ts":65,"dur":10,
 "args":{"device":0,"stream":9,"correlation":6,"bytes":20480}}])json");
  EXPECT_EQ(
      Run("devices --kernels gpu.json").out,
      "Kernel      Device  Count      Total  Share       Mean  Tensor cores  Grid   Block    Occupancy  Operator\n"
      "s16816gemm       0      1  30.000 us  75.0%  30.000 us  used          4x2x1  128x1x1      25.0%  aten::mm\n"
      "add              0      1  10.000 us  25.0%  10.000 us                                        -\n");
  EXPECT_EQ(Run("devices --copies gpu.json").out,
            "Device  Kind  From      To      Count      Bytes      Total   Exposed  Per second  Small  Synchronous\n"
            "     0  HtoD  Pageable  Device      1  20.00 KiB  10.000 us  5.000 us    1.91 GiB      1            1\n");
  EXPECT_EQ(Run("devices --copies --csv --small-copy 16K gpu.json").out,
            "rank,device,kind,source,target,count,bytes,total_ns,exposed_ns,bytes_per_second,small,small_ns,launched,"
            "synchronous,synchronous_ns\r\n"
            "-1,0,HtoD,Pageable,Device,1,20480,10000,5000,2048000000,0,0,1,1,10000\r\n");
  simdjson::dom::parser parser;
  const simdjson::padded_string text(Run("devices --json --kernels --sort mean_ns --limit 1 gpu.json").out);
  const simdjson::dom::element json = parser.parse(text);
  EXPECT_EQ(int64_t(json["rows"].at(0)["tensor_core_ns"]), 30000);
  EXPECT_EQ(json["kernels"].get_array().value().size(), 1u);
  EXPECT_EQ(std::string_view(json["kernels"].at(0)["name"]), "s16816gemm");
  EXPECT_EQ(int64_t(json["copies"].at(0)["bytes"]), 20480);
  EXPECT_EQ(Run("devices --kernels --copies gpu.json").exit_code, 2);
  EXPECT_EQ(Run("devices --copies --sort share gpu.json").exit_code, 2);
  EXPECT_EQ(Run("devices --copies --where 'kind = kernel' gpu.json").error,
            "opscope: gpu.json: there are no copies of a device\n"
            "opscope: gpu.json: usable: 1 of 3 kernels, copies and sets have no call that launched them\n");
}

TEST_F(Cli, DevicesTellsTheBusyTimeOfPaddlesStreams) {
  Put("paddle.json", R"json({"schemaVersion":"1.0.2","traceEvents":[
{"ph":"M","name":"process_name","pid":0,"args":{"name":"Deivce 0 (GPU)"}},
{"ph":"X","name":"gemm[30.000 us]","cat":"Kernel","pid":0,"tid":7,"ts":10,"dur":30,"args":{}},
{"ph":"X","name":"MEMCPY_HtoD[10.000 us]","cat":"Memcpy","pid":0,"tid":7,"ts":50,"dur":10,"args":{}},
{"ph":"X","name":"MEMSET[5.000 us]","cat":"Memset","pid":0,"tid":7,"ts":60,"dur":5,"args":{}}]})json");
  simdjson::dom::parser parser;
  const simdjson::padded_string json(Run("devices --json --limit 1 paddle.json").out);
  const simdjson::dom::array rows = parser.parse(json)["rows"];
  ASSERT_EQ(rows.size(), 1u);
  const std::pair<const char*, int64_t> times[] = {{"kernel_ns", 30000}, {"copy_ns", 10000}, {"set_ns", 5000}};
  for (const auto& [key, ns] : times)
    EXPECT_EQ(int64_t(rows.at(0)[key]), ns) << key;
}

TEST_F(Cli, ANameOnHostAndDeviceHasTwoRowsInEveryForm) {
  Put("both.json", R"([
{"ph":"X","name":"forward","cat":"user_annotation","pid":1,"tid":1,"ts":0,"dur":100},
{"ph":"X","name":"forward","cat":"gpu_user_annotation","pid":0,"tid":7,"ts":0,"dur":900,"args":{"device":0,"stream":7}},
{"ph":"X","name":"gemm","cat":"kernel","pid":0,"tid":7,"ts":10,"dur":40,"args":{"device":0,"stream":7}}])");
  const std::string table = Run("summary both.json --csv").out;
  EXPECT_NE(table.find("\r\nforward,1,100000,100000,1,"), std::string::npos) << table;
  EXPECT_NE(table.find("\r\nforward,1,900000,900000,0,"), std::string::npos) << table << "shares are of threads";
  EXPECT_NE(table.find("\r\ngemm,1,40000,40000,0,"), std::string::npos) << table;
  EXPECT_NE(table.find(",host\r\n"), std::string::npos) << table;
  EXPECT_NE(table.find(",device\r\n"), std::string::npos) << table;
  const std::string json = Run("summary both.json --json --group-by category").out;
  EXPECT_NE(json.find("\"on\":\"host\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"on\":\"device\""), std::string::npos) << json;
  const std::string shown = Run("summary both.json").out;
  EXPECT_NE(shown.find("\nforward  host "), std::string::npos) << shown;
  EXPECT_NE(shown.find("\nforward  device "), std::string::npos) << shown;
  EXPECT_EQ(Run("summary both.json --where 'category = kernel'").out.find(" On "), std::string::npos);
}

TEST_F(Cli, DevicesWithoutWorkSaysSo) {
  Put("none.json", "[]");
  const Outcome outcome = Run("devices none.json");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.error, "opscope: none.json: there are no spans in it\n");
}

TEST_F(Cli, AnAnswerWithoutRowsSaysWhyInOneSentence) {
  Put("net.json", kModules);
  Put("none.json", "[]");
  Put("bare.json", R"([{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":1,"tid":1,"ts":0,"dur":2}])");
  const std::string chosen = "none of its spans is chosen by --where, --steps and --time";
  const std::pair<std::string, std::string> cases[] = {
      {"summary none.json", "none.json: there are no spans in it"},
      {"summary --style torch none.json", "none.json: there are no spans in it"},
      {"modules none.json", "none.json: there are no spans in it"},
      {"flame none.json", "none.json: there are no spans in it"},
      {"summary net.json --steps 7", "net.json: " + chosen + "; it has no steps"},
      {"summary --style torch net.json --steps 7", "net.json: " + chosen + "; it has no steps"},
      {"devices net.json --where 'name = x'", "net.json: " + chosen},
      {"devices net.json", "net.json: there are no kernels, copies or sets of a device"},
      {"modules bare.json",
       "bare.json: no modules were recorded; that takes with_modules=True or with_stack=True (torch) or "
       "with_scopes=True (MegEngine)"},
      {"flame net.json --metric memory",
       "net.json: no memory of its spans was recorded; that takes profile_memory=True (torch, Paddle)"},
  };
  for (const auto& [arguments, sentence] : cases) {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(outcome.error, "opscope: " + sentence + "\n") << arguments;
    EXPECT_EQ(Run(arguments + " -q").error, "") << arguments;
  }
  EXPECT_NE(Run("summary --json none.json").out.find("\"rows\":["), std::string::npos);
}

TEST_F(Cli, EveryVerbWithRowsChoosesSpansByCondition) {
  Put("gpu.json", kTwoStreams);
  Put("net.json", kModules);
  EXPECT_EQ(Run("devices gpu.json --csv --where 'name = gemm and duration > 1us' --time 0us..25us").out,
            "rank,device,stream,spans,busy_ns,busy_share,idle_ns,longest_idle_ns,kernel_ns,copy_ns,set_ns,window_ns,"
            "compute_ns,communication_ns,overlap_ns,exposed_communication_ns,exposed_copy_ns,"
            "host_wait_ns,kernel_wait_ns,other_wait_ns,outside_ns,launched,launch_delay_mean_ns,launch_delay_p50_ns,"
            "launch_delay_p99_ns,launch_delay_max_ns,shorter_than_launch,queue_max,queue_mean,"
            "tensor_core_ns,tensor_core_eligible_ns\r\n"
            "-1,0,all,1,40000,1,0,0,40000,0,0,40000,40000,0,0,0,0,0,0,0,0,0,,,,,0,0,0,0,0\r\n"
            "-1,0,7,1,40000,1,0,0,40000,0,0,40000,40000,0,0,0,0,0,0,0,0,0,,,,,0,0,0,0,0\r\n");
  EXPECT_EQ(Run("flame net.json --where 'category = cpu_op'").out,
            "nn.Module: Net_0;nn.Module: Linear_0;aten::mm 10000\n"
            "nn.Module: Net_0;nn.Module: Linear_1;aten::add 30000\n");
  const std::string modules = Run("modules net.json --csv --where 'name = aten::add' --sort forward_self").out;
  EXPECT_NE(modules.find("\r\nNet_0.Linear_1,2,0,1,1,30000,30000,"), std::string::npos) << modules;
  EXPECT_NE(modules.find("\r\nNet_0.Linear_0,2,0,0,0,0,0,"), std::string::npos) << modules;
  for (const char* verb : {"devices", "modules", "flame", "summary"}) {
    const Outcome outcome = Run(std::string(verb) + " net.json --where 'name ='");
    EXPECT_EQ(outcome.exit_code, 2) << verb;
    EXPECT_TRUE(outcome.error.starts_with("opscope: " + std::string(verb) + ": --where: ")) << outcome.error;
  }
}

TEST_F(Cli, ModulesAreIndentedInTheOrderOfTheProgramAndByPathWhenSorted) {
  Put("net.json", kModules);
  const std::string tree = Run("modules net.json").out;
  EXPECT_NE(tree.find("\n  Linear_1      1    1   50.000 us"), std::string::npos) << tree;
  EXPECT_LT(tree.find("\n  Linear_0 "), tree.find("\n  Linear_1 ")) << tree;
  const std::string sorted = Run("modules net.json --sort forward").out;
  EXPECT_LT(sorted.find("\nNet_0.Linear_1 "), sorted.find("\nNet_0.Linear_0 ")) << sorted;
  const Outcome wrong = Run("modules net.json --sort price");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(IsOneLine(wrong.error)) << wrong.error;
  EXPECT_NE(wrong.error.find("modules: --sort: cannot sort by 'price'"), std::string::npos) << wrong.error;
}

TEST_F(Cli, ModulesTellsWhatEachTookAndWhenThereAreNone) {
  Put("net.json", kModules);
  EXPECT_NE(Run("modules net.json --json").out.find("\"module\":\"Net_0.Linear_0\""), std::string::npos);
  EXPECT_NE(Run("summary net.json --group-by name,module --csv").out.find("Net_0.Linear_0"), std::string::npos);
  Put("none.json", R"([{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":1,"tid":1,"ts":5,"dur":10}])");
  const Outcome none = Run("modules none.json");
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_EQ(none.out, "");
  EXPECT_TRUE(IsOneLine(none.error)) << none.error;
}

TEST_F(Cli, InfoAsCsvHasALinePerFile) {
  Put("gpu.json", kTwoStreams);
  Put("net.json", kModules);
  const std::string text = Run("info --csv gpu.json net.json").out;
  EXPECT_TRUE(text.starts_with("file,format,format_version,compressed,processes,tracks,spans,")) << text;
  EXPECT_NE(text.find("\r\ngpu.json,chrome-json,,none,2,3,5,0,"), std::string::npos) << text;
  EXPECT_NE(text.find("\r\nnet.json,chrome-json,,none,1,1,5,0,"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

TEST_F(Cli, SeveralFilesHaveTheirNamesAsTitlesInTextOnly) {
  Put("net.json", kModules);
  for (const char* verb : {"info", "summary", "modules"}) {
    const std::string text = Run(std::string(verb) + " net.json net.json").out;
    EXPECT_TRUE(text.starts_with("net.json\n")) << text;
    EXPECT_NE(text.find("\n\nnet.json\n"), std::string::npos) << text;
    EXPECT_TRUE(Run(std::string(verb) + " --json net.json").out.starts_with("{\"schema\"")) << verb;
  }
}

TEST_F(Cli, SeveralFilesAsJsonAreOneArrayOfTheObjectsOfEach) {
  Put("net.json", kModules);
  Put("gpu.json", kTwoStreams);
  simdjson::dom::parser parser, alone;
  for (const std::string verb : {"info", "summary", "modules"}) {
    const Outcome outcome = Run(verb + " -q --json net.json missing.json gpu.json");
    EXPECT_EQ(outcome.exit_code, 1) << verb << ": one of them is missing";
    const simdjson::padded_string text(outcome.out);
    simdjson::dom::array writer;
    ASSERT_EQ(parser.parse(text).get(writer), simdjson::SUCCESS) << outcome.out;
    ASSERT_EQ(writer.size(), 2u) << verb;
    size_t next = 0;
    for (const std::string file : {"net.json", "gpu.json"}) {
      const simdjson::dom::element answer = writer.at(next++);
      EXPECT_EQ(std::string_view(answer["file"]), file);
      const std::string one = Run(verb + " -q --json " + file).out;
      std::string expected = simdjson::minify(alone.parse(one));
      expected.insert(1, "\"file\":\"" + file + "\",");
      EXPECT_EQ(simdjson::minify(answer), expected) << "the same but for the name";
    }
  }
  EXPECT_EQ(Run("summary -q --json missing.json none.json").out, "[]\n");
}

TEST_F(Cli, ControlCharactersAreShownEscapedInTablesOfBothStyles) {
  const std::string file =
      Quoted(Put("odd.json", R"([{"ph":"X","name":"a\u001b[2J\u202eb","cat":"cpu_op","pid":1,"tid":1,
      "ts":0,"dur":1}])"));
  for (const char* verb : {"summary ", "summary --style torch "}) {
    const std::string table = Run(verb + file).out;
    EXPECT_NE(table.find("a\\x1b[2J\\u202eb"), std::string::npos) << table;
    EXPECT_EQ(table.find('\x1b'), std::string::npos) << table;
  }
  EXPECT_NE(Run("summary --csv " + file).out.find("a\x1b[2J\u202eb"), std::string::npos) << "data are not changed";
}

TEST_F(Cli, CsvHoldsNoFormulas) {
  Put("=1.json", R"([{"ph":"X","name":"=cmd|' /C calc'!A0","cat":"cpu_op","pid":1,"tid":1,"ts":0,"dur":1}])");
  EXPECT_NE(Run("summary --csv ./=1.json").out.find("\r\n'=cmd|' /C calc'!A0,1,1000,"), std::string::npos);
  EXPECT_NE(Run("info --csv =1.json").out.find("\r\n'=1.json,"), std::string::npos);
}

TEST_F(Cli, StepsAreOneRowInTablesAndKeepTheirNamesInData) {
  Put("gpu.json", kTwoStreams);
  const std::string table = Run("summary gpu.json").out;
  EXPECT_NE(table.find("\nProfilerStep*  host        2  200.000 us"), std::string::npos) << table;
  EXPECT_EQ(table.find("ProfilerStep#"), std::string::npos) << table;
  for (const char* form : {"--csv", "--json"}) {
    const std::string data = Run(std::string("summary gpu.json ") + form).out;
    EXPECT_NE(data.find("ProfilerStep#1"), std::string::npos) << data;
    EXPECT_NE(data.find("ProfilerStep#2"), std::string::npos) << data;
  }
  EXPECT_NE(Run("summary gpu.json --where 'name = ProfilerStep#2'").out.find("ProfilerStep*      1"),
            std::string::npos);
}

TEST_F(Cli, TablesHaveSharesOfDeviceTimeWhereThereIsADevice) {
  Put("gpu.json", kTwoStreams);
  Put("net.json", kModules);
  const std::string table = Run("summary gpu.json").out;
  EXPECT_NE(table.find("Device %"), std::string::npos) << table;
  EXPECT_NE(table.find(" 88.9%"), std::string::npos) << "80 of 90 us: " << table;
  EXPECT_EQ(Run("summary net.json").out.find("Device"), std::string::npos);
}

TEST_F(Cli, EachStyleSortsByTheDefaultThatTheHelpNames) {
  const std::string trace = " " + Quoted(Golden("resnet_forward"));
  const std::string help = std::regex_replace(Run("summary --help").out, std::regex("\\s+"), " ");
  for (const auto& [style, field] :
       {std::pair("plain", "total_ns"), {"torch", "cpu_time_total"}, {"paddle", "CPUTotal"}}) {
    const std::string verb = std::string("summary --style ") + style;
    EXPECT_EQ(Run(verb + trace).out, Run(verb + " --sort " + field + trace).out) << style;
    EXPECT_TRUE(std::regex_search(help, std::regex(std::string(style) + ": [^;]*\\(default " + field + "\\)")))
        << style;
  }
}

}  // namespace
}  // namespace opscope
