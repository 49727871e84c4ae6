// Records of MegEngine's profiler are played again: spans, counters, arrows, lives of tensors.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "import/recording/recorded_bytes_for_test.h"
#include "opscope/import.h"
#include "opscope/megengine_event.h"

namespace opscope {
namespace {

using Event = MegEngineEvent;
constexpr uint64_t kStart = 1700000000000000000;
constexpr uint16_t kWorker = 0, kInterpreter = 1;

// The records of a window, with times since its start.
class NativeWindow {
 public:
  NativeWindow() : chunk_({.size = 65536}) { Piece(1); }

  void Piece(uint64_t number) {
    Add(Event::kStart, false, 0, 0, number);
    Add(Event::kThread, false, 0, kWorker, 0, 0, "worker");
    Add(Event::kThread, false, 0, kInterpreter, 0, 0, "interpreter");
    Add(Event::kDevice, false, 0, 0, 0, 0, "gpu1:0 gpux:0");
  }
  void Add(Event event, bool finish, uint64_t time, uint16_t thread, uint64_t value = 0, uint16_t detail = 0,
           std::string_view name = {}, const PayloadBytes* payload = nullptr) {
    Record record;
    record.kind = RecordKind::kNative;
    record.source = RecordSource::kMegEngine;
    record.scope = static_cast<uint8_t>(event);
    record.flags = finish ? record_flags::kFinish : uint8_t{0};
    record.start = kStart + time;
    record.value = value;
    record.depth = thread;
    record.reserved = detail;
    if (!name.empty()) record.name = chunk_.Name(name);
    if (payload != nullptr) record.payload = chunk_.Side(payload->Finish());
    chunk_.Add(record);
  }
  void Pair(Event event, uint64_t begin, uint64_t end, uint16_t thread, uint64_t value = 0, uint16_t detail = 0,
            std::string_view name = {}) {
    Add(event, false, begin, thread, value, detail, name);
    Add(event, true, end, thread, value, detail, name);
  }
  void Produce(uint64_t time, uint64_t tensor) {
    PayloadBytes payload;
    payload.Field(payload_fields::kAddress, {0x1000, 0});
    payload.Argument(ArgKind::kTensor, 2, arg_flags::kContiguous | arg_flags::kWide, kUnknownElement, {2, 0, 3, 0});
    Add(Event::kTensorProduce, false, time, kWorker, tensor, 0, "Float32", &payload);
  }
  void Copy(uint64_t begin, uint64_t end) {
    PayloadBytes payload;
    payload.Field(payload_fields::kDevice, {0, 0});
    payload.Argument(ArgKind::kTensor, 1, arg_flags::kContiguous | arg_flags::kWide, kUnknownElement, {4, 0});
    for (const bool finish : {false, true})
      Add(Event::kHostToDevice, finish, finish ? end : begin, kWorker, 0, 0, "Float32", &payload);
  }
  Trace Import() {
    RecordingBytes bytes;
    bytes.Add(block_types::kWindowInfo, WindowInfoText(""));
    bytes.Add(block_types::kRawChunk, chunk_.bytes());
    Result<Trace> trace = ImportRecording(bytes.blocks);
    EXPECT_TRUE(trace.ok());
    return std::move(trace).value();
  }

 private:
  ChunkBytes chunk_;
};

std::map<std::string, size_t> SpansByName(const Trace& trace) {
  std::map<std::string, size_t> rows;
  for (size_t i = 0; i < trace.spans().size(); ++i)
    rows[std::string(trace.text(trace.spans().name[i]))] = i;
  return rows;
}

TEST(RecordingOfMegEngine, BeginsWhereItsRecorderDid) {
  NativeWindow window;
  window.Pair(Event::kScope, 100, 350, kInterpreter, 0, 0, "outer");
  const Trace trace = window.Import();
  EXPECT_EQ(trace.info().epoch_ns, static_cast<int64_t>(kStart));
  ASSERT_EQ(trace.spans().size(), 1u);
  EXPECT_EQ(trace.spans().start[0].ns, 100);
  EXPECT_EQ(trace.spans().duration[0].ns, 250);
  ASSERT_EQ(trace.tracks().size(), 1u) << "of those that have recorded";
  EXPECT_EQ(trace.text(trace.tracks().name[0]), "interpreter");
  EXPECT_EQ(trace.spans().kind[0], SpanKind::kUserRange);
}

TEST(RecordingOfMegEngine, HasKernelsWhereTheDeviceSaysThatTheyWere) {
  NativeWindow window;
  PayloadBytes kernel;
  kernel.Field(payload_fields::kDevice, {0, 77});
  window.Add(Event::kRecordDevice, false, 10, kWorker, 0);
  window.Add(Event::kOpDispatch, false, 20, kInterpreter, 5, 0, "ADD");
  window.Add(Event::kOpExecute, false, 30, kWorker, 5, 0, "cmd");
  window.Add(Event::kKernelLaunch, false, 40, kWorker, 5, 0, {}, &kernel);
  window.Add(Event::kRecordDevice, false, 41, kWorker, 1000);  // since the first
  window.Add(Event::kRecordDevice, false, 50, kWorker, 1600);
  window.Add(Event::kKernelLaunch, true, 51, kWorker, 5, 0, {}, &kernel);
  window.Add(Event::kOpExecute, true, 60, kWorker, 5, 0, "cmd");
  const Trace trace = window.Import();
  const SpanColumns spans = trace.spans();
  size_t kernels = 0;
  for (size_t i = 0; i < spans.size(); ++i) {
    if (trace.text(spans.category[i]) != "Kernel") continue;
    ++kernels;
    EXPECT_EQ(trace.text(spans.name[i]), "ADD");
    EXPECT_EQ(spans.start[i].ns, 1010);
    EXPECT_EQ(spans.duration[i].ns, 600);
    EXPECT_EQ(spans.correlation[i], 77u);
    EXPECT_EQ(spans.external_id[i], 5u);
    const TrackId track = spans.track[i];
    EXPECT_EQ(trace.text(trace.tracks().name[Row(track)]), "gpux:0");
    EXPECT_EQ(trace.tracks().tid[Row(track)], 2);
  }
  EXPECT_EQ(kernels, 1u);
}

TEST(RecordingOfMegEngine, HasCopiesToADeviceDoneBeforeItsNextKernel) {
  NativeWindow window;
  PayloadBytes kernel;
  kernel.Field(payload_fields::kDevice, {0, 77});
  window.Add(Event::kRecordDevice, false, 10, kWorker, 0);
  window.Add(Event::kOpDispatch, false, 20, kInterpreter, 5, 0, "ADD");
  window.Copy(30, 36);
  window.Add(Event::kOpExecute, false, 38, kWorker, 5, 0, "cmd");
  window.Add(Event::kKernelLaunch, false, 40, kWorker, 5, 0, {}, &kernel);
  window.Add(Event::kRecordDevice, false, 41, kWorker, 22);  // at 32: its clock counts otherwise than the threads'
  window.Add(Event::kRecordDevice, false, 50, kWorker, 25);
  window.Add(Event::kKernelLaunch, true, 51, kWorker, 5, 0, {}, &kernel);
  window.Add(Event::kOpExecute, true, 60, kWorker, 5, 0, "cmd");
  window.Copy(70, 74);
  const Trace trace = window.Import();
  std::vector<std::pair<int64_t, int64_t>> copies;
  for (size_t i = 0; i < trace.spans().size(); ++i) {
    if (trace.text(trace.spans().name[i]) == "HostToDevice")
      copies.emplace_back(trace.spans().start[i].ns, trace.spans().duration[i].ns);
  }
  // The device is late by 8 at least: its kernel began at 40, not at 32.
  EXPECT_EQ(copies, (std::vector<std::pair<int64_t, int64_t>>{{38, 2}, {63, 4}}));
}

TEST(RecordingOfMegEngine, ShiftsADeviceInEachPieceByTheLeastThatPutsItsKernelsBehindTheirLaunches) {
  NativeWindow window;
  PayloadBytes kernel;
  kernel.Field(payload_fields::kDevice, {0, 77});
  const auto launch = [&](uint64_t at, uint64_t ticks, uint64_t op) {
    window.Add(Event::kKernelLaunch, false, at, kWorker, op, 0, {}, &kernel);
    window.Add(Event::kRecordDevice, false, at + 1, kWorker, ticks);
    window.Add(Event::kRecordDevice, false, at + 2, kWorker, ticks + 5);
    window.Add(Event::kKernelLaunch, true, at + 3, kWorker, op, 0, {}, &kernel);
  };
  window.Add(Event::kRecordDevice, false, 10, kWorker, 0);
  launch(40, 20, 5);  // at 30, 10 too early
  launch(60, 43, 6);  // at 53, 7 too early
  window.Piece(2);
  window.Add(Event::kRecordDevice, false, 110, kWorker, 0);
  launch(140, 27, 7);  // at 137, 3 too early
  launch(160, 90, 8);  // at 200
  const Trace trace = window.Import();
  std::vector<int64_t> starts;
  for (size_t i = 0; i < trace.spans().size(); ++i) {
    if (trace.text(trace.spans().category[i]) == "Kernel") starts.push_back(trace.spans().start[i].ns);
  }
  EXPECT_EQ(starts, (std::vector<int64_t>{40, 63, 140, 203}));
  EXPECT_EQ(trace.problems().size(), 0u) << "the records do not say when the first event of a device was";
}

TEST(RecordingOfMegEngine, ShowsNothingOfWhereItsPiecesMeet) {
  NativeWindow window;
  window.Add(Event::kStartProfile, false, 1, kWorker);
  window.Add(Event::kTensorDeclare, false, 2, kWorker, 9, 0, "kept");
  window.Produce(3, 9);
  window.Add(Event::kStartProfile, true, 4, kWorker);
  window.Add(Event::kScope, false, 5, kInterpreter, 0, 0, "around");
  window.Add(Event::kStopProfile, false, 10, kWorker);
  window.Add(Event::kTensorRelease, false, 11, kWorker, 9);
  window.Add(Event::kTensorErase, false, 12, kWorker, 9);
  window.Add(Event::kStopProfile, true, 13, kWorker);
  window.Piece(2);
  window.Add(Event::kStartProfile, false, 20, kWorker);
  window.Add(Event::kTensorDeclare, false, 21, kWorker, 9, 0, "kept");
  window.Produce(22, 9);
  window.Add(Event::kStartProfile, true, 23, kWorker);
  window.Add(Event::kScope, true, 30, kInterpreter, 0, 0, "around");
  window.Add(Event::kStopProfile, false, 40, kWorker);
  window.Add(Event::kTensorRelease, false, 41, kWorker, 9);
  window.Add(Event::kTensorErase, false, 42, kWorker, 9);
  window.Add(Event::kStopProfile, true, 43, kWorker);
  const Trace trace = window.Import();
  const auto rows = SpansByName(trace);
  ASSERT_EQ(trace.spans().size(), 3u);
  EXPECT_EQ(trace.spans().start[rows.at("StartProfile")].ns, 1);
  EXPECT_EQ(trace.spans().start[rows.at("StopProfile")].ns, 40);
  EXPECT_EQ(trace.spans().duration[rows.at("around")].ns, 25);
  ASSERT_EQ(trace.tensor_lives().size(), 1u);
  EXPECT_EQ(trace.tensor_lives().produced[0].ns, 3);
  EXPECT_EQ(trace.tensor_lives().duration[0].ns, 38);
  EXPECT_EQ(trace.tensor_lives().bytes[0], 24u);
  EXPECT_EQ(trace.text(trace.tensor_lives().name[0]), "kept");
  EXPECT_EQ(trace.problems().size(), 0u);
}

TEST(RecordingOfMegEngine, EndsWithAnExceptionWhatItEnds) {
  NativeWindow window;
  window.Add(Event::kOpDispatch, false, 1, kInterpreter, 5, 0, "ADD");
  window.Add(Event::kOpExecute, false, 10, kWorker, 5, 0, "cmd");
  window.Add(Event::kOpInput, false, 11, kWorker, 3);
  window.Add(Event::kWorkerException, false, 20, kWorker);
  window.Pair(Event::kTensorCommand, 30, 35, kWorker, 3, static_cast<uint16_t>(MegEngineCommand::kDel));
  const Trace trace = window.Import();
  const auto rows = SpansByName(trace);
  for (const char* name : {"ADD", "Input"}) {
    const size_t row = rows.at(name);
    EXPECT_EQ(trace.spans().start[row].ns + trace.spans().duration[row].ns, 20) << name;
    EXPECT_NE(trace.spans().flags[row] & span_flags::kUnfinished, 0) << name;
  }
  EXPECT_EQ(trace.spans().depth[rows.at("Del")], 0);
  ASSERT_EQ(trace.counters().size(), 1u);
  EXPECT_EQ(trace.text(trace.counters().name[0]), "nr_exception");
}

TEST(RecordingOfMegEngine, PutsTheNameOfAnOperatorAmongItsParametersInOrder) {
  for (const auto& [members, wanted] : std::map<std::string, std::string>{
           {"", "\"__name__\": \"ADD\""},
           {"\"mode\": \"a\\\"b\"", "\"__name__\": \"ADD\", \"mode\": \"a\\\"b\""},
           {"\"A\": \"1\", \"B\": \"x, \\\"y\"", "\"A\": \"1\", \"B\": \"x, \\\"y\", \"__name__\": \"ADD\""},
           {"\"A\": \"1\", \"b\": \"2\"", "\"A\": \"1\", \"__name__\": \"ADD\", \"b\": \"2\""}}) {
    ChunkBytes chunk({.size = 4096});
    Record record;
    record.kind = RecordKind::kNative;
    record.source = RecordSource::kMegEngine;
    record.scope = static_cast<uint8_t>(Event::kOpDispatch);
    record.start = kStart;
    record.name = chunk.Name("ADD");
    if (!members.empty()) {
      const uint32_t place = chunk.Name(members);
      record.payload = chunk.Side(PayloadBytes().Field(payload_fields::kKeywords, {place}).Finish());
    }
    chunk.Add(record);
    RecordingBytes bytes;
    bytes.Add(block_types::kWindowInfo, WindowInfoText(""));
    bytes.Add(block_types::kRawChunk, chunk.bytes());
    const Trace trace = ImportRecording(bytes.blocks).value();
    ASSERT_EQ(trace.spans().size(), 1u);
    EXPECT_EQ(trace.text(trace.spans().extra[0]), wanted);
  }
}

TEST(RecordingOfMegEngine, CountsRecordsThatContradictTheFormat) {
  NativeWindow window;
  window.Add(static_cast<Event>(200), false, 5, kWorker);
  window.Pair(Event::kScope, 10, 20, kWorker, 0, 0, "sound");
  const Trace trace = window.Import();
  EXPECT_EQ(trace.spans().size(), 1u);
  ASSERT_EQ(trace.problems().size(), 1u);
  EXPECT_EQ(trace.text(trace.problems().kind[0]), "damaged_record");
}

}  // namespace
}  // namespace opscope
