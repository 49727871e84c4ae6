// A recording of MegEngine in Kineto's dialect says of each event what MegEngine's own layout says of it.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "opscope/export.h"
#include "opscope/export/formats.h"
#include "opscope/import.h"
#include "trace/builder.h"

namespace opscope {
namespace {

using simdjson::dom::element;
using Members = std::map<std::string, std::string>;  // values as JSON
using Events = std::map<int64_t, Members>;           // by the begin in microseconds: each has its own

// An operator with its inputs, outputs and a kernel, and commands, of tensors of which some are known.
Trace RandomRecording(std::mt19937_64* random) {
  const auto draw = [random](uint64_t below) { return static_cast<uint32_t>((*random)() % below); };
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 7});
  const TrackId worker = builder.AddTrack({.process = process, .tid = 0, .name = builder.Intern("worker")});
  const TrackId device = builder.AddTrack(
      {.process = process, .kind = TrackKind::kDeviceStream, .tid = 2, .name = builder.Intern("xpux:0"), .device = 0});
  builder.AddMetadata("megengine.devices", R"x({"7:2": "CompNode(\"cpu0:0\" from \"xpux:0\")"})x");
  std::vector<ArgsId> lists = {ArgsId::kNone};
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{2, 3}, {}, {4}}) {
    const ArgumentRow tensor = {.kind = ArgumentKind::kTensor, .dtype = builder.Intern("Float32"), .sizes = sizes};
    lists.push_back(builder.AddArguments(std::vector<ArgumentRow>{tensor}));
  }
  std::vector<ArgsId> list_of;
  for (uint32_t tensor = 0; tensor < 6; ++tensor) {
    list_of.push_back(lists[draw(lists.size())]);
    if (draw(4) == 0) continue;
    builder.AddTensorLife({.produced = {int64_t{tensor} * 1000},
                           .duration = {draw(2) == 0 ? -1 : 12'345'678},
                           .track = draw(4) == 0 ? TrackId::kNone : device,
                           .tensor = tensor,
                           .op = 3,
                           .args = list_of.back(),
                           .name = builder.Intern(draw(2) == 0 ? "w" : "a \"name\"")});
  }
  const char* const words[] = {"Input", "Output", "Put", "Del"};
  for (int64_t i = 0; i < 20; ++i) {
    const bool is_operator = draw(3) == 0;
    const uint32_t tensor = draw(6);
    builder.AddSpan({.start = {i * 1'000'000},
                     .duration = {500'000},
                     .name = builder.Intern(is_operator ? "ADD" : words[draw(4)]),
                     .track = worker,
                     .kind = is_operator ? SpanKind::kOperator : SpanKind::kOther,
                     .external_id = is_operator ? 3 : tensor,
                     .args = is_operator || draw(3) == 0 ? ArgsId::kNone : list_of[tensor]});
  }
  return builder.Build();
}

// What an event says, in the words of MegEngine's layout.
Members WordsOf(element args, bool is_kinetos) {
  Members members;
  for (const auto& [key, value] : simdjson::dom::object(args)) {
    std::string name(key), text = simdjson::minify(value);
    if (is_kinetos && name == "External id") name = "number";
    if (name == "id" || name == "__id__") name = "number";
    if (is_kinetos && name == "Input type") name = "dtype", text = simdjson::minify(element(value).at(0).value());
    if (is_kinetos && name == "Input Dims") {
      name = "shape", text = simdjson::minify(element(value).at(0).value());
      text = "\"{" + text.substr(1, text.size() - 2) + "}\"";
    }
    if (name != "Concrete Inputs" && name != "Input Strides" && text != "\"invalid\"") members[name] = text;
  }
  return members;
}

Events EventsOf(const std::string& json, bool is_kinetos) {
  simdjson::dom::parser parser;
  Events events;
  int64_t begin = 0;
  const element document = parser.parse(json);
  for (const element event : document["traceEvents"]) {
    const std::string_view phase = event["ph"];
    if (phase != "B" && phase != "E" && phase != "X") continue;
    if (phase != "E") begin = std::llround(double(event["ts"]));
    Members& members = events[begin];
    element args;
    if (event["args"].get(args) != simdjson::SUCCESS) continue;
    for (const auto& [key, value] : WordsOf(args, is_kinetos))
      members[key] = value;
  }
  return events;
}

std::string MegEngineText(const Trace& trace) {
  return ExportToBytes(trace, ExportFormat::kMegEngineChrome).value().bytes;
}

TEST(MegEngineInKinetosDialect, SaysOfEachEventWhatItsOwnLayoutSays) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  size_t tensors = 0;
  for (int round = 0; round < 500 && !testing::Test::HasFailure(); ++round) {
    const Trace trace = RandomRecording(&random);
    const std::string own = MegEngineText(trace), kinetos = ChromeTraceText(trace).value();
    Events expected = EventsOf(own, false), events = EventsOf(kinetos, true);
    for (auto& [begin, members] : expected) {
      // Of a tensor without a life MegEngine's layout says the number alone; Kineto's members may say type and shape.
      const bool is_known = members.contains("nr_elements") && members["name"] != "\"UnknownTensor\"";
      if (!is_known && !members.contains("__device__")) {
        members = {{"number", members["number"]}};
        std::erase_if(events[begin], [](const auto& member) { return member.first != "number"; });
      }
      if (events[begin].empty() || members["number"] == "0") events[begin]["number"] = "0";
      if (!members.contains("number") || members["number"].empty()) members["number"] = "0";
      tensors += members.contains("nr_elements") ? 1 : 0;
    }
    ASSERT_EQ(events, expected) << own << "\n" << kinetos;
  }
  EXPECT_GT(tensors, 1000u);
}

TEST(MegEngineInKinetosDialect, SaysTheSameWhenItIsReadAndWrittenAgain) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 500 && !testing::Test::HasFailure(); ++round) {
    const std::string file = ChromeTraceText(RandomRecording(&random)).value();
    const Result<Trace> again = ImportBytes(std::as_bytes(std::span(file)), "trace.json");
    ASSERT_TRUE(again.ok());
    const std::string second = ChromeTraceText(again.value()).value();
    ASSERT_EQ(EventsOf(second, true), EventsOf(file, true));
    const Result<Trace> third = ImportBytes(std::as_bytes(std::span(second)), "trace.json");
    ASSERT_EQ(ChromeTraceText(third.value()).value(), second);
    // In MegEngine's layout no member stands twice.
    simdjson::dom::parser parser;
    const std::string own = MegEngineText(again.value());
    const element document = parser.parse(own);
    for (const element event : document["traceEvents"]) {
      simdjson::dom::object args;
      if (event["args"].get(args) != simdjson::SUCCESS) continue;
      std::map<std::string, int> seen;
      for (const auto& [key, value] : args)
        ASSERT_EQ(++seen[std::string(key)], 1) << key << "\n" << own;
    }
  }
}

}  // namespace
}  // namespace opscope
