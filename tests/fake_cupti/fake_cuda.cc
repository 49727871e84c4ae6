// The simulated CUDA runtime. Each function does what the real one does as far as CUPTI can see: it opens an ApiCall,
// schedules work on a stream of the simulated GPU (gpu.h), waits if the call is synchronous, and ends the call.
//
// Durations are computed, for example a copy takes 1 us plus its bytes at 25 GB/s.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <vector>

#include "buffers.h"
#include "calls.h"
#include "fake_program.h"
#include "gpu.h"
#include "names.h"
#include "records.h"
#include "session.h"

namespace fake {
namespace {

using cupti::ActivityKind;
using cupti::CallbackDomain;

struct Event {
  std::uint32_t stream = 0;
  std::uint32_t context = 0;
  std::uint64_t ready = 0;
};

struct Allocation {
  std::uint32_t device;
  std::uint64_t bytes;
};

struct Program {
  std::map<std::uint32_t, Event> events;
  std::uint32_t next_event = 1;
  std::map<std::uint64_t, Allocation> allocations;
  std::uint64_t next_address = 0x7F0000000000;
};

Program& TheProgram() {
  static Program& program = *new Program;
  return program;
}

// Duration of a copy in ns: 1 us plus 25 GB/s.
std::uint64_t TimeToCopy(std::uint64_t bytes) {
  return 1000 + bytes / 25;
}

void EndCall(ApiCall& call) {
  if (Now().order == Order::kDeviceFirst) Collect();
  call.Finish();
}

void SubmitKernel(DeviceStream& stream, const ApiCall& call, const char* name, std::uint64_t duration_ns,
                  const FakeCudaLaunch& launch) {
  const Interval when = Schedule(stream, call, duration_ns);
  if (!IsEnabled(ActivityKind::kConcurrentKernel)) return;
  cupti::Kernel9 kernel{};
  kernel.kind = ActivityKind::kConcurrentKernel;
  kernel.registers_per_thread = static_cast<std::uint16_t>(launch.registers);
  kernel.device = stream.device;
  kernel.context = stream.context;
  kernel.stream = stream.id;
  kernel.grid_x = static_cast<std::int32_t>(launch.grid[0]);
  kernel.grid_y = static_cast<std::int32_t>(launch.grid[1]);
  kernel.grid_z = static_cast<std::int32_t>(launch.grid[2]);
  kernel.block_x = static_cast<std::int32_t>(launch.block[0]);
  kernel.block_y = static_cast<std::int32_t>(launch.block[1]);
  kernel.block_z = static_cast<std::int32_t>(launch.block[2]);
  kernel.static_shared_memory = static_cast<std::int32_t>(launch.static_shared_memory);
  kernel.dynamic_shared_memory = static_cast<std::int32_t>(launch.dynamic_shared_memory);
  kernel.correlation = call.correlation();
  kernel.name = name;
  kernel.channel_type = cupti::ChannelType::kCompute;
  Submit(stream, when, kernel);
}

std::uint32_t Launch(std::uint32_t stream_id, const char* name, std::uint64_t duration_ns,
                     const FakeCudaLaunch& launch) {
  const bool is_driver = launch.call == kFakeDriverLaunch;
  ApiCall call(is_driver ? CallbackDomain::kDriverApi : CallbackDomain::kRuntimeApi,
               is_driver                             ? kCuLaunchKernel
               : launch.call == kFakeRuntimeLaunchEx ? std::uint32_t{kCudaLaunchKernelExC}
                                                     : std::uint32_t{kCudaLaunchKernel});
  Locked lock("a launch");
  DeviceStream* const stream = StreamOfWork(stream_id);
  if (stream == nullptr) return 0;
  WaitForRoom(*stream, lock);
  SubmitKernel(*stream, call, name, duration_ns, launch);
  EndCall(call);
  return call.correlation();
}

void WriteSynchronization(cupti::SyncType type, const ApiCall& call, std::uint32_t context, std::uint32_t stream,
                          std::uint32_t event) {
  if (!IsEnabled(ActivityKind::kSynchronization)) return;
  Record<cupti::Synchronization> record;
  record->kind = ActivityKind::kSynchronization;
  record->type = type;
  record->start = call.begin();
  record->end = Timestamp();
  record->correlation = call.correlation();
  record->context = context;
  record->stream = stream;
  record->event = event;
  WriteRecord(BufferOfThread(), record->kind, record.bytes);
}

void WriteMemory(cupti::MemoryOperation operation, const ApiCall& call, std::uint64_t address,
                 const Allocation& allocation) {
  if (!IsEnabled(ActivityKind::kMemory2)) return;
  Record<cupti::Memory4> record;
  cupti::Memory3& memory = record->first;
  memory.kind = ActivityKind::kMemory2;
  memory.operation = operation;
  memory.memory_kind = cupti::MemoryKind::kDevice;
  memory.correlation = call.correlation();
  memory.address = address;
  memory.bytes = allocation.bytes;
  memory.timestamp = Timestamp();
  memory.process = static_cast<std::uint32_t>(getpid());
  memory.device = allocation.device;
  memory.context = allocation.device + 1;
  WriteRecord(BufferOfThread(), memory.kind, record.bytes);
}

std::uint32_t Copy(std::uint32_t stream_id, std::uint32_t cbid, bool waits, std::uint64_t bytes, auto&& record_of) {
  ApiCall call(CallbackDomain::kRuntimeApi, cbid);
  Locked lock("a copy");
  DeviceStream* const stream = StreamOfWork(stream_id);
  if (stream == nullptr) return 0;
  WaitForRoom(*stream, lock);
  const Interval when = Schedule(*stream, call, TimeToCopy(bytes));
  record_of(*stream, call, when);
  if (waits) WaitForStream(stream_id, lock);
  EndCall(call);
  return call.correlation();
}

}  // namespace

void ResetProgram() {
  TheProgram() = {};
}

}  // namespace fake

using namespace fake;

std::uint32_t fake_cuda_launch(std::uint32_t stream, const char* name, std::uint64_t duration_ns, std::uint32_t grid,
                               std::uint32_t block) {
  return Launch(stream, name, duration_ns, {{grid, 1, 1}, {block, 1, 1}, 32, 0, 0, kFakeRuntimeLaunch});
}

std::uint32_t fake_cuda_launch_shaped(std::uint32_t stream, const char* name, std::uint64_t duration_ns,
                                      const FakeCudaLaunch* launch) {
  return Launch(stream, name, duration_ns, *launch);
}

void fake_cuda_launch_many(std::uint32_t stream, const char* name, std::uint64_t duration_ns, std::uint64_t count) {
  const FakeCudaLaunch launch{{1, 1, 1}, {32, 1, 1}, 32, 0, 0, kFakeRuntimeLaunch};
  for (std::uint64_t number = 0; number < count; ++number)
    Launch(stream, name, duration_ns, launch);
}

std::uint32_t fake_cuda_memcpy(std::uint32_t stream, std::uint32_t copy_kind, std::uint32_t source_kind,
                               std::uint32_t destination_kind, std::uint64_t bytes, std::uint32_t async) {
  return Copy(stream, async != 0 ? kCudaMemcpyAsync : kCudaMemcpy, async == 0, bytes,
              [&](DeviceStream& on, const ApiCall& call, Interval when) {
                if (!IsEnabled(ActivityKind::kMemcpy)) return;
                cupti::Memcpy6 copy{};
                copy.copy_count = 1;
                cupti::Memcpy5& first = copy.first;
                first.kind = ActivityKind::kMemcpy;
                first.copy_kind = static_cast<cupti::MemcpyKind>(copy_kind);
                first.source_kind = static_cast<std::uint8_t>(source_kind);
                first.destination_kind = static_cast<std::uint8_t>(destination_kind);
                first.flags = async != 0 ? cupti::kMemcpyAsync : std::uint8_t{0};
                first.bytes = bytes;
                first.device = on.device;
                first.context = on.context;
                first.stream = on.id;
                first.correlation = call.correlation();
                first.channel_type = cupti::ChannelType::kAsyncMemcpy;
                Submit(on, when, copy);
              });
}

std::uint32_t fake_cuda_memcpy_peer(std::uint32_t stream, std::uint32_t source_device, std::uint32_t destination_device,
                                    std::uint64_t bytes) {
  return Copy(stream, kCudaMemcpyPeerAsync, false, bytes, [&](DeviceStream& on, const ApiCall& call, Interval when) {
    if (!IsEnabled(ActivityKind::kMemcpy2)) return;
    cupti::MemcpyPtoP4 copy{};
    copy.kind = ActivityKind::kMemcpy2;
    copy.copy_kind = cupti::MemcpyKind::kPeerToPeer;
    copy.source_kind = copy.destination_kind = static_cast<std::uint8_t>(cupti::MemoryKind::kDevice);
    copy.flags = cupti::kMemcpyAsync;
    copy.bytes = bytes;
    copy.device = on.device;
    copy.context = on.context;
    copy.stream = on.id;
    copy.source_device = source_device;
    copy.source_context = source_device + 1;
    copy.destination_device = destination_device;
    copy.destination_context = destination_device + 1;
    copy.correlation = call.correlation();
    Submit(on, when, copy);
  });
}

std::uint32_t fake_cuda_memset(std::uint32_t stream, std::uint32_t value, std::uint64_t bytes) {
  return Copy(stream, kCudaMemsetAsync, false, bytes, [&](DeviceStream& on, const ApiCall& call, Interval when) {
    if (!IsEnabled(ActivityKind::kMemset)) return;
    cupti::Memset4 set{};
    set.kind = ActivityKind::kMemset;
    set.value = value;
    set.bytes = bytes;
    set.device = on.device;
    set.context = on.context;
    set.stream = on.id;
    set.correlation = call.correlation();
    set.flags = cupti::kMemsetAsync;
    set.memory_kind = static_cast<std::uint16_t>(cupti::MemoryKind::kDevice);
    Submit(on, when, set);
  });
}

std::uint32_t fake_cuda_stream_create(std::uint32_t device, std::uint32_t priority) {
  ApiCall call(CallbackDomain::kRuntimeApi, kCudaStreamCreateWithPriority);
  Locked lock("cudaStreamCreate");
  const std::uint32_t stream = CreateStream(device, priority, call.correlation());
  call.Finish();
  return stream;
}

std::uint32_t fake_cuda_stream_synchronize(std::uint32_t stream) {
  ApiCall call(CallbackDomain::kRuntimeApi, kCudaStreamSynchronize);
  Locked lock("cudaStreamSynchronize");
  const DeviceStream* const on = StreamOfWork(stream);
  if (on == nullptr) return 0;
  WaitForStream(stream, lock);
  WriteSynchronization(cupti::SyncType::kStreamSynchronize, call, on->context, stream, cupti::kNoEvent);
  call.Finish();
  return call.correlation();
}

std::uint32_t fake_cuda_device_synchronize(std::uint32_t device) {
  ApiCall call(CallbackDomain::kRuntimeApi, kCudaDeviceSynchronize);
  Locked lock("cudaDeviceSynchronize");
  MakeContext(device);
  WaitForDevice(device, lock);
  WriteSynchronization(cupti::SyncType::kContextSynchronize, call, device + 1, cupti::kNoStream, cupti::kNoEvent);
  call.Finish();
  return call.correlation();
}

std::uint32_t fake_cuda_context_synchronize() {
  ApiCall call(CallbackDomain::kDriverApi, kCuCtxSynchronize);
  Locked lock("cuCtxSynchronize");
  if (!HasContext()) return 0;
  for (std::uint32_t device = 0; device < Now().devices; ++device)
    WaitForDevice(device, lock);
  WriteSynchronization(cupti::SyncType::kContextSynchronize, call, 1, cupti::kNoStream, cupti::kNoEvent);
  call.Finish();
  return call.correlation();
}

std::uint32_t fake_cuda_event_create() {
  ApiCall call(CallbackDomain::kRuntimeApi, kCudaEventCreate);
  Locked lock("cudaEventCreate");
  Program& program = TheProgram();
  const std::uint32_t id = program.next_event++;
  program.events[id] = {};
  call.Finish();
  return id;
}

std::uint32_t fake_cuda_event_record(std::uint32_t id, std::uint32_t stream) {
  ApiCall call(CallbackDomain::kRuntimeApi, kCudaEventRecord);
  Locked lock("cudaEventRecord");
  DeviceStream* const on = StreamOfWork(stream);
  const auto event = TheProgram().events.find(id);
  if (on == nullptr || event == TheProgram().events.end()) return 0;
  const Interval when = Schedule(*on, call, 0);
  event->second = {stream, on->context, when.end};
  if (IsEnabled(ActivityKind::kCudaEvent)) {
    cupti::CudaEvent2 record{};
    record.first.kind = ActivityKind::kCudaEvent;
    record.first.correlation = call.correlation();
    record.first.context = on->context;
    record.first.stream = stream;
    record.first.event = id;
    record.device = on->device;
    record.event_sync_id = call.correlation();
    Submit(*on, when, record);
  }
  EndCall(call);
  return call.correlation();
}

std::uint32_t fake_cuda_event_synchronize(std::uint32_t id) {
  ApiCall call(CallbackDomain::kRuntimeApi, kCudaEventSynchronize);
  Locked lock("cudaEventSynchronize");
  const auto event = TheProgram().events.find(id);
  if (event == TheProgram().events.end() || event->second.stream == 0) return 0;
  const Event waited = event->second;
  WaitForStream(waited.stream, lock);
  WriteSynchronization(cupti::SyncType::kEventSynchronize, call, waited.context, waited.stream, id);
  call.Finish();
  return call.correlation();
}

std::uint32_t fake_cuda_stream_wait_event(std::uint32_t stream, std::uint32_t id) {
  ApiCall call(CallbackDomain::kRuntimeApi, kCudaStreamWaitEvent);
  Locked lock("cudaStreamWaitEvent");
  DeviceStream* const on = StreamOfWork(stream);
  const auto event = TheProgram().events.find(id);
  if (on == nullptr || event == TheProgram().events.end()) return 0;
  on->idle_from = std::max(on->idle_from, event->second.ready);
  WriteSynchronization(cupti::SyncType::kStreamWaitEvent, call, on->context, stream, id);
  call.Finish();
  return call.correlation();
}

std::uint64_t fake_cuda_malloc(std::uint32_t device, std::uint64_t bytes) {
  ApiCall call(CallbackDomain::kRuntimeApi, kCudaMalloc);
  Locked lock("cudaMalloc");
  MakeContext(device);
  Program& program = TheProgram();
  const std::uint64_t address = program.next_address;
  program.next_address += (bytes + 511) / 512 * 512;
  program.allocations[address] = {device, bytes};
  WriteMemory(cupti::MemoryOperation::kAllocation, call, address, {device, bytes});
  call.Finish();
  return address;
}

std::uint32_t fake_cuda_free(std::uint64_t address) {
  ApiCall call(CallbackDomain::kRuntimeApi, kCudaFree);
  Locked lock("cudaFree");
  const auto allocation = TheProgram().allocations.find(address);
  if (allocation == TheProgram().allocations.end()) return 0;
  WaitForDevice(allocation->second.device, lock);  // as cudaFree does
  WriteMemory(cupti::MemoryOperation::kRelease, call, address, allocation->second);
  TheProgram().allocations.erase(allocation);
  call.Finish();
  return call.correlation();
}

std::uint32_t fake_cuda_call(std::uint32_t domain, std::uint32_t cbid, std::uint64_t duration_ns) {
  ApiCall call(static_cast<CallbackDomain>(domain), cbid);
  const std::uint64_t end = Timestamp() + duration_ns;
  while (Timestamp() < end) {
  }
  Locked lock("a call of CUDA");
  call.Finish();
  return call.correlation();
}

void fake_cuda_sense(std::uint32_t device, std::uint32_t kind, std::uint32_t first, std::uint32_t second) {
  Locked lock("a sensor");
  if (!IsEnabled(ActivityKind::kEnvironment)) return;
  Record<cupti::Environment> record;
  record->kind = ActivityKind::kEnvironment;
  record->device = device;
  record->timestamp = Timestamp();
  record->environment_kind = static_cast<cupti::EnvironmentKind>(kind);
  record->speed.sm_clock = first;
  record->speed.memory_clock = second;
  WriteRecord(kDeviceBuffer, record->kind, record.bytes);
}

void fake_cuda_overhead(std::uint32_t overhead_kind, std::uint64_t duration_ns) {
  Locked lock("an overhead");
  if (!IsEnabled(ActivityKind::kOverhead)) return;
  Record<cupti::Overhead3> record;
  cupti::Overhead& overhead = record->first.first;
  overhead.kind = ActivityKind::kOverhead;
  overhead.overhead_kind = static_cast<cupti::OverheadKind>(overhead_kind);
  overhead.object_kind = cupti::ObjectKind::kThread;
  overhead.object.process_or_device = static_cast<std::uint32_t>(getpid());
  overhead.object.thread_or_context = ThreadId();
  overhead.start = Timestamp();
  overhead.end = overhead.start + duration_ns;
  WriteRecord(BufferOfThread(), overhead.kind, record.bytes);
}
