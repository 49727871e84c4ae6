// MegEngine's own timelines, read and written again, are the same event for event, and in the same order on each track;
// a device whose kernels began before their launches is later by a constant.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "opscope/export/formats.h"
#include "opscope/import.h"
#include "trace/builder.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;
using simdjson::dom::element;

// Counters that the original computes wrongly: ours have other values, and some have no event.
const std::set<std::string> kMended = {"nr_op_pending",   "nr_redunant_tensor", "nr_redundant_tensor",
                                       "gpu_usgae_ratio", "gpu_usage_ratio",    "train_time_ratio"};

std::string Canonical(element value) {
  if (value.is_object()) {
    std::map<std::string, std::string> members;
    for (const auto& [key, member] : simdjson::dom::object(value)) {
      if (key != "living_time" && key != "__device__" && key != "ts") members[std::string(key)] = Canonical(member);
    }
    std::string text = "{";
    for (const auto& [key, member] : members)
      text += key + ":" + member + ",";
    return text + "}";
  }
  if (value.is_double() || value.is_int64()) return std::to_string(double(value));
  return simdjson::minify(value);
}

constexpr double kWithoutTime = 1e18;  // behind all others

using TimedEvents = std::vector<std::pair<double, std::string>>;

// By "pid:tid", in their order; those of one time are sorted.
std::map<std::string, TimedEvents> EventsOf(const std::string& json) {
  simdjson::dom::parser parser;
  std::map<std::string, TimedEvents> tracks;
  const element document = parser.parse(json);
  for (const element event : document["traceEvents"]) {
    if (kMended.contains(std::string(std::string_view(event["name"])))) continue;
    double time = -1;
    if (event["ts"].get(time) != simdjson::SUCCESS) time = kWithoutTime;
    const std::string place = simdjson::minify(event["pid"].value()) + ":" + simdjson::minify(event["tid"].value());
    tracks[place].emplace_back(time, Canonical(event));
  }
  for (auto& [place, list] : tracks) {
    EXPECT_TRUE(std::is_sorted(list.begin(), list.end(), [](const auto& a, const auto& b) {
      return a.first < b.first;
    })) << place;
    std::sort(list.begin(), list.end());
  }
  return tracks;
}

std::string BytesOf(const Trace& trace) {
  const auto exported = ExportToBytes(trace, ExportFormat::kMegEngineChrome);
  EXPECT_TRUE(exported.ok());
  return exported.value().bytes;
}

std::vector<fs::path> Timelines() {
  std::vector<fs::path> files;
  for (const char* name : {"backtrace", "scope_and_step", "training_steps"})
    files.push_back(fs::path(OPSCOPE_SOURCE_DIR) / "tests/golden/megengine_json" / name / "input.json");
  return files;
}

// By how much a track was read later than it stands in the file: a device whose kernels begin before their launches.
double Later(const Trace& trace, const TimedEvents& read, const TimedEvents& written) {
  const ProblemColumns& problems = trace.problems();
  const bool is_moved = std::any_of(problems.kind.begin(), problems.kind.end(),
                                    [&](StringId kind) { return trace.text(kind) == "device_clock_moved"; });
  const bool is_device = std::any_of(read.begin(), read.end(), [](const auto& event) {
    return event.second.find(R"(cat:"Kernel",)") != std::string::npos;
  });
  return is_moved && is_device ? written[0].first - read[0].first : 0;
}

TEST(MegEngineChrome, WritesTheEventsThatWereRead) {
  for (const fs::path& path : Timelines()) {
    SCOPED_TRACE(path);
    const Result<Trace> trace = ImportFile(path.string());
    ASSERT_TRUE(trace.ok());
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    const auto read = EventsOf(text.str()), written = EventsOf(BytesOf(trace.value()));
    ASSERT_EQ(read.size(), written.size());
    for (const auto& [place, events] : read) {
      const TimedEvents& other = written.at(place);
      ASSERT_EQ(events.size(), other.size());
      const double later = Later(trace.value(), events, other);
      EXPECT_GE(later, 0);
      for (size_t i = 0; i < events.size(); ++i) {
        ASSERT_EQ(events[i].second, other[i].second) << place;
        if (events[i].first == kWithoutTime) continue;
        ASSERT_NEAR(events[i].first + later, other[i].first, 1e-6) << place << ": " << events[i].second;
      }
    }
  }
}

// The reader adds a track of steps; a file needs only the StopStep instants for it.
TEST(MegEngineChrome, KeepsStepsThatTheirStopInstantsSay) {
  const fs::path path = fs::path(OPSCOPE_SOURCE_DIR) / "tests/golden/megengine_json/scope_and_step/input.json";
  const Result<Trace> read = ImportFile(path.string());
  ASSERT_TRUE(read.ok());
  ASSERT_GT(read.value().steps().size(), 0u);
  const Result<Exported> written = ExportToBytes(read.value(), ExportFormat::kMegEngineChrome);
  ASSERT_TRUE(written.ok());
  EXPECT_TRUE(written.value().left_out.empty()) << written.value().left_out[0].rows << " rows";
  const Result<Trace> again = ImportBytes(std::as_bytes(std::span(std::string_view(written.value().bytes))), "again");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again.value().steps().size(), read.value().steps().size());
}

TEST(MegEngineChrome, CountsStepsWithoutStopInstantsAsLeftOut) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 7});
  const TrackId worker = builder.AddTrack({.process = process, .tid = 1});
  const TrackId steps = builder.AddTrack({.process = process, .kind = TrackKind::kOther, .tid = 2});
  builder.AddInstant({.time = {10}, .name = builder.Intern("StopStep"), .track = worker});
  for (int64_t number = 0; number < 3; ++number) {
    builder.AddStep(number, StringId::kEmpty,
                    builder.AddSpan({.start = {number * 10}, .duration = {10}, .track = steps}));
  }
  const auto exported = ExportToBytes(builder.Build(), ExportFormat::kMegEngineChrome);
  ASSERT_TRUE(exported.ok());
  ASSERT_EQ(exported.value().left_out.size(), 1u);
  EXPECT_EQ(exported.value().left_out[0].rows, 2u);
}

std::vector<double> ValuesOf(const std::string& json, std::string_view name) {
  simdjson::dom::parser parser;
  std::vector<std::pair<double, double>> values;
  for (const element event : parser.parse(json)["traceEvents"]) {
    if (std::string_view(event["name"]) == name)
      values.emplace_back(double(event["ts"]), double(event["args"]["value"]));
  }
  std::stable_sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<double> in_order;
  for (const auto& [time, value] : values)
    in_order.push_back(value);
  return in_order;
}

constexpr char kDispatches[] =
    R"({"metadata": {"localTime": "1795216449185312847"}, "traceEvents": [
{"ph": "B", "name": "OpDispatch", "pid": 7, "tid": 0, "ts": 1},
{"ph": "E", "name": "OpDispatch", "pid": 7, "tid": 0, "ts": 1, "args": {"__id__": 4, "__name__": "ADD"}},
{"ph": "B", "name": "OpDispatch", "pid": 7, "tid": 0, "ts": 2},
{"ph": "E", "name": "OpDispatch", "pid": 7, "tid": 0, "ts": 2, "args": {"__id__": 5, "__name__": "MUL"}},
{"ph": "B", "name": "MUL", "pid": 7, "tid": 1, "ts": 3},
{"ph": "E", "name": "MUL", "pid": 7, "tid": 1, "ts": 4, "args": {"__id__": 5, "__name__": "MUL"}}]})";

TEST(MegEngineChrome, CountsNoOperatorAsPendingThatTheWorkerNeverGets) {
  const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(std::string_view(kDispatches))), "timeline");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(ValuesOf(BytesOf(trace.value()), "nr_op_pending"), (std::vector<double>{0, 1, 0}));
}

// More names than the exporter remembers at once: that of a range and that of its tensor may share a place.
TEST(MegEngineChrome, KeepsTheNamesOfARangeAndOfItsTensorApart) {
  constexpr uint32_t kTensors = 600;
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 7}), .tid = 1});
  for (uint32_t i = 1; i <= kTensors; ++i) {
    builder.AddTensorLife({.produced = {i}, .duration = {-1}, .tensor = i, .name = builder.Intern(std::to_string(i))});
    builder.AddSpan(
        {.start = {i * 10}, .duration = {5}, .name = builder.Intern("Output"), .track = track, .external_id = i});
  }
  const std::string json = BytesOf(builder.Build());
  simdjson::dom::parser parser;
  size_t seen = 0;
  for (const element event : parser.parse(json)["traceEvents"]) {
    std::string_view tensor;
    if (event["args"]["name"].get(tensor) != simdjson::SUCCESS) continue;
    EXPECT_EQ(std::string_view(event["name"]), "Output " + std::string(tensor));
    ++seen;
  }
  EXPECT_EQ(seen, 2 * kTensors);
}

Exported WindowOfAnOperator(bool with_cuda) {
  TraceBuilder builder;
  const auto add = [&](const TrackRow& track, std::string_view name, std::string_view category, SpanKind kind) {
    builder.AddSpan({.start = {1},
                     .duration = {5},
                     .name = builder.Intern(name),
                     .category = builder.Intern(category),
                     .track = builder.AddTrack(track),
                     .kind = kind,
                     .external_id = kind == SpanKind::kOperator ? 4u : 0u});
  };
  const ProcessId program = builder.AddProcess({.pid = 7});
  add({.process = program, .tid = 1, .name = builder.Intern("worker")}, "ADD", "", SpanKind::kOperator);
  if (with_cuda) {
    const ProcessId gpu = builder.AddProcess({.pid = 0});
    add({.process = program, .tid = 4711}, "cudaLaunchKernel", "cuda_runtime", SpanKind::kRuntimeCall);
    add({.process = gpu, .kind = TrackKind::kDeviceStream, .tid = 7, .name = builder.Intern("stream 7 ")}, "fill",
        "kernel", SpanKind::kKernel);
  }
  auto exported = ExportToBytes(builder.Build(), ExportFormat::kMegEngineChrome);
  EXPECT_TRUE(exported.ok());
  return std::move(exported.value());
}

TEST(MegEngineChrome, LeavesOutWhatCuptiAloneHasToldOf) {
  const Exported without = WindowOfAnOperator(false), with = WindowOfAnOperator(true);
  EXPECT_NE(without.bytes.find("ADD"), std::string::npos);
  EXPECT_EQ(with.bytes, without.bytes);
  EXPECT_TRUE(without.left_out.empty());
  ASSERT_EQ(with.left_out.size(), 1u);
  EXPECT_EQ(with.left_out[0].rows, 2u);
}

TEST(MegEngineChrome, WritesOnlyTheRatiosOfAnEmptyWindow) {
  const std::string text = BytesOf(Trace());
  EXPECT_EQ(text, R"({"traceEvents":[],"metadata":{"localTime":"0"}})");
}

}  // namespace
}  // namespace opscope
