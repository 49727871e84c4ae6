// Records of the CUDA source become what Kineto's files have: tracks of devices, calls among operators, arrows.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "import/recording/cuda_window_for_test.h"

namespace opscope {
namespace {

using testing::HasSubstr;

TEST(RecordingOfCuda, PutsCallsAmongTheOperatorsThatMadeThem) {
  CudaWindow window;
  window.Operator("aten::addmm", 1200, 1300, 1);
  window.Operator("aten::linear", 1100, 1400, 0);
  window.Call("cudaLaunchKernel_v7000", 1210, 1220, 35);
  window.Kernel("_Z3addPf", 1500, 1600, 35);
  const Trace trace = window.Import();
  const Rows rows(trace);
  const SpanColumns& spans = trace.spans();
  const size_t inner = rows["cpu_op aten::addmm"], call = rows["cuda_runtime cudaLaunchKernel"];
  const size_t kernel = rows["kernel add(float*)"];
  EXPECT_EQ(spans.parent[call], SpanId{static_cast<uint32_t>(inner)});
  EXPECT_EQ(spans.parent[inner], SpanId{static_cast<uint32_t>(rows["cpu_op aten::linear"])});
  EXPECT_EQ(spans.external_id[call], spans.external_id[inner]);
  EXPECT_EQ(spans.external_id[kernel], spans.external_id[inner]);
  EXPECT_EQ(spans.correlation[kernel], 35u);
  EXPECT_EQ(spans.kind[call], SpanKind::kRuntimeCall);
  EXPECT_EQ(spans.kind[kernel], SpanKind::kKernel);
  EXPECT_EQ(spans.duration[kernel].ns, 100);
  EXPECT_EQ((spans.start[kernel] - spans.start[inner]).ns, 300) << "clocks are one";
  EXPECT_EQ(rows.extra("cuda_runtime cudaLaunchKernel"), "\"cbid\": 211");
  ASSERT_EQ(trace.flows().size(), 1u);
  EXPECT_EQ(trace.text(trace.flows().category[0]), "ac2g");
  EXPECT_EQ(trace.flows().id[0], 35u);
  EXPECT_EQ(trace.flows().start_span[0], SpanId{static_cast<uint32_t>(call)});
  EXPECT_EQ(trace.flows().end_span[0], SpanId{static_cast<uint32_t>(kernel)});
  EXPECT_EQ(trace.info().recorded, 4u) << "the source's own notes are no records of the program";
}

TEST(RecordingOfCuda, NamesDevicesAndStreamsAsKinetoDoes) {
  CudaWindow window;
  window.Device();
  window.Kernel("gemm", 1500, 1600, 1);
  const Trace trace = window.Import();
  const Rows rows(trace);
  const TrackId track = trace.spans().track[rows["kernel gemm"]];
  EXPECT_EQ(trace.tracks().kind[Row(track)], TrackKind::kDeviceStream);
  EXPECT_EQ(trace.tracks().tid[Row(track)], 7);
  EXPECT_EQ(trace.text(trace.tracks().name[Row(track)]), "stream 7 ");
  const ProcessId process = trace.tracks().process[Row(track)];
  EXPECT_EQ(trace.processes().pid[Row(process)], 0);
  EXPECT_EQ(trace.text(trace.processes().labels[Row(process)]), "GPU 0");
  EXPECT_EQ(rows.extra("kernel gemm"),
            "\"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, \"registers per thread\": 122, "
            "\"shared memory\": 12544, \"blocks per SM\": 5.925926, \"warps per SM\": 23.703703, "
            "\"grid\": [8, 16, 5], \"block\": [128, 1, 1], \"est. achieved occupancy %\": 25, "
            "\"graph id\": 0, \"graph node id\": 0");
  std::map<std::string, std::string> metadata;
  for (size_t i = 0; i < trace.metadata().size(); ++i)
    metadata[std::string(trace.text(trace.metadata().key[i]))] = trace.text(trace.metadata().json[i]);
  EXPECT_THAT(metadata["deviceProperties"], HasSubstr("\"numSms\": 108"));
  EXPECT_EQ(metadata["opscope_cuda_clock_bound_ns"], "7");
}

TEST(RecordingOfCuda, MakesCountersOfReadings) {
  CudaWindow window;
  const auto add = [&](uint64_t time, uint32_t device, CudaReading what, uint64_t value) {
    window.Add(CudaEvent::kReading, time, time + value, 0,
               CudaReadingDetails{.device = device, .what = static_cast<uint32_t>(what)});
  };
  add(1200, 1, CudaReading::kPowerMilliwatts, 412'500);
  add(1300, 1, CudaReading::kSmClockMegahertz, 1980);
  add(1400, 1, static_cast<CudaReading>(99), 5);  // of a newer opscope
  const Trace trace = window.Import();
  const CounterColumns& counters = trace.counters();
  ASSERT_EQ(counters.size(), 2u);
  EXPECT_EQ(trace.text(counters.name[0]), "GPU power (W)");
  EXPECT_EQ(counters.value[0], 412.5);
  EXPECT_EQ(trace.text(counters.name[1]), "GPU SM clock (MHz)");
  EXPECT_EQ(counters.value[1], 1980);
  EXPECT_EQ((counters.time[1] - counters.time[0]).ns, 100);
  const ProcessId process = trace.tracks().process[Row(counters.track[0])];
  EXPECT_EQ(trace.processes().pid[Row(process)], 1);
  EXPECT_EQ(trace.text(trace.processes().labels[Row(process)]), "GPU 1");
  EXPECT_EQ(trace.problems().size(), 0u);
  EXPECT_EQ(trace.info().recorded, 0u) << "so that it is as many as CUPTI has issued";
}

TEST(RecordingOfCuda, TellsBytesAndBandwidthOfCopiesAndSets) {
  CudaWindow window;
  window.Add(
      CudaEvent::kCopy, 1500, 1512, 3,
      CudaCopyDetails{.bytes = 92928, .context = 1, .stream = 7, .copy_kind = 1, .source_kind = 1, .target_kind = 3});
  window.Add(CudaEvent::kSet, 1600, 1600, 4, CudaSetDetails{.bytes = 512, .context = 1, .stream = 7, .memory_kind = 3});
  window.Add(CudaEvent::kPeerCopy, 1700, 1701, 5,
             CudaCopyDetails{.bytes = 8,
                             .device = 1,
                             .context = 1,
                             .stream = 9,
                             .copy_kind = 10,
                             .source_kind = 3,
                             .target_kind = 3,
                             .source_device = 0,
                             .source_context = 1,
                             .target_device = 1,
                             .target_context = 2});
  const Trace trace = window.Import();
  const Rows rows(trace);
  EXPECT_EQ(rows.extra("gpu_memcpy Memcpy HtoD (Pageable -> Device)"),
            "\"device\": 0, \"context\": 1, \"stream\": 7, \"graph id\": 0, \"graph node id\": 0, "
            "\"bytes\": 92928, \"memory bandwidth (GB/s)\": 7744");
  EXPECT_THAT(rows.extra("gpu_memset Memset (Device)"), Not(HasSubstr("bandwidth"))) << "it took no time";
  EXPECT_THAT(rows.extra("gpu_memcpy Memcpy PtoP (Device -> Device)"),
              HasSubstr("\"fromDevice\": 0, \"inDevice\": 1, \"toDevice\": 1, \"fromContext\": 1, \"inContext\": 1, "
                        "\"toContext\": 2"));
  EXPECT_EQ(trace.spans().kind[rows["gpu_memset Memset (Device)"]], SpanKind::kSet);
}

TEST(RecordingOfCuda, TellsDevicesInPaddlesWordsWhereAskedTo) {
  CudaWindow window;
  window.Device();
  window.Call("cudaGetDevice_v3020", 1100, 1101, 1);
  window.Call("cuLaunchKernel", 1105, 1108, 2, kLaunchingThread, CudaEvent::kDriverCall);
  window.Kernel("_Z3addPf", 1500, 1600, 2);
  window.Add(
      CudaEvent::kCopy, 1500, 1512, 3,
      CudaCopyDetails{.bytes = 9, .context = 1, .stream = 7, .copy_kind = 1, .source_kind = 1, .target_kind = 3});
  window.Add(CudaEvent::kSet, 1600, 1600, 4,
             CudaSetDetails{.bytes = 512, .context = 1, .stream = 7, .value = 3, .memory_kind = 3});
  const Trace trace = window.Import(R"("metadata":{"opscope.paddle_devices":1})");
  const Rows rows(trace);
  EXPECT_EQ(rows.extra("CudaRuntime cudaGetDevice_v3020"), "\"callback id\": 211");
  EXPECT_EQ(trace.spans().kind[rows["CudaRuntime cuLaunchKernel"]], SpanKind::kDriverCall);
  EXPECT_THAT(rows.extra("Kernel add(float*)"),
              HasSubstr("\"stream\": 7, \"registers per thread\": 122, \"shared memory\": 12544, "
                        "\"blocks per SM\": 5.925926, \"warps per SM\": 23.703703, \"grid\": [8, 16, 5], "
                        "\"block\": [128, 1, 1], \"theoretical achieved occupancy %\": 25.000"));
  EXPECT_THAT(rows.extra("Memcpy MEMCPY_HtoD"),
              HasSubstr("\"bytes\": 9, \"copy kind\": \"MEMCPY_HtoD\", \"source kind\": \"Pageable\", "
                        "\"destination kind\": \"Device\""));
  EXPECT_THAT(rows.extra("Memset MEMSET"), HasSubstr("\"bytes\": 512, \"value\": 3"));
  ASSERT_EQ(trace.flows().size(), 1u);
  EXPECT_EQ(trace.text(trace.flows().name[0]), "launch");
  for (size_t i = 0; i < trace.metadata().size(); ++i)
    EXPECT_NE(trace.text(trace.metadata().key[i]), "opscope.paddle_devices") << "it is no fact about the run";
}

// The calls of a window are in an array where their numbers are dense, else in a sorted list.
TEST(RecordingOfCuda, TheFirstOfTwoDriverCallsWithOneNumberLaunchesHoweverDenseTheOthersAre) {
  for (const uint32_t other : {8u, 5'000'000u}) {
    CudaWindow window;
    window.Call("cuLaunchKernelEx", 1100, 1101, 7, kLaunchingThread, CudaEvent::kDriverCall);
    window.Call("cuLaunchKernel", 1110, 1111, 7, kLaunchingThread, CudaEvent::kDriverCall);
    window.Call("cudaLaunchKernel_v7000", 1120, 1121, other);
    window.Kernel("triton_poi", 1200, 1210, 7);
    const Trace trace = window.Import();
    ASSERT_EQ(trace.flows().size(), 1u);
    const uint32_t launcher = Row(trace.flows().start_span[0]);
    EXPECT_EQ(trace.text(trace.spans().name[launcher]), "cuLaunchKernelEx") << "beside call " << other;
  }
}

TEST(RecordingOfCuda, ShowsTheCallsThatKinetoShows) {
  CudaWindow window;
  window.Call("cudaGetDevice_v3020", 1100, 1101, 1);
  window.Call("cudaEventCreateWithFlags_v3020", 1110, 1111, 2);
  window.Call("cudaStreamIsCapturing_v10000", 1120, 1121, 3);
  window.Call("cuCtxGetCurrent", 1130, 1131, 4, kLaunchingThread, CudaEvent::kDriverCall);
  window.Call("cuLaunchKernelEx", 1140, 1141, 5, kLaunchingThread, CudaEvent::kDriverCall);
  window.Kernel("triton_poi", 1200, 1210, 5);
  const Trace trace = window.Import();
  const Rows rows(trace);
  EXPECT_EQ(trace.spans().size(), 3u);
  EXPECT_EQ(trace.spans().kind[rows["cuda_driver cuLaunchKernelEx"]], SpanKind::kDriverCall);
  EXPECT_EQ(trace.spans().kind[rows["cuda_runtime cudaStreamIsCapturing"]], SpanKind::kRuntimeCall);
  EXPECT_EQ(trace.flows().size(), 1u);
}

TEST(RecordingOfCuda, DrawsTheInnermostRangeOnEachStream) {
  CudaWindow window;
  window.Operator("aten::mm", 1110, 1300, 2);
  window.Operator("inner", 1105, 1310, 1, true);
  window.Operator("outer", 1100, 1400, 0, true);
  window.Call("cudaLaunchKernel", 1120, 1130, 1);
  window.Call("cudaLaunchKernel", 1140, 1150, 2);
  window.Call("cudaLaunchKernel", 1160, 1170, 3);
  window.Kernel("a", 1500, 1600, 1);
  window.Kernel("b", 1700, 1800, 2);
  window.Kernel("c", 1650, 1660, 3, 8);
  const Trace trace = window.Import();
  std::map<int64_t, std::vector<int64_t>> drawn;
  for (size_t i = 0; i < trace.spans().size(); ++i) {
    if (trace.spans().kind[i] != SpanKind::kDeviceAnnotation) continue;
    EXPECT_EQ(trace.text(trace.spans().name[i]), "inner");
    const TrackId track = trace.spans().track[i];
    EXPECT_EQ(trace.tracks().kind[Row(track)], TrackKind::kDeviceAnnotation);
    drawn[trace.tracks().tid[Row(track)]] = {trace.spans().start[i].ns, trace.spans().duration[i].ns};
  }
  const Rows rows(trace);
  const auto start_of = [&](const char* name) { return trace.spans().start[rows[name]].ns; };
  EXPECT_EQ(drawn[7], (std::vector<int64_t>{start_of("kernel a") - 1, 302}));
  EXPECT_EQ(drawn[8], (std::vector<int64_t>{start_of("kernel c") - 1, 12}));
}

TEST(RecordingOfCuda, LeavesWhatNoOperatorLaunchedWithoutItsNumber) {
  CudaWindow window;
  window.Operator("aten::mm", 1100, 1200, 0);
  window.Call("cudaLaunchKernel", 1300, 1310, 1);
  window.Kernel("late", 1500, 1600, 1);
  window.Call("cudaLaunchKernel", 1150, 1160, 2, 9999);
  window.Kernel("elsewhere", 1700, 1800, 2);
  const Trace trace = window.Import();
  const Rows rows(trace);
  EXPECT_EQ(trace.spans().external_id[rows["kernel late"]], 0u);
  EXPECT_EQ(trace.spans().external_id[rows["kernel elsewhere"]], 0u) << "another thread than the operator's";
}

TEST(RecordingOfCuda, FollowsNumbersThatWrap) {
  CudaWindow window;
  window.Operator("aten::mm", 1100, 1400, 0);
  window.Call("cudaLaunchKernel", 1110, 1120, 0xffffffff);
  window.Call("cudaLaunchKernel", 1130, 1140, 1);
  window.Kernel("last", 1500, 1510, 0xffffffff);
  window.Kernel("first", 1600, 1610, 1);
  window.Kernel("earlier", 1050, 1060, 0xfffffff0);
  const Trace trace = window.Import();
  const Rows rows(trace);
  EXPECT_EQ(trace.spans().correlation[rows["kernel last"]], 0xffffffffu);
  EXPECT_NE(trace.spans().external_id[rows["kernel last"]], 0u);
  EXPECT_NE(trace.spans().external_id[rows["kernel first"]], 0u);
  EXPECT_EQ(trace.flows().size(), 2u);
  EXPECT_FALSE(rows.row.contains("kernel earlier")) << "launched before the window";
}

TEST(RecordingOfCuda, CountsWhatBeginsBeforeItsCallAndKeepsItsTimes) {
  CudaWindow window;
  window.Call("cudaLaunchKernel", 1200, 1210, 1);
  window.Kernel("early", 1150, 1160, 1);
  const Trace trace = window.Import();
  const Rows rows(trace);
  EXPECT_EQ(CountOf(trace, "device_clock"), 1u);
  EXPECT_EQ((trace.spans().start[rows["cuda_runtime cudaLaunchKernel"]] - trace.spans().start[rows["kernel early"]]).ns,
            50);
}

TEST(RecordingOfCuda, SaysWhichEventWasWaitedFor) {
  CudaWindow window;
  window.Kernel("work", 1100, 1110, 9, 20);
  window.Add(CudaEvent::kEventRecord, 1200, 1200, 32,
             CudaEventRecordDetails{.event = 9, .context = 1, .stream = 20, .device = kCudaNoDevice});
  window.Add(CudaEvent::kSynchronization, 1300, 1304, 54,
             CudaSynchronizationDetails{.type = 1, .context = 1, .stream = 0xffffffff, .event = 9});
  window.Add(CudaEvent::kSynchronization, 1310, 1311, 55,
             CudaSynchronizationDetails{.type = 2, .context = 1, .stream = 24, .event = 9});
  window.Add(CudaEvent::kSynchronization, 1320, 1321, 56,
             CudaSynchronizationDetails{.type = 3, .context = 1, .stream = 20, .event = 0xffffffff});
  window.Add(CudaEvent::kOverhead, 1400, 1450, 0, CudaOverheadDetails{.kind = 1 << 16});
  const Trace trace = window.Import();
  const Rows rows(trace);
  EXPECT_EQ(rows.extra("cuda_sync Event Sync"),
            "\"cuda_sync_kind\": \"Event Sync\", \"wait_on_stream\": 20, \"wait_on_cuda_event_record_corr_id\": 32, "
            "\"wait_on_cuda_event_id\": 9, \"stream\": -1, \"device\": 0, \"context\": 1");
  EXPECT_EQ(rows.extra("cuda_sync Stream Sync"),
            "\"cuda_sync_kind\": \"Stream Sync\", \"stream\": 20, \"device\": 0, \"context\": 1");
  EXPECT_FALSE(rows.row.contains("cuda_sync Stream Wait Event")) << "nothing has run on that stream";
  EXPECT_EQ(trace.spans().kind[rows["overhead Buffer Flush"]], SpanKind::kOverhead);
  const ProcessId process = trace.tracks().process[Row(trace.spans().track[rows["overhead Buffer Flush"]])];
  EXPECT_EQ(trace.processes().pid[Row(process)], -1);
}

TEST(RecordingOfCuda, TellsWhatTheSourceFoundWrong) {
  CudaWindow window;
  const Trace trace = window.Import(R"("metadata":{"opscope.device_problems":[["device_dropped","",12,""],)"
                                    R"(["device_call_failed","info",1,"cuptiActivityDisable: CUPTI_ERROR_UNKNOWN"]]})");
  EXPECT_EQ(CountOf(trace, "device_dropped"), 12u);
  EXPECT_EQ(CountOf(trace, "device_call_failed"), 1u);
  for (size_t i = 0; i < trace.problems().size(); ++i) {
    const bool is_call = trace.text(trace.problems().kind[i]) == "device_call_failed";
    EXPECT_EQ(trace.problems().severity[i], is_call ? ProblemSeverity::kInfo : ProblemSeverity::kDataLoss);
    if (is_call) {
      EXPECT_THAT(std::string(trace.text(trace.problems().message[i])), HasSubstr("CUPTI_ERROR_UNKNOWN"));
    }
  }
}

TEST(RecordingOfCuda, HasNoStreamOfWorkThatWasLaunchedBeforeTheWindow) {
  CudaWindow window;
  window.Call("cudaLaunchKernel", 1100, 1110, 5);
  window.Kernel("mine", 1200, 1210, 5, 7);
  window.Kernel("earlier", 1050, 1060, 4, 13);
  window.Add(CudaEvent::kSynchronization, 1310, 1311, 6,
             CudaSynchronizationDetails{.type = 2, .context = 1, .stream = 13, .event = 9});
  const Trace trace = window.Import();
  EXPECT_EQ(trace.spans().size(), 2u) << "a stream that did nothing waits for nothing, as Kineto has it";
  for (size_t i = 0; i < trace.tracks().size(); ++i)
    EXPECT_NE(trace.tracks().tid[i], 13);
}

TEST(RecordingOfCuda, LeavesOutReadingsFromBeforeTheWindow) {
  CudaWindow window;
  window.Add(CudaEvent::kWindow, 1100, 1900, 0, CudaClockDetails{});
  for (const uint64_t time : {1090, 1200}) {
    window.Add(CudaEvent::kReading, time, time + 412'500, 0,
               CudaReadingDetails{.what = static_cast<uint32_t>(CudaReading::kPowerMilliwatts)});
  }
  EXPECT_EQ(window.Import().counters().size(), 1u) << "a reading has no length";
}

// Records of events come in the order of the buffers. A search through all of them for each wait would compare
// 900,000,000 numbers here, and far more in an hour of training.
TEST(RecordingOfCuda, FindsTheEventOfEachOfManyWaits) {
  constexpr uint32_t kWaits = 30'000;
  CudaWindow window(16 << 20);
  window.Kernel("work", 1100, 1110, 1, 20);
  for (uint32_t i = kWaits; i > 0; --i) {
    window.Add(CudaEvent::kEventRecord, 1200, 1200, 10 * i,
               CudaEventRecordDetails{.event = 9, .context = 1, .stream = i, .device = kCudaNoDevice, .number = i});
    window.Add(CudaEvent::kSynchronization, 1300, 1304, 10 * i + 5,
               CudaSynchronizationDetails{
                   .type = 1, .context = 1, .stream = 20, .event = 9, .event_record = i % 2 == 0 ? 0 : i / 2 + 1});
  }
  const Trace trace = window.Import();
  uint32_t waits = 0;
  for (size_t i = 0; i < trace.spans().size(); ++i) {
    if (trace.text(trace.spans().category[i]) != "cuda_sync") continue;
    const uint32_t number = trace.spans().correlation[i] / 10;
    const std::string record = std::to_string(number % 2 == 0 ? number : number / 2 + 1);
    const std::string wanted =
        "\"wait_on_stream\": " + record + ", \"wait_on_cuda_event_record_corr_id\": " + record + "0,";
    ASSERT_THAT(std::string(trace.text(trace.spans().extra[i])), HasSubstr(wanted));
    ++waits;
  }
  EXPECT_EQ(waits, kWaits);
}

TEST(RecordingOfCuda, HasSensorsOfADeviceThatRanWholeGraphsAlone) {
  CudaWindow window;
  window.Add(CudaEvent::kGraph, 1200, 1300, 0, CudaGraphDetails{.context = 1, .stream = 7, .graph = 3});
  window.Add(CudaEvent::kEnvironment, 1250, 1250 + 1980, 0, CudaEnvironmentDetails{.kind = 1});
  const Trace trace = window.Import();
  ASSERT_EQ(trace.counters().size(), 2u);
  EXPECT_EQ(trace.text(trace.counters().name[0]), "SM Clock (MHz)");
  EXPECT_EQ(trace.counters().value[0], 1980);
}

}  // namespace
}  // namespace opscope
