// `opscope memory`: the tables, the JSON and the sentences of the verb.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>
#include <string_view>

#include "cli/program_for_test.h"
#include "opscope/export.h"
#include "trace/builder.h"

namespace opscope {
namespace {

// The example of docs/reference/memory.md in two steps, and a second device.
const char* const kMemory = R"([
{"ph":"X","name":"ProfilerStep#1","cat":"user_annotation","pid":1,"tid":1,"ts":1,"dur":24},
{"ph":"X","name":"ProfilerStep#2","cat":"user_annotation","pid":1,"tid":1,"ts":25,"dur":25},
{"ph":"X","name":"aten::empty","cat":"cpu_op","pid":1,"tid":1,"ts":5,"dur":10},
{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":1,"tid":1,"ts":18,"dur":5},
{"ph":"i","name":"[memory]","cat":"cpu_instant_event","s":"t","pid":1,"tid":1,"ts":10,
 "args":{"Addr":10,"Bytes":100,"Total Allocated":300,"Total Reserved":512,"Device Type":1,"Device Id":0}},
{"ph":"i","name":"[memory]","cat":"cpu_instant_event","s":"t","pid":1,"tid":1,"ts":12,
 "args":{"Addr":77,"Bytes":8,"Total Allocated":8,"Device Type":0,"Device Id":-1}},
{"ph":"i","name":"[memory]","cat":"cpu_instant_event","s":"t","pid":1,"tid":1,"ts":20,
 "args":{"Addr":11,"Bytes":50,"Total Allocated":350,"Total Reserved":512,"Device Type":1,"Device Id":0}},
{"ph":"i","name":"[memory]","cat":"cpu_instant_event","s":"t","pid":1,"tid":1,"ts":30,
 "args":{"Addr":10,"Bytes":-100,"Total Allocated":250,"Total Reserved":512,"Device Type":1,"Device Id":0}},
{"ph":"i","name":"[memory]","cat":"cpu_instant_event","s":"t","pid":1,"tid":1,"ts":40,
 "args":{"Addr":99,"Bytes":-120,"Total Allocated":130,"Total Reserved":512,"Device Type":1,"Device Id":0}}])";

class MemoryVerbTest : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    Put("run.json", kMemory);
  }
};

TEST_F(MemoryVerbTest, PrintsTheDevicesAndBelowThemWhatHoldsTheMemoryAtThePeak) {
  const Outcome outcome = Run("memory run.json");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.out,
            "Device  Allocations  Frees  Allocated  Freed  Start    End   Peak    Peak at  Peak reserved  Kept\n"
            "cpu               1      0        8 B    0 B    0 B    8 B    8 B  11.000 us              -     1\n"
            "cuda:0            2      2      150 B  220 B  200 B  130 B  350 B  19.000 us          512 B     1\n"
            "\n"
            "Device  Name         Allocations  Allocated  At the peak\n"
            "cpu     aten::empty            1        8 B          8 B\n"
            "cuda:0  aten::empty            1      100 B        100 B\n"
            "cuda:0  aten::mm               1       50 B         50 B\n"
            "cuda:0  (before)               0        0 B        200 B\n");
}

TEST_F(MemoryVerbTest, PrintsTheStepsInPlaceOfThem) {
  EXPECT_EQ(Run("memory --by-step run.json").out,
            "Device  Step  Start    End   Peak\n"
            "cpu        1    0 B    8 B    8 B\n"
            "cpu        2    8 B    8 B    8 B\n"
            "cuda:0     1  200 B  350 B  350 B\n"
            "cuda:0     2  350 B  130 B  350 B\n");
  EXPECT_EQ(Run("memory --by-step --csv --sort end_bytes --limit 1 run.json").out,
            "rank,device_type,device,step,start_bytes,end_bytes,peak_bytes\r\n-1,1,0,1,200,350,350\r\n");
}

TEST_F(MemoryVerbTest, SortsAndLimitsTheRows) {
  EXPECT_EQ(Run("memory --csv --sort allocated_bytes --limit 2 run.json").out,
            "rank,device_type,device,name,allocations,allocated_bytes,peak_bytes\r\n"
            "-1,1,0,aten::empty,1,100,100\r\n-1,1,0,aten::mm,1,50,50\r\n");
  EXPECT_EQ(Run("memory --sort peak_ns run.json").exit_code, 2);
}

TEST_F(MemoryVerbTest, HasAllListsAsJson) {
  simdjson::dom::parser parser;
  const simdjson::padded_string text(Run("memory --json run.json").out);
  const simdjson::dom::element json = parser.parse(text);
  EXPECT_EQ(std::string_view(json["schema"]), "opscope.memory/1");
  EXPECT_EQ(json["devices"].get_array().value().size(), 2u);
  EXPECT_EQ(json["rows"].get_array().value().size(), 4u);
  EXPECT_EQ(json["steps"].get_array().value().size(), 4u);
  EXPECT_EQ(std::string_view(json["quality"]["verdict"]), "good");
  EXPECT_TRUE(json["devices"].at(0)["peak_reserved_bytes"].is_null());
  EXPECT_EQ(int64_t(json["devices"].at(1)["peak_ns"]), 20000);
  EXPECT_EQ(int64_t(json["devices"].at(1)["freed_bytes"]), 220);
  EXPECT_EQ(std::string_view(json["rows"].at(3)["name"]), "(before)");
}

TEST_F(MemoryVerbTest, SeeksThePeakInTheChosenSteps) {
  EXPECT_EQ(Run("memory --csv --steps 2 run.json").out,
            "rank,device_type,device,name,allocations,allocated_bytes,peak_bytes\r\n"
            "-1,1,0,aten::empty,0,0,100\r\n-1,1,0,aten::mm,0,0,50\r\n-1,1,0,(before),0,0,200\r\n");
}

TEST_F(MemoryVerbTest, AnswersForLivesOfTensors) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 7}), .tid = 1});
  builder.AddTensorLife({.produced = {10}, .duration = {30}, .track = track, .address = 64, .bytes = 8});
  const Result<Exported> tensors = ExportToBytes(builder.Build(), ExportFormat::kOpscope);
  ASSERT_TRUE(tensors.ok());
  Put("tensors.opscope", tensors.value().bytes);
  EXPECT_EQ(Run("memory --csv tensors.opscope").out,
            "rank,device_type,device,name,allocations,allocated_bytes,peak_bytes\r\n-1,0,-1,(none),1,8,8\r\n");
}

TEST_F(MemoryVerbTest, SaysWhyThereIsNoAnswer) {
  Put("none.json", R"([{"ph":"X","name":"a","cat":"cpu_op","pid":1,"tid":1,"ts":0,"dur":1}])");
  Put("late.json", R"([{"ph":"X","name":"a","cat":"cpu_op","pid":1,"tid":1,"ts":0,"dur":1},
{"ph":"i","name":"[memory]","cat":"cpu_instant_event","s":"t","pid":1,"tid":1,"ts":9,
 "args":{"Addr":1,"Bytes":1,"Device Type":0,"Device Id":-1}}])");
  const std::pair<const char*, const char*> cases[] = {
      {"memory none.json", "none.json: no allocations were recorded; that takes profile_memory=True (torch, Paddle)"},
      {"memory --by-step none.json",
       "none.json: no allocations were recorded; that takes profile_memory=True (torch, Paddle)"},
      {"memory --by-step late.json", "late.json: it has no steps"},
      {"memory late.json --where 'name = a'", "late.json: nothing was allocated or freed while a chosen span was open"},
      {"memory run.json --by-step --where 'name = aten::mm'", "run.json: none of its steps is chosen"},
      {"memory run.json --where 'name = b'", "run.json: none of its spans is chosen by --where, --steps and --time"},
  };
  for (const auto& [arguments, sentence] : cases) {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(outcome.error, "opscope: " + std::string(sentence) + "\n") << arguments;
    EXPECT_EQ(Run(std::string(arguments) + " -q").error, "") << arguments;
  }
}

}  // namespace
}  // namespace opscope
