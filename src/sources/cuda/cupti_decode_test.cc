// Records of CUPTI, made by hand, and what is made of them.
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/cupti_decode.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "opscope/recorder.h"
#include "sources/cuda/track_writer.h"

namespace opscope::cuda {
namespace {

using cupti::ActivityKind;
constexpr uint32_t k12_1 = 18, k13_0 = 130001;

template <typename T>
Decoded DecodeOne(const T& record, DecodedRecord* decoded, uint32_t version = k13_0) {
  return Decode(reinterpret_cast<const cupti::Activity*>(&record), version, decoded);
}

cupti::Kernel9 MakeKernel() {
  cupti::Kernel9 kernel{};
  kernel.kind = ActivityKind::kConcurrentKernel;
  kernel.registers_per_thread = 40;
  kernel.start = 1000, kernel.end = 1750;
  kernel.device = 1, kernel.context = 2, kernel.stream = 7;
  kernel.grid_x = 8, kernel.grid_y = 16, kernel.grid_z = 5;
  kernel.block_x = 128, kernel.block_y = 2, kernel.block_z = 3;
  kernel.static_shared_memory = 400, kernel.dynamic_shared_memory = 16;
  kernel.correlation = 0xfffffffe;
  kernel.name = "_Z3addPf";
  kernel.graph_id = 4, kernel.graph_node_id = uint64_t{5} << 40;
  kernel.channel = 9, kernel.channel_type = cupti::ChannelType::kCompute;
  return kernel;
}

TEST(CuptiDecode, ReadsAKernel) {
  DecodedRecord decoded;
  ASSERT_EQ(DecodeOne(MakeKernel(), &decoded), Decoded::kWhole);
  EXPECT_EQ(decoded.event, CudaEvent::kKernel);
  EXPECT_EQ(decoded.correlation, 0xfffffffeu);
  EXPECT_EQ(decoded.start, 1000u);
  EXPECT_EQ(decoded.duration, 750u);
  EXPECT_STREQ(decoded.name, "_Z3addPf");
  const auto kernel = decoded.DetailsAs<CudaKernelDetails>();
  EXPECT_EQ(kernel.device, 1u);
  EXPECT_EQ(kernel.context, 2u);
  EXPECT_EQ(kernel.stream, 7u);
  EXPECT_EQ(kernel.grid[2], 5u);
  EXPECT_EQ(kernel.block[0], 128u);
  EXPECT_EQ(kernel.static_shared, 400u);
  EXPECT_EQ(kernel.dynamic_shared, 16u);
  EXPECT_EQ(kernel.registers, 40u);
  EXPECT_EQ(kernel.graph, 4u);
  EXPECT_EQ(kernel.graph_node, uint64_t{5} << 40);
}

TEST(CuptiDecode, TellsWorkThatHasNoStartOrNoEnd) {
  DecodedRecord decoded;
  cupti::Kernel9 kernel = MakeKernel();
  kernel.end = 0;
  EXPECT_EQ(DecodeOne(kernel, &decoded), Decoded::kIncomplete);
  cupti::Memcpy5 copy{};
  copy.kind = ActivityKind::kMemcpy;
  copy.end = 5;
  EXPECT_EQ(DecodeOne(copy, &decoded), Decoded::kIncomplete);
  cupti::Memset4 set{};
  set.kind = ActivityKind::kMemset;
  EXPECT_EQ(DecodeOne(set, &decoded), Decoded::kIncomplete);
}

TEST(CuptiDecode, ReadsCopiesAndSets) {
  DecodedRecord decoded;
  cupti::Memcpy5 copy{};
  copy.kind = ActivityKind::kMemcpy;
  copy.copy_kind = cupti::MemcpyKind::kHostToDevice;
  copy.source_kind = 1, copy.destination_kind = 3;
  copy.bytes = 92928, copy.start = 10, copy.end = 22, copy.stream = 7, copy.correlation = 14;
  ASSERT_EQ(DecodeOne(copy, &decoded), Decoded::kWhole);
  auto details = decoded.DetailsAs<CudaCopyDetails>();
  EXPECT_EQ(decoded.event, CudaEvent::kCopy);
  EXPECT_EQ(details.bytes, 92928u);
  EXPECT_EQ(details.copy_kind, 1);
  EXPECT_EQ(details.source_kind, 1);
  EXPECT_EQ(details.target_kind, 3);
  cupti::MemcpyPtoP4 peer{};
  peer.kind = ActivityKind::kMemcpy2;
  peer.copy_kind = cupti::MemcpyKind::kPeerToPeer;
  peer.start = 1, peer.end = 2, peer.source_device = 3, peer.destination_device = 4, peer.source_context = 5;
  peer.destination_context = 6;
  ASSERT_EQ(DecodeOne(peer, &decoded), Decoded::kWhole);
  details = decoded.DetailsAs<CudaCopyDetails>();
  EXPECT_EQ(decoded.event, CudaEvent::kPeerCopy);
  EXPECT_EQ(details.source_device, 3u);
  EXPECT_EQ(details.target_device, 4u);
  EXPECT_EQ(details.source_context, 5u);
  EXPECT_EQ(details.target_context, 6u);
  cupti::Memset4 set{};
  set.kind = ActivityKind::kMemset;
  set.bytes = 512, set.start = 1, set.end = 2, set.memory_kind = 3, set.value = 255;
  ASSERT_EQ(DecodeOne(set, &decoded), Decoded::kWhole);
  EXPECT_EQ(decoded.DetailsAs<CudaSetDetails>().bytes, 512u);
  EXPECT_EQ(decoded.DetailsAs<CudaSetDetails>().memory_kind, 3u);
}

TEST(CuptiDecode, ReadsCallsOfBothInterfaces) {
  DecodedRecord decoded;
  cupti::Api call{};
  call.kind = ActivityKind::kRuntime;
  call.cbid = 211, call.start = 5, call.end = 9, call.process = 11, call.thread = 12, call.correlation = 13;
  call.return_value = 2;
  ASSERT_EQ(DecodeOne(call, &decoded), Decoded::kWhole);
  EXPECT_EQ(decoded.event, CudaEvent::kRuntimeCall);
  EXPECT_EQ(decoded.domain, cupti::CallbackDomain::kRuntimeApi);
  EXPECT_EQ(decoded.duration, 4u);
  const auto details = decoded.DetailsAs<CudaCallDetails>();
  EXPECT_EQ(details.callback, 211u);
  EXPECT_EQ(details.process, 11u);
  EXPECT_EQ(details.thread, 12u);
  EXPECT_EQ(details.result, 2u);
  call.kind = ActivityKind::kDriver;
  ASSERT_EQ(DecodeOne(call, &decoded), Decoded::kWhole);
  EXPECT_EQ(decoded.event, CudaEvent::kDriverCall);
}

TEST(CuptiDecode, ReadsANodeThatRanOnTheCpu) {
  DecodedRecord decoded;
  cupti::GraphHostNode node{};
  node.kind = ActivityKind::kGraphHostNode;
  node.stream = 7, node.context = 2, node.device = 1, node.correlation = 13, node.graph_id = 4;
  node.graph_node_id = uint64_t{4} << 32 | 2;
  node.process = 77, node.thread = 78, node.start = 100, node.end = 350;
  ASSERT_EQ(DecodeOne(node, &decoded, cupti::GraphHostNode::kSince), Decoded::kWhole);
  EXPECT_EQ(decoded.event, CudaEvent::kHostNode);
  EXPECT_EQ(decoded.correlation, 13u);
  EXPECT_EQ(decoded.duration, 250u);
  const auto details = decoded.DetailsAs<CudaHostNodeDetails>();
  EXPECT_EQ(details.device, 1u);
  EXPECT_EQ(details.context, 2u);
  EXPECT_EQ(details.stream, 7u);
  EXPECT_EQ(details.graph, 4u);
  EXPECT_EQ(details.graph_node, uint64_t{4} << 32 | 2);
  EXPECT_EQ(details.process, 77u);
  EXPECT_EQ(details.thread, 78u);
  node.end = 0;
  EXPECT_EQ(DecodeOne(node, &decoded), Decoded::kIncomplete);
}

// What stands behind a struct of 12.1 is read where the version says that it is there, and nowhere else.
TEST(CuptiDecode, ReadsWhatLaterVersionsHaveOnlyThere) {
  DecodedRecord decoded;
  cupti::Overhead2 overhead{};
  overhead.first.kind = ActivityKind::kOverhead;
  overhead.first.overhead_kind = cupti::OverheadKind::kBufferFlush;
  overhead.correlation = 77;
  ASSERT_EQ(DecodeOne(overhead, &decoded, k12_1), Decoded::kWhole);
  EXPECT_EQ(decoded.correlation, 0u);
  EXPECT_EQ(decoded.DetailsAs<CudaOverheadDetails>().kind, 1u << 16);
  ASSERT_EQ(DecodeOne(overhead, &decoded, k13_0), Decoded::kWhole);
  EXPECT_EQ(decoded.correlation, 77u);
  cupti::Synchronization2 wait{};
  wait.first.kind = ActivityKind::kSynchronization;
  wait.first.type = cupti::SyncType::kEventSynchronize;
  wait.first.event = 9, wait.first.stream = cupti::kNoStream;
  wait.event_sync_id = 31;
  ASSERT_EQ(DecodeOne(wait, &decoded, k12_1), Decoded::kWhole);
  EXPECT_EQ(decoded.DetailsAs<CudaSynchronizationDetails>().event_record, 0u);
  ASSERT_EQ(DecodeOne(wait, &decoded), Decoded::kWhole);
  EXPECT_EQ(decoded.DetailsAs<CudaSynchronizationDetails>().event_record, 31u);
  cupti::CudaEvent2 event{};
  event.first.kind = ActivityKind::kCudaEvent;
  event.device = 2;
  ASSERT_EQ(DecodeOne(event, &decoded, k12_1), Decoded::kWhole);
  EXPECT_EQ(decoded.DetailsAs<CudaEventRecordDetails>().device, kCudaNoDevice);
  ASSERT_EQ(DecodeOne(event, &decoded), Decoded::kWhole);
  EXPECT_EQ(decoded.DetailsAs<CudaEventRecordDetails>().device, 2u);
  event.device_timestamp = 4000;
  ASSERT_EQ(DecodeOne(event, &decoded), Decoded::kWhole);
  EXPECT_EQ(decoded.start, 4000u);

  cupti::Environment sensor{};
  sensor.kind = ActivityKind::kEnvironment;
  sensor.device = 1, sensor.timestamp = 5000;
  sensor.environment_kind = cupti::EnvironmentKind::kPower;
  sensor.power.power = 250000, sensor.power.limit = 700000;
  ASSERT_EQ(DecodeOne(sensor, &decoded), Decoded::kWhole);
  EXPECT_EQ(decoded.start, 5000u);
  EXPECT_EQ(decoded.duration, uint64_t{700000} << 32 | 250000u);
  EXPECT_EQ(decoded.DetailsAs<CudaEnvironmentDetails>().kind, 3u);
}

TEST(CuptiDecode, ReadsWhatThereIs) {
  DecodedRecord decoded;
  cupti::Device4 device{};
  device.kind = ActivityKind::kDevice;
  device.id = 1, device.name = "NVIDIA H200", device.multiprocessors = 132, device.threads_per_warp = 32;
  device.max_warps_per_multiprocessor = 64;
  ASSERT_EQ(DecodeOne(device, &decoded), Decoded::kWhole);
  EXPECT_STREQ(decoded.name, "NVIDIA H200");
  EXPECT_EQ(decoded.DetailsAs<CudaDeviceDetails>().sms, 132u);
  EXPECT_EQ(decoded.DetailsAs<CudaDeviceDetails>().threads_per_sm, 2048u);
  cupti::Context context{};
  context.kind = ActivityKind::kContext;
  context.context = 3, context.device = 1, context.null_stream = 7;
  ASSERT_EQ(DecodeOne(context, &decoded), Decoded::kWhole);
  EXPECT_EQ(decoded.DetailsAs<CudaContextDetails>().null_stream, 7u);
  cupti::Stream stream{};
  stream.kind = ActivityKind::kStream;
  stream.stream = 13;
  ASSERT_EQ(DecodeOne(stream, &decoded), Decoded::kWhole);
  EXPECT_EQ(decoded.DetailsAs<CudaStreamDetails>().stream, 13u);
  cupti::GraphTrace graph{};
  graph.kind = ActivityKind::kGraphTrace;
  graph.graph = 5, graph.start = 1, graph.end = 3;
  ASSERT_EQ(DecodeOne(graph, &decoded), Decoded::kWhole);
  EXPECT_EQ(decoded.DetailsAs<CudaGraphDetails>().graph, 5u);
  cupti::Memory3 memory{};
  memory.kind = ActivityKind::kMemory2;
  memory.operation = cupti::MemoryOperation::kAllocation;
  memory.bytes = 4096, memory.address = 0x7000, memory.timestamp = 12;
  ASSERT_EQ(DecodeOne(memory, &decoded), Decoded::kWhole);
  EXPECT_EQ(decoded.start, 12u);
  EXPECT_EQ(decoded.DetailsAs<CudaMemoryDetails>().bytes, 4096u);
  cupti::ExternalCorrelation id{};
  id.kind = ActivityKind::kExternalCorrelation;
  id.external_id = 8, id.correlation = 9;
  ASSERT_EQ(DecodeOne(id, &decoded), Decoded::kWhole);
  EXPECT_EQ(decoded.DetailsAs<CudaExternalIdDetails>().id, 8u);
}

TEST(CuptiDecode, TellsUnknownKindsFromThoseThatItLeavesOut) {
  DecodedRecord decoded;
  cupti::Activity record{ActivityKind{4711}};
  EXPECT_EQ(DecodeOne(record, &decoded), Decoded::kUnknown);
  record.kind = ActivityKind::kName;
  EXPECT_EQ(DecodeOne(record, &decoded), Decoded::kLeftOut);
}

ClockPair NoClock() {
  return {.cupti_ns = 1, .ticks = 2, .bound_ticks = 3};
}

struct FreeWindow {
  void operator()(Window* window) const { opscope_window_free(window); }
};

// A loop that launches some kernels again and again: what they have alike is written once per chunk.
TEST(CudaTrack, TakesFewBytesForARecord) {
  constexpr uint64_t kKernels = 100'000;
  const std::unique_ptr<Window, FreeWindow> window(opscope_window_open(
      [] {
        static const WindowOptions options{.native_threads = NativeThreads::kNone};
        return &options;
      }(),
      nullptr));
  ASSERT_NE(window, nullptr);
  const TrackOptions options{.name = "CUDA"};
  TrackWriter writer(opscope_track_open(window.get(), &options), &NoClock);
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i)
    names.push_back("_ZN2at6native18elementwise_kernelILi128ELi4EEvT0_" + std::to_string(i));
  cupti::Kernel9 kernel = MakeKernel();
  DecodedRecord decoded;
  for (uint32_t i = 0; i < kKernels; ++i) {
    kernel.correlation = i;
    kernel.start += 1000, kernel.end += 1000;
    kernel.grid_x = static_cast<int32_t>(i % 40);
    kernel.name = names[i % 40].c_str();
    ASSERT_EQ(DecodeOne(kernel, &decoded), Decoded::kWhole);
    ASSERT_TRUE(writer.Write(decoded));
  }
  opscope_track_close(writer.track());
  opscope_window_close(window.get());
  const WindowCounts counts = opscope_window_counts(window.get());
  EXPECT_EQ(counts.dropped, 0u);
  EXPECT_EQ(counts.recorded, kKernels + counts.chunks) << "each chunk says the clocks again";
  EXPECT_LT(counts.bytes, kKernels * 64);
}

}  // namespace
}  // namespace opscope::cuda
