// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <set>
#include <string>
#include <vector>

#include "opscope/import.h"
#include "trace/debug_text_for_test.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;
using protozero::pbf_writer;

Result<Trace> Import(const std::string& bytes, const ImportOptions& options = {}) {
  return ImportBytes(std::as_bytes(std::span(bytes)), "dump.pb", options);
}

std::string Message(const std::function<void(pbf_writer&)>& fill) {
  std::string bytes;
  pbf_writer writer(bytes);
  fill(writer);
  return bytes;
}

std::string HostCall(const std::string& name, uint64_t type, uint64_t start, uint64_t end) {
  return Message([&](pbf_writer& call) {
    call.add_string(1, name);
    call.add_uint64(2, type);
    call.add_uint64(3, start);
    call.add_uint64(4, end);
    call.add_uint64(5, 77);
    call.add_uint64(6, 78);
  });
}

// A node of the tree; `children` are its fields 4 to 6.
std::string HostNode(int64_t id, const std::string& call,
                     const std::vector<std::pair<uint32_t, std::string>>& children = {}) {
  return Message([&](pbf_writer& node) {
    node.add_int64(1, id);
    node.add_int64(2, id == 0 ? -1 : 0);
    node.add_message(3, call);
    for (const auto& [field, child] : children)
      node.add_message(field, child);
  });
}

std::string Dump(const std::vector<std::string>& nodes) {
  return Message([&](pbf_writer& dump) {
    dump.add_string(1, "1.0.2");
    dump.add_uint32(2, 0);
    pbf_writer thread(dump, 3);
    thread.add_uint64(1, 78);
    thread.add_message(2, HostNode(0, HostCall("root node", 7, 0, UINT64_MAX)));
    for (const std::string& node : nodes)
      thread.add_message(2, node);
  });
}

std::string Launch(uint32_t correlation, uint64_t start, uint64_t end, const std::string& device_event) {
  return Message([&](pbf_writer& node) {
    {
      pbf_writer call(node, 1);
      call.add_string(1, "cudaLaunchKernel_v7000");
      call.add_uint64(2, start);
      call.add_uint64(3, end);
      call.add_uint64(4, 77);
      call.add_uint64(5, 78);
      call.add_uint32(6, correlation);
      call.add_uint32(7, 211);
    }
    if (device_event.empty()) return;
    pbf_writer device(node, 2);
    device.add_message(1, device_event);
  });
}

std::string DeviceEvent(const std::string& name, uint64_t type, uint64_t start, uint64_t end, uint32_t correlation,
                        uint32_t detail_field, const std::string& detail) {
  return Message([&](pbf_writer& event) {
    event.add_string(1, name);
    event.add_uint64(2, type);
    event.add_uint64(3, start);
    event.add_uint64(4, end);
    event.add_uint64(5, 1);
    event.add_uint64(6, 2);
    event.add_uint64(7, 9);
    event.add_uint32(8, correlation);
    event.add_message(detail_field, detail);
  });
}

TEST(PaddleProtobuf, PutsKernelsOnTheirStreamWithAnArrowFromTheLaunch) {
  const std::string kernel = Message([](pbf_writer& info) {
    for (uint32_t field = 1; field <= 11; ++field)
      info.add_uint32(field, field);
    info.add_float(15, 0.5F);
    info.add_float(16, 2);
    info.add_float(17, 0.25F);
  });
  const std::string copy = Message([](pbf_writer& info) {
    info.add_uint64(1, 4000);
    info.add_string(2, std::string("\0\xff", 2));  // never filled by Paddle
  });
  const Result<Trace> trace =
      Import(Dump({HostNode(1, HostCall("matmul", 0, 1000, 9000),
                            {{4, Launch(5, 2000, 4000, DeviceEvent("gemm", 4, 5000, 8000, 5, 9, kernel))},
                             {4, Launch(6, 4000, 4100, DeviceEvent("MEMCPY_HtoD", 5, 8000, 8500, 6, 10, copy))},
                             {4, Launch(7, 4200, 4300, "")}})}));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(ToDebugText(trace.value(), {.info = false}), R"dump(process 77 name="Process 77 (CPU)" sort_index=77
process 1 name="Device 1 (GPU)" sort_index=268435457
track 0 process=0 tid_text="78(C++)" name="thread 78:(C++)" sort_index=157 spans=4
track 1 process=1 kind=1 tid=9 name="stream 9" sort_index=9 device=1 spans=2
span 0 1000+8000 "matmul" category="Operator"
span 0 2000+2000   "cudaLaunchKernel_v7000" category="CudaRuntime" parent=0 correlation=5 extra="\"callback id\": 211"
span 0 4000+100   "cudaLaunchKernel_v7000" category="CudaRuntime" parent=0 correlation=6 extra="\"callback id\": 211"
span 0 4200+100   "cudaLaunchKernel_v7000" category="CudaRuntime" parent=0 correlation=7 extra="\"callback id\": 211"
span 1 5000+3000 "gemm" category="Kernel" correlation=5 extra="\"device\": 1, \"context\": 2, \"stream\": 9, \"registers per thread\": 9, \"shared memory\": 15, \"blocks per SM\": 0.500000, \"warps per SM\": 2.000000, \"grid\": [4, 5, 6], \"block\": [1, 2, 3], \"theoretical achieved occupancy %\": 25.000, \"dynamic shared memory\": 7, \"local memory per thread\": 10, \"local memory total\": 11"
span 1 8000+500 "MEMCPY_HtoD" category="Memcpy" correlation=6 extra="\"device\": 1, \"context\": 2, \"stream\": 9, \"bytes\": 4000, \"memory bandwidth (GB/s)\": 8"
flow 5 "launch" category="async" from=3000 track=0 span=1 to=6500 track=1 span=4
flow 6 "launch" category="async" from=4050 track=0 span=2 to=8000 track=1 span=5
metadata "schemaVersion" "1.0.2"
metadata "span_index" "0"
metadata "ExtraInfo" {}
)dump");
}

// The rows of a trace that the JSON and the protobuf of one run must agree on, sorted. The JSON cuts starts to
// microseconds and is laid out for people.
class RunRows {
 public:
  explicit RunRows(const Trace& trace) : trace_(trace) {
    AddSpans();
    AddInstants();
    AddAllocations();
    for (size_t i = 0; i < trace.steps().size(); ++i)
      Add("step", trace.steps().name[i], std::to_string(trace.steps().number[i]));
    for (size_t i = 0; i < trace.metadata().size(); ++i) {
      std::string json(trace.text(trace.metadata().json[i]));
      std::erase_if(json, [](char c) { return c == ' ' || c == '\n'; });
      if (trace.text(trace.metadata().key[i]) != "displayTimeUnit") Add("metadata", trace.metadata().key[i], json);
    }
    std::sort(rows_.begin(), rows_.end());
  }
  const std::vector<std::string>& rows() const { return rows_; }

 private:
  void Add(const std::string& table, StringId name, const std::string& rest) {
    rows_.push_back(table + " " + std::string(trace_.text(name)) + " " + rest);
  }
  std::string Track(TrackId track) const {
    const TrackColumns& tracks = trace_.tracks();
    const uint32_t process = Row(tracks.process[Row(track)]);
    return std::to_string(trace_.processes().pid[process]) + " " +
           std::string(trace_.text(trace_.processes().name[process])) + " " +
           std::string(trace_.text(tracks.name[Row(track)])) + " " + std::to_string(tracks.sort_index[Row(track)]);
  }
  void AddSpans() {
    const SpanColumns& spans = trace_.spans();
    for (size_t i = 0; i < spans.size(); ++i) {
      Add("span", spans.name[i],
          std::string(trace_.text(spans.category[i])) + " " + Track(spans.track[i]) + " at " +
              std::to_string(spans.start[i].ns / 1000) + " for " + std::to_string(spans.duration[i].ns) + " flags " +
              std::to_string(spans.flags[i]));
    }
  }
  void AddInstants() {
    const InstantColumns& instants = trace_.instants();
    for (size_t i = 0; i < instants.size(); ++i) {
      Add("instant", instants.name[i],
          std::string(trace_.text(instants.category[i])) + " " + Track(instants.track[i]) + " at " +
              std::to_string(instants.time[i].ns / 1000) + " " + std::string(trace_.text(instants.extra[i])));
    }
  }

  void AddAllocations() {
    const AllocationColumns& rows = trace_.allocations();
    for (size_t i = 0; i < rows.size(); ++i) {
      Add("allocation", StringId::kEmpty,
          Track(rows.track[i]) + " at " + std::to_string(rows.time[i].ns / 1000) + " of " +
              std::to_string(rows.bytes[i]) + " to " + std::to_string(rows.total_allocated[i]) + " of " +
              std::to_string(rows.total_reserved[i]) + " at " + std::to_string(rows.address[i]) + " on " +
              std::to_string(rows.device_type[i]));
    }
  }

  const Trace& trace_;
  std::vector<std::string> rows_;
};

void ExpectSameRun(const fs::path& protobuf, const fs::path& json) {
  SCOPED_TRACE(protobuf.string());
  const Result<Trace> first = ImportFile(protobuf.string());
  const Result<Trace> second = ImportFile(json.string());
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first.value().problems().size(), 0u);
  const RunRows ours(first.value()), theirs(second.value());
  EXPECT_GT(ours.rows().size(), 5u);
  std::vector<std::string> only_one;
  std::set_symmetric_difference(ours.rows().begin(), ours.rows().end(), theirs.rows().begin(), theirs.rows().end(),
                                std::back_inserter(only_one));
  EXPECT_THAT(only_one, testing::IsEmpty());
}

TEST(PaddleProtobuf, HoldsWhatTheJsonOfTheSameRunHolds) {
  const fs::path golden = fs::path(OPSCOPE_SOURCE_DIR) / "tests/golden/paddle_protobuf";
  size_t compared = 0;
  for (const auto& entry : fs::directory_iterator(golden)) {
    if (!fs::exists(entry.path() / "same_run.json.gz")) continue;
    ExpectSameRun(entry.path() / "input.pb", entry.path() / "same_run.json.gz");
    ++compared;
  }
  EXPECT_EQ(compared, 3u);
}

TEST(PaddleProtobuf, HoldsWhatTheJsonOfTheSampleHolds) {
  const fs::path samples = fs::path(OPSCOPE_SOURCE_DIR) / "../shared/samples/paddle";
  if (!fs::exists(samples)) GTEST_SKIP() << "there is no " << samples;
  ExpectSameRun(samples / "mlp.pb", samples / "mlp.json.gz");
}

// What each event says by itself: names of processes and threads stand at the end of the file.
std::set<std::string> EventsOf(const Trace& trace) {
  std::set<std::string> events;
  const auto add = [&](const char* table, TrackId track, int64_t start, int64_t duration, StringId name,
                       StringId more) {
    const TrackColumns& tracks = trace.tracks();
    std::string event = std::string(table) + " pid " +
                        std::to_string(trace.processes().pid[Row(tracks.process[Row(track)])]) + " thread " +
                        std::string(trace.text(tracks.tid_text[Row(track)])) + " at " + std::to_string(start) +
                        " for " + std::to_string(duration) + " ";
    events.insert(event.append(trace.text(name)).append(" ").append(trace.text(more)));
  };
  const SpanColumns& spans = trace.spans();
  for (size_t i = 0; i < spans.size(); ++i)
    add("span", spans.track[i], spans.start[i].ns, spans.duration[i].ns, spans.name[i], spans.category[i]);
  const InstantColumns& instants = trace.instants();
  for (size_t i = 0; i < instants.size(); ++i)
    add("instant", instants.track[i], instants.time[i].ns, 0, instants.name[i], instants.extra[i]);
  return events;
}

TEST(PaddleProtobuf, HoldsOnlyWholeEventsWhereverTheFileIsCut) {
  for (const char* name : {"to_static", "training", "ranges"}) {
    const fs::path path = fs::path(OPSCOPE_SOURCE_DIR) / "tests/golden/paddle_protobuf" / name / "input.pb";
    std::ifstream file(path, std::ios::binary);
    const std::string whole(std::istreambuf_iterator<char>(file), {});
    const Result<Trace> all = Import(whole);
    ASSERT_TRUE(all.ok());
    const std::set<std::string> events = EventsOf(all.value());
    size_t tracks_seen = 0;
    for (size_t size = whole.size() - 1; size > 0; --size) {
      const Result<Trace> trace = Import(whole.substr(0, size));
      if (!trace.ok()) continue;
      EXPECT_LE(trace.value().tracks().size(), all.value().tracks().size()) << name << " of " << size << " bytes";
      const std::set<std::string> left = EventsOf(trace.value());
      ASSERT_TRUE(std::includes(events.begin(), events.end(), left.begin(), left.end())) << name << ", " << size;
      tracks_seen = std::max(tracks_seen, trace.value().tracks().size());
    }
    EXPECT_EQ(tracks_seen, all.value().tracks().size());
  }
}

TEST(PaddleProtobuf, GivesOperatorsTheirArguments) {
  std::string types, shapes;
  pbf_writer type_writer(types), shape_writer(shapes);
  for (const char* slot : {"X", "Y"}) {
    type_writer.add_string(1, slot);
    shape_writer.add_string(1, slot);
  }
  for (const uint64_t size : {uint64_t{3}, UINT64_MAX}) {
    type_writer.add_message(2, Message([](pbf_writer& list) { list.add_string(1, "FP32"); }));
    const std::string shape = Message([&](pbf_writer& sizes) {
      sizes.add_uint64(1, 2);
      sizes.add_uint64(1, size);
    });
    shape_writer.add_message(2, Message([&](pbf_writer& list) { list.add_message(1, shape); }));
  }
  const std::string node = Message([&](pbf_writer& writer) {
    writer.add_message(1, Message([&](pbf_writer& event) {
                         event.add_message(5, shapes);
                         event.add_message(6, types);
                         event.add_string(7, "a \"quoted\" stack");
                       }));
  });
  const Result<Trace> trace = Import(Dump({HostNode(1, HostCall("matmul dygraph", 0, 10, 20), {{6, node}})}));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const std::string dump = ToDebugText(trace.value(), {.info = false});
  EXPECT_THAT(dump, testing::HasSubstr(R"(args=(tensor "FP32"[2,3]; tensor "FP32"[2,-1]))"));
  EXPECT_THAT(dump, testing::HasSubstr(R"(\"input_shapes\": {\"X\": [[2, 3]], \"Y\": [[2, -1]]})"));
}

TEST(PaddleProtobuf, LeavesOutADamagedEventAndReadsOn) {
  // The name of the first call claims to be longer than the call.
  std::string bad = HostCall("damaged", 0, 1000, 2000);
  bad[1] = 100;
  const std::string bytes = Dump({HostNode(1, bad), HostNode(2, HostCall("whole", 0, 3000, 4000))});
  const Result<Trace> trace = Import(bytes);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  ASSERT_EQ(trace.value().spans().size(), 1u);
  EXPECT_EQ(trace.value().text(trace.value().spans().name[0]), "whole");
  ASSERT_EQ(trace.value().problems().size(), 1u);
  EXPECT_EQ(trace.value().text(trace.value().problems().kind[0]), "damaged_record");
  EXPECT_EQ(trace.value().problems().first_offset[0], static_cast<int64_t>(bytes.find("damaged") - 1));
}

TEST(PaddleProtobuf, RefusesAFileThatIsDamagedBeforeItsFirstEvent) {
  const Result<Trace> trace =
      Import(std::string("\n\x05"
                         "1.0.2\x10\x00\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
                         21));
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, ErrorCode::kMalformed);
  EXPECT_EQ(trace.error().message, "dump.pb: at byte 10: a number has more than ten bytes");
}

TEST(PaddleProtobuf, CountsCallsThatLackFieldsAndTimesThatNobodyHas) {
  const std::string call = Message([](pbf_writer& writer) {
    writer.add_string(1, "no thread");
    writer.add_uint64(2, 99);
    writer.add_uint64(3, UINT64_MAX);
    writer.add_uint64(4, 5);
  });
  const Result<Trace> trace = Import(Dump({HostNode(1, call), HostNode(2, HostCall("backwards", 0, 50, 20))}));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().spans().size(), 2u);
  std::map<std::string, uint64_t> problems;
  for (size_t i = 0; i < trace.value().problems().size(); ++i)
    problems[std::string(trace.value().text(trace.value().problems().kind[i]))] = trace.value().problems().count[i];
  EXPECT_EQ(problems,
            (std::map<std::string, uint64_t>{{"bad_value", 2}, {"missing_time", 1}, {"negative_duration", 1}}));
  for (const Timestamp start : trace.value().spans().start)
    EXPECT_EQ(start.ns, 50) << "the first time that somebody has";
}

TEST(PaddleProtobuf, StopsAtTheMemoryLimit) {
  std::vector<std::string> nodes;
  for (int i = 1; i < 20'000; ++i)
    nodes.push_back(HostNode(i, HostCall("call " + std::to_string(i), 0, 10u * static_cast<unsigned>(i),
                                         10u * static_cast<unsigned>(i) + 5)));
  const Result<Trace> trace = Import(Dump(nodes), {.max_memory = 2 << 20});
  ASSERT_TRUE(trace.ok());
  EXPECT_GT(trace.value().spans().size(), 1000u);
  EXPECT_LT(trace.value().spans().size(), 19'999u);
  EXPECT_EQ(trace.value().text(trace.value().problems().kind[0]), "over_memory_limit");
}

TEST(PaddleProtobuf, LeavesTotalsUnknownThatAMessageLacks) {
  const std::string memory = Message([](pbf_writer& node) {
    pbf_writer event(node, 1);
    event.add_uint64(1, 3000);
    event.add_uint64(2, 0);
    event.add_uint64(3, 4096);
    event.add_uint64(4, 77);
    event.add_uint64(5, 78);
    event.add_int64(6, 64);
    event.add_string(7, "Place(cpu)");
    event.add_uint64(9, 512);
  });
  const Result<Trace> trace = Import(Dump({HostNode(1, HostCall("op", 0, 2000, 4000), {{5, memory}})}));
  ASSERT_TRUE(trace.ok());
  const AllocationColumns rows = trace.value().allocations();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.bytes[0], 64);
  EXPECT_EQ(rows.total_allocated[0], -1);
  EXPECT_EQ(rows.total_reserved[0], 512);
}

}  // namespace
}  // namespace opscope
