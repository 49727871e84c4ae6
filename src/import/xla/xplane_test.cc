// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

#include "opscope/import.h"
#include "trace/debug_text_for_test.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;
using protozero::pbf_writer;

Result<Trace> Import(const std::string& bytes, const ImportOptions& options = {}) {
  return ImportBytes(std::as_bytes(std::span(bytes)), "host.xplane.pb", options);
}

// A plane in the making: names get their numbers as they come.
class PlaneBytes {
 public:
  explicit PlaneBytes(const std::string& name) : name_(name) {}

  struct Stat {
    std::string name;
    int64_t number = 0;
    std::string text = {};
  };

  void BeginLine(const std::string& name, int64_t id, int64_t timestamp_ns) {
    lines_.push_back({});
    pbf_writer line(lines_.back());
    line.add_int64(1, id);
    line.add_string(2, name);
    line.add_int64(3, timestamp_ns);
  }
  void Event(const std::string& name, int64_t offset_ps, int64_t duration_ps, const std::vector<Stat>& stats = {},
             const std::string& display_name = {}) {
    std::string bytes;
    pbf_writer event(bytes);
    event.add_int64(1, Number(&events_, name));
    event.add_int64(2, offset_ps);
    event.add_int64(3, duration_ps);
    for (const Stat& stat : stats) {
      pbf_writer message(event, 4);
      message.add_int64(1, Number(&stats_, stat.name));
      if (stat.text.empty()) message.add_int64(4, stat.number);
      if (!stat.text.empty()) message.add_string(5, stat.text);
    }
    display_names_[name] = display_name;
    pbf_writer(lines_.back()).add_message(4, bytes);
  }
  void PlaneStat(const std::string& name, int64_t value) { plane_stats_.emplace_back(Number(&stats_, name), value); }

  std::string bytes() const {
    std::string bytes;
    pbf_writer plane(bytes);
    plane.add_int64(1, 3);
    plane.add_string(2, name_);
    for (const std::string& line : lines_)
      plane.add_message(3, line);
    for (const auto& [name, id] : events_) {
      pbf_writer entry(plane, 4);
      entry.add_int64(1, id);
      pbf_writer metadata(entry, 2);
      metadata.add_string(2, name);
      if (!display_names_.at(name).empty()) metadata.add_string(4, display_names_.at(name));
    }
    for (const auto& [name, id] : stats_) {
      pbf_writer entry(plane, 5);
      entry.add_int64(1, id);
      pbf_writer(entry, 2).add_string(2, name);
    }
    for (const auto& [id, value] : plane_stats_) {
      pbf_writer stat(plane, 6);
      stat.add_int64(1, id);
      stat.add_int64(4, value);
    }
    return bytes;
  }

 private:
  static int64_t Number(std::map<std::string, int64_t>* names, const std::string& name) {
    return names->try_emplace(name, static_cast<int64_t>(names->size()) + 1).first->second;
  }
  std::string name_;
  std::vector<std::string> lines_;
  std::map<std::string, int64_t> events_, stats_;
  std::map<std::string, std::string> display_names_;
  std::vector<std::pair<int64_t, int64_t>> plane_stats_;
};

std::string Space(const std::vector<PlaneBytes>& planes) {
  std::string bytes;
  pbf_writer space(bytes);
  for (const PlaneBytes& plane : planes)
    space.add_message(1, plane.bytes());
  space.add_string(4, "node7");
  return bytes;
}

std::string Dump(const std::vector<PlaneBytes>& planes) {
  const Result<Trace> trace = Import(Space(planes));
  return trace.ok() ? ToDebugText(trace.value(), {.info = false}) : trace.error().message;
}

TEST(XPlane, JoinsLaunchesWithTheStreamsOfAGpu) {
  PlaneBytes host("/host:CPU");
  host.PlaneStat("process_id", 77);
  host.BeginLine("python", 5, 100);
  host.Event("train", 0, 9'000'000, {{"step_num", 4}});
  host.Event("cuLaunchKernel", 1'000'999, 500'000, {{"correlation_id", 12}});
  PlaneBytes gpu("/device:GPU:1");
  gpu.BeginLine("Stream #14(Compute,MemcpyH2D)", 14, 100);
  gpu.Event("fusion_3", 2'000'000, 3'000'000, {{"correlation_id", 12}, {"flops", 4096}, {"hlo_op", 0, "fusion.3"}});
  gpu.Event("MemcpyH2D", 6'000'000, 1'000, {{"memcpy_details", 0, "size:8"}});
  gpu.BeginLine("XLA Ops", 2, 100);
  gpu.Event("fusion.3", 2'000'000, 3'000'000);
  gpu.BeginLine("Steps", 1, 100);
  gpu.Event("4", 2'000'000, 3'000'000);
  EXPECT_EQ(Dump({host, gpu}), R"dump(process 77 name="/host:CPU"
process 1 name="/device:GPU:1"
track 0 process=0 tid=5 name="python" spans=2
track 1 process=1 kind=1 tid=14 name="Stream #14(Compute,MemcpyH2D)" device=1 spans=2
track 2 process=1 kind=2 tid=2 name="XLA Ops" device=1 spans=1
track 3 process=1 kind=2 tid=1 name="Steps" device=1 spans=1
span 0 100+9000 "train" category="trace_me" flags=8
span 0 1100+500   "cuLaunchKernel" category="trace_me" parent=0 correlation=12
span 1 2100+3000 "fusion_3" category="kernel" correlation=12 extra="\"flops\": 4096, \"hlo_op\": \"fusion.3\""
span 1 6100+1 "MemcpyH2D" category="gpu_memcpy" extra="\"memcpy_details\": \"size:8\""
span 2 2100+3000 "fusion.3" category="XLA Ops"
span 3 2100+3000 "4" category="Steps"
flow 12 "ac2g" category="ac2g" from=1100 track=0 span=1 to=2100 track=1 span=2
step 4 "train" span=0
metadata "/host:CPU" {"process_id": 77}
metadata "hostnames" ["node7"]
)dump");
}

TEST(XPlane, TakesTheOperationsOfATpuForItsWorkAndItsStepsWhereTheHostHasNone) {
  PlaneBytes tpu("/device:TPU:0");
  tpu.BeginLine("XLA Modules", 3, 0);
  tpu.Event("jit_f(1)", 1'000'000, 8'000'000);
  tpu.BeginLine("XLA Ops", 4, 0);
  tpu.Event("%dot.1 = f32[8,8]{1,0} dot(a, b)", 1'000'000, 5'000'000, {}, "dot.1");
  tpu.BeginLine("Steps", 5, 0);
  tpu.Event("17", 1'000'000, 8'000'000);
  EXPECT_EQ(Dump({tpu}), R"dump(process 0 name="/device:TPU:0"
track 0 process=0 kind=2 tid=3 name="XLA Modules" device=0 spans=1
track 1 process=0 kind=1 tid=4 name="XLA Ops" device=0 spans=1
track 2 process=0 kind=2 tid=5 name="Steps" device=0 spans=1
span 0 1000+8000 "jit_f(1)" category="XLA Modules"
span 1 1000+5000 "dot.1" category="XLA Ops" extra="\"long_name\": \"%dot.1 = f32[8,8]{1,0} dot(a, b)\""
span 2 1000+8000 "17" category="Steps" flags=8
step 17 "17" span=2
metadata "hostnames" ["node7"]
)dump");
}

TEST(XPlane, RoundsBothEndsDownSoThatWhatLiesWithinStaysWithin) {
  PlaneBytes host("/host:CPU");
  host.BeginLine("t", 1, 10);
  host.Event("outer", 1'999, 2'002);  // [1.999, 4.001) ns
  host.Event("inner", 2'001, 1'999);  // [2.001, 4.000) ns
  host.Event("before", -1, 1);
  const Result<Trace> trace = Import(Space({host}));
  ASSERT_TRUE(trace.ok());
  const SpanColumns& spans = trace.value().spans();
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans.start[0].ns, 9);
  EXPECT_EQ(spans.duration[0].ns, 1);
  EXPECT_EQ(spans.start[1].ns, 11);
  EXPECT_EQ(spans.duration[1].ns, 3);
  EXPECT_EQ(spans.start[2].ns, 12);
  EXPECT_EQ(spans.duration[2].ns, 2);
  EXPECT_EQ(spans.parent[2], SpanId{1});
  EXPECT_EQ(trace.value().problems().size(), 0u);
}

TEST(XPlane, JoinsProducersWithConsumersAndCountsThoseThatAreAlone) {
  PlaneBytes host("/host:CPU");
  host.BeginLine("a", 1, 0);
  host.Event("hand over", 0, 1000, {{"_pt", 15}, {"_p", 8}});
  host.BeginLine("b", 2, 0);
  host.Event("take over", 5000, 1000, {{"_ct", 15}, {"_c", 8}});
  host.Event("another type", 7000, 1000, {{"_ct", 1}, {"_c", 8}});
  const Result<Trace> trace = Import(Space({host}));
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace.value().flows().size(), 1u);
  EXPECT_EQ(trace.value().flows().start_span[0], SpanId{0});
  EXPECT_EQ(trace.value().flows().end_span[0], SpanId{1});
  ASSERT_EQ(trace.value().problems().size(), 1u);
  EXPECT_EQ(trace.value().text(trace.value().problems().kind[0]), "unpaired_flow");
}

TEST(XPlane, TakesNoNumberBelowZeroForAStep) {
  PlaneBytes host("/host:CPU");
  host.BeginLine("t", 1, 0);
  host.Event("train", 0, 1000, {{"step_num", -1}});
  host.Event("train", 5000, 1000, {{"step_num", 7}});
  const Result<Trace> trace = Import(Space({host}));
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace.value().steps().size(), 1u);
  EXPECT_EQ(trace.value().steps().number[0], 7);
  EXPECT_EQ(trace.value().text(trace.value().spans().extra[0]), "\"step_num\": -1");
}

TEST(XPlane, BelievesNoBeginBeyondAllTimes) {
  PlaneBytes host("/host:CPU"), environment("Task Environment");
  host.BeginLine("t", 1, 0);
  host.Event("train", 0, 1000);
  environment.PlaneStat("profile_start_time", INT64_MAX);
  const Result<Trace> trace = Import(Space({host, environment}));
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace.value().info().epoch_ns, 0);
  ASSERT_EQ(trace.value().problems().size(), 1u);
  EXPECT_EQ(trace.value().text(trace.value().problems().kind[0]), "bad_value");
}

TEST(XPlane, KeepsTheEventsOfAPlaneWhoseNamesAreCutOff) {
  PlaneBytes host("/host:CPU");
  host.BeginLine("t", 1, 0);
  for (int64_t i = 0; i < 10; ++i)
    host.Event("event of a long name", i * 1000, 500);
  const std::string whole = Space({host});
  const Result<Trace> trace = Import(whole.substr(0, whole.find("event of")));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().spans().size(), 10u);
  EXPECT_EQ(trace.value().text(trace.value().spans().name[0]), "event 1");
  EXPECT_TRUE(trace.value().is_partial());
}

TEST(XPlane, DoesNotRepeatALargeTextThatManyEventsReferTo) {
  PlaneBytes host("/host:CPU");
  host.BeginLine("t", 1, 0);
  const std::string long_name(1 << 20, 'x');
  for (int64_t i = 0; i < 1000; ++i)
    host.Event(long_name, i * 1000, 500, {{"number", i}}, "short");
  const Result<Trace> trace = Import(Space({host}));
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace.value().spans().size(), 1000u);
  EXPECT_LT(trace.value().memory_bytes(), 8u << 20);
}

// XLA writes the same events as Chrome JSON beside the protobuf, in fractions of microseconds.
void ExpectSameEvents(const Trace& trace, const std::string& json) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  ASSERT_EQ(parser.parse(json).get(document), simdjson::SUCCESS);
  std::vector<std::string> theirs, ours;
  std::map<std::string, double> their_total, our_total;
  for (const simdjson::dom::element event : document["traceEvents"].get_array()) {
    std::string_view phase, name;
    double duration = 0;
    if (event["ph"].get(phase) != simdjson::SUCCESS || phase != "X") continue;
    ASSERT_EQ(event["name"].get(name), simdjson::SUCCESS);
    ASSERT_EQ(event["dur"].get(duration), simdjson::SUCCESS);
    theirs.emplace_back(name);
    their_total[std::string(name)] += duration;
  }
  for (size_t i = 0; i < trace.spans().size(); ++i) {
    const std::string name(trace.text(trace.spans().name[i]));
    ours.push_back(name);
    our_total[name] += static_cast<double>(trace.spans().duration[i].ns) / 1000;
  }
  std::sort(ours.begin(), ours.end());
  std::sort(theirs.begin(), theirs.end());
  std::vector<std::string> missing;
  std::set_difference(theirs.begin(), theirs.end(), ours.begin(), ours.end(), std::back_inserter(missing));
  EXPECT_THAT(missing, testing::IsEmpty());
  EXPECT_EQ(ours.size(), theirs.size());
  for (const auto& [name, total] : their_total)
    EXPECT_NEAR(our_total[name], total, 0.001 * static_cast<double>(std::count(ours.begin(), ours.end(), name)))
        << name;
}

TEST(XPlane, HoldsWhatTheJsonOfTheSameRunHolds) {
  size_t compared = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(OPSCOPE_SOURCE_DIR) / "tests/golden/xplane")) {
    const fs::path json = entry.path() / "same_run.json";
    if (!fs::exists(json)) continue;
    SCOPED_TRACE(entry.path().string());
    const Result<Trace> trace = ImportFile((entry.path() / "input.pb").string());
    ASSERT_TRUE(trace.ok());
    EXPECT_EQ(trace.value().problems().size(), 0u);
    std::ifstream file(json);
    ExpectSameEvents(trace.value(), {std::istreambuf_iterator<char>(file), {}});
    ++compared;
  }
  EXPECT_EQ(compared, 2u);
}

}  // namespace
}  // namespace opscope
