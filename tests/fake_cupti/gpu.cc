// The simulated GPUs. No work is executed: a launch only computes when it starts (after the launch latency, and after
// the previous work of its stream) and when it ends. Its record stays in the stream's queue until the real clock has
// passed that end; Collect() then writes all finished records in the order that the scenario asks for. Waiting for a
// stream is a sleep until its last end.
// SPDX-License-Identifier: Apache-2.0
#include "gpu.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "buffers.h"
#include "session.h"

namespace fake {
namespace {

constexpr std::uint32_t kFirstStream = 7;
constexpr std::uint32_t kStreamsOfDevice = 1000;

struct Gpu {
  std::set<std::uint32_t> contexts;  // devices that have one
  std::map<std::uint32_t, DeviceStream> streams;
  std::uint32_t next_stream = 13;
  bool has_written_devices = false;
  std::uint64_t kernels_ended = 0;
  std::mt19937_64 random{42};
};

Gpu& TheGpu() {
  static Gpu& gpu = *new Gpu;
  return gpu;
}

std::uint32_t ContextOf(std::uint32_t device) {
  return device + 1;
}

void WriteDevice(std::uint32_t id) {
  static constexpr char kName[] = "Simulated GPU";
  Record<cupti::Device6> record;
  cupti::Device4& device = record->first.first;
  device.kind = cupti::ActivityKind::kDevice;
  device.global_memory_bandwidth = 4'800'000'000;
  device.global_memory_size = std::uint64_t{141} << 30;
  device.constant_memory_size = 65536;
  device.l2_cache_size = 60 << 20;
  device.threads_per_warp = 32;
  device.core_clock_rate = 1'980'000;
  device.memcpy_engines = 3;
  device.multiprocessors = 132;
  device.max_instructions_per_cycle = 4;
  device.max_warps_per_multiprocessor = 64;
  device.max_blocks_per_multiprocessor = 32;
  device.max_shared_memory_per_multiprocessor = 233472;
  device.max_registers_per_multiprocessor = 65536;
  device.max_registers_per_block = 65536;
  device.max_shared_memory_per_block = 49152;
  device.max_threads_per_block = 1024;
  device.max_block_x = device.max_block_y = 1024;
  device.max_block_z = 64;
  device.max_grid_x = 2147483647;
  device.max_grid_y = device.max_grid_z = 65535;
  device.compute_capability_major = 9;
  device.id = id;
  device.uuid[0] = static_cast<std::uint8_t>(id + 1);
  device.name = kName;
  device.is_cuda_visible = 1;
  record->tpcs = 66;
  WriteRecord(kDeviceBuffer, device.kind, record.bytes);
}

void WriteContext(std::uint32_t device) {
  Record<cupti::Context4> record;
  cupti::Context& context = record->first.first.first;
  context.kind = cupti::ActivityKind::kContext;
  context.context = ContextOf(device);
  context.device = device;
  context.compute_api = 1;
  context.null_stream = static_cast<std::uint16_t>(kFirstStream + kStreamsOfDevice * device);
  WriteRecord(kDeviceBuffer, context.kind, record.bytes);
}

void WriteStream(const DeviceStream& stream, std::uint32_t priority, std::uint32_t correlation) {
  Record<cupti::Stream> record;
  record->kind = cupti::ActivityKind::kStream;
  record->context = stream.context;
  record->stream = stream.id;
  record->priority = priority;
  record->flag = correlation == 0 ? cupti::StreamFlag::kNull : cupti::StreamFlag::kNonBlocking;
  record->correlation = correlation;
  WriteRecord(kDeviceBuffer, record->kind, record.bytes);
}

// The member `start` of a record, which `end` follows; null for kinds without times.
std::uint64_t* TimesOf(std::uint8_t* record) {
  using enum cupti::ActivityKind;
  switch (reinterpret_cast<cupti::Activity*>(record)->kind) {
    case kConcurrentKernel:
    case kKernel:
      return &reinterpret_cast<cupti::Kernel9*>(record)->start;
    case kMemcpy:
      return &reinterpret_cast<cupti::Memcpy5*>(record)->start;
    case kMemcpy2:
      return &reinterpret_cast<cupti::MemcpyPtoP4*>(record)->start;
    case kMemset:
      return &reinterpret_cast<cupti::Memset4*>(record)->start;
    case kGraphHostNode:
      return &reinterpret_cast<cupti::GraphHostNode*>(record)->start;
    case kGraphTrace:
      return &reinterpret_cast<cupti::GraphTrace*>(record)->start;
    default:
      return nullptr;
  }
}

void WritePending(Pending& pending, bool is_finished, std::uint64_t now) {
  const Scenario& scenario = Now();
  const auto kind = pending.record->kind;
  if (std::uint64_t* times = TimesOf(pending.record.bytes)) {
    const std::uint64_t number = ++TheGpu().kernels_ended;
    const bool is_spoilt = scenario.incomplete_every != 0 && number % scenario.incomplete_every == 0;
    times[0] = is_spoilt || pending.start > now ? 0 : pending.start;
    times[1] = is_spoilt || !is_finished ? 0 : pending.end;
  } else if (kind == cupti::ActivityKind::kCudaEvent && TheSession().event_timestamps) {
    reinterpret_cast<cupti::CudaEvent2*>(pending.record.bytes)->device_timestamp = pending.end;
  }
  WriteRecord(kDeviceBuffer, kind, pending.record.bytes);
}

// Releases the lock while it waits.
void WaitUntil(std::uint64_t real_time, Locked& lock) {
  lock.Without([&] {
    while (true) {
      const std::uint64_t now = Timestamp();
      if (now >= real_time) return;
      if (real_time - now > 100'000) {
        std::this_thread::sleep_for(std::chrono::nanoseconds(real_time - now - 50'000));
      } else {
        std::this_thread::yield();
      }
    }
  });
}

}  // namespace

void MakeContext(std::uint32_t device) {
  Gpu& gpu = TheGpu();
  if (device >= Now().devices || !gpu.contexts.insert(device).second) return;
  DeviceStream& stream = gpu.streams[kFirstStream + kStreamsOfDevice * device];
  stream.id = kFirstStream + kStreamsOfDevice * device;
  stream.device = device;
  stream.context = ContextOf(device);
  if (!gpu.has_written_devices && IsEnabled(cupti::ActivityKind::kDevice)) DumpDevices();
  if (IsEnabled(cupti::ActivityKind::kContext)) WriteContext(device);
  if (IsEnabled(cupti::ActivityKind::kStream)) WriteStream(stream, 0, 0);
}

DeviceStream* StreamOfWork(std::uint32_t id) {
  Gpu& gpu = TheGpu();
  if (id % kStreamsOfDevice == kFirstStream) MakeContext(id / kStreamsOfDevice);
  const auto found = gpu.streams.find(id);
  return found == gpu.streams.end() ? nullptr : &found->second;
}

std::uint32_t CreateStream(std::uint32_t device, std::uint32_t priority, std::uint32_t correlation) {
  Gpu& gpu = TheGpu();
  if (device >= Now().devices) return 0;
  MakeContext(device);
  const std::uint32_t id = gpu.next_stream++ + kStreamsOfDevice * device;
  DeviceStream& stream = gpu.streams[id];
  stream.id = id;
  stream.device = device;
  stream.context = ContextOf(device);
  if (IsEnabled(cupti::ActivityKind::kStream)) WriteStream(stream, priority, correlation);
  return id;
}

Interval Schedule(DeviceStream& stream, const ApiCall& call, std::uint64_t duration_ns) {
  const Scenario& scenario = Now();
  std::uint64_t start = std::max(Timestamp() + scenario.latency_ns, stream.idle_from);
  if (scenario.early_ns != 0) start = call.begin() - scenario.early_ns;
  stream.idle_from = start + duration_ns;
  return {start, start + duration_ns};
}

void WaitForRoom(DeviceStream& stream, Locked& lock) {
  if (stream.pending.size() % 64 == 63) Collect();
  while (stream.pending.size() >= Now().queue) {
    WaitUntil(stream.pending.front().end, lock);
    Collect();
  }
}

void Collect(bool forced) {
  Gpu& gpu = TheGpu();
  // All work counts as finished, before the call itself has ended, so that the call's record follows later.
  const bool at_once = Now().order == Order::kDeviceFirst;
  const std::uint64_t now = at_once ? ~std::uint64_t{0} : Timestamp();
  std::vector<Pending> finished;
  for (auto& [id, stream] : gpu.streams) {
    while (!stream.pending.empty() && (forced || stream.pending.front().end <= now)) {
      finished.push_back(std::move(stream.pending.front()));
      stream.pending.pop_front();
    }
  }
  switch (Now().order) {
    case Order::kCompletion:
    case Order::kDeviceFirst:
      std::stable_sort(finished.begin(), finished.end(),
                       [](const Pending& a, const Pending& b) { return a.end < b.end; });
      break;
    case Order::kReversed:
      std::reverse(finished.begin(), finished.end());
      break;
    case Order::kShuffled:
      std::shuffle(finished.begin(), finished.end(), gpu.random);
      break;
  }
  for (Pending& pending : finished)
    WritePending(pending, pending.end <= now, now);
}

void WaitForStream(std::uint32_t id, Locked& lock) {
  const DeviceStream* stream = StreamOfWork(id);
  if (stream == nullptr) return;
  WaitUntil(stream->idle_from, lock);
  Collect();
}

void WaitForDevice(std::uint32_t device, Locked& lock) {
  std::uint64_t idle = 0;
  for (const auto& [id, stream] : TheGpu().streams) {
    if (stream.device == device) idle = std::max(idle, stream.idle_from);
  }
  WaitUntil(idle, lock);
  Collect();
}

void DumpDevices() {
  TheGpu().has_written_devices = true;
  for (std::uint32_t device = 0; device < Now().devices; ++device)
    WriteDevice(device);
}

void DumpContexts() {
  for (std::uint32_t device : TheGpu().contexts)
    WriteContext(device);
}

void DumpStreams() {
  for (const auto& [id, stream] : TheGpu().streams)
    WriteStream(stream, 0, 0);
}

bool HasContext() {
  return !TheGpu().contexts.empty();
}

void RunAfterTheEnd(std::uint64_t kernels) {
  for (std::uint64_t number = 0; number < kernels; ++number) {
    Record<cupti::Kernel13> record;
    cupti::Kernel9& kernel = *reinterpret_cast<cupti::Kernel9*>(record.bytes);
    kernel.kind = cupti::ActivityKind::kConcurrentKernel;
    kernel.start = Timestamp();
    kernel.end = kernel.start + 1000;
    kernel.context = 1;
    kernel.stream = kFirstStream;
    kernel.correlation = 0xFFFFFFF0;
    kernel.name = "after_the_end";
    WriteRecord(kAfterDisable, kernel.kind, record.bytes);
  }
  ReturnBufferLater(kAfterDisable);
}

void ResetGpu() {
  Gpu& gpu = TheGpu();
  gpu.contexts.clear();
  gpu.streams.clear();
  gpu.next_stream = 13;
  gpu.has_written_devices = false;
  gpu.kernels_ended = 0;
  gpu.random.seed(42);
}

}  // namespace fake
