// One allocation goes through: at::empty -> libc10's allocator -> (GOT entry) OnNew -> a record in each window ->
// torch's own reporter. A free is recorded before the block is given back, else another thread could allocate the
// address first and its record would come before that of the free.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/memory/allocations.h"

#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <dlfcn.h>

#include <array>
#include <new>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "opscope/recorder.h"
#include "sources/got/patched_entries.h"
#include "sources/streams/block_records.h"
#include "sources/streams/failures.h"
#include "sources/streams/stream_of.h"
#include "sources/torch/callbacks/callback_pool.h"
#include "sources/torch/memory/live_block_sizes.h"

namespace opscope {
namespace {

constinit InstanceSet recording;  // whose windows record memory

inline bool HasOpenOperator(const Stream* stream) {
  const OpenScope* top = stream->top.load(std::memory_order_relaxed);
  return top != nullptr &&
         (top->origin.load(std::memory_order_relaxed) & 0xffu) == static_cast<uint32_t>(RecordSource::kTorch);
}

// The calling thread's stream in the instance's window; null: the window does not record this thread. An open operator
// proves that it does, without a search of torch's list; most allocations happen inside an operator.
inline Stream* StreamThatSees(uint32_t instance) {
  const CallbackBinding& binding = callback_bindings[instance];
  const uint32_t slot = binding.slot.load(std::memory_order_relaxed);
  const uint64_t generation = binding.window.load(std::memory_order_relaxed);
  Stream* stream = KnownStreamOf(slot, generation);
  if (__builtin_expect(stream != nullptr && HasOpenOperator(stream), 1)) return stream;
  if (!SeesThisThread(instance)) return nullptr;
  return StreamOf(slot, generation, &at::RecordFunction::currentThreadId);
}

// Calls write(stream) for the calling thread's stream in each window that records memory. False: there is none.
template <typename Write>
inline bool ForEachStream(const Write& write) {
  bool any = false;
  recording.ForEach([&](uint32_t instance) {
    Stream* stream = StreamThatSees(instance);
    if (stream == nullptr) return;
    any = true;
    const Writing writing(stream);
    if (writing.allowed()) write(stream);
  });
  return any;
}

Record NewRecord(RecordKind kind, uint64_t value) {
  return {.start = ReadTicks(), .value = value, .kind = kind, .source = RecordSource::kTorch};
}

inline bool RecordHostBlock(const void* block, uint64_t bytes, uint8_t flags) {
  return ForEachStream([&](Stream* stream) {
    PrefetchRecords(stream);
    AppendHostBlock(
        stream, RecordSource::kTorch, [] { return ReadTicks(); }, reinterpret_cast<uint64_t>(block), bytes, flags);
  });
}

struct DevicePayload {
  PayloadHeader header = {sizeof(DevicePayload), payload_fields::kAddress | payload_fields::kTotals, 0};
  uint64_t address;
  uint32_t device_type;
  int32_t device;
  int64_t total_allocated, total_reserved;
};
static_assert(sizeof(DevicePayload) == 40);

void RecordOnDevice(RecordKind kind, const void* block, int64_t bytes, size_t allocated, size_t reserved,
                    c10::Device device) {
  DevicePayload payload;
  payload.address = reinterpret_cast<uint64_t>(block);
  payload.device_type = static_cast<uint32_t>(device.type());
  payload.device = device.index();
  payload.total_allocated = static_cast<int64_t>(allocated);
  payload.total_reserved = static_cast<int64_t>(reserved);
  ForEachStream(
      [&](Stream* stream) { AppendWithPayload(stream, NewRecord(kind, static_cast<uint64_t>(bytes)), payload); });
}

void RecordHostOutOfMemory(size_t bytes) {
  ForEachStream([&](Stream* stream) {
    if (!HasRoom(stream, 0) && !opscope_make_room(stream, 0)) return CountDrop(stream);
    AppendRecord(stream, NewRecord(RecordKind::kOutOfMemory, bytes));
  });
}

// The hooks. They call torch's functions by name, not by the address that the entry held: before its first call an
// entry holds the linker's stub, which would overwrite the patched entry.

void OnNew(c10::ProfiledCPUMemoryReporter* reporter, void* block, size_t bytes) {
  if (bytes != 0 && RecordHostBlock(block, bytes, 0)) AddLiveBlock(block, bytes);
  reporter->New(block, bytes);
}

void OnDelete(c10::ProfiledCPUMemoryReporter* reporter, void* block) {
  const FreedBlock freed = TakeLiveBlock(block);
  // First: as soon as the block is freed its address can be allocated again.
  RecordHostBlock(block, freed.bytes, record_flags::kFreed | (freed.is_sure ? 0 : record_flags::kUnsure));
  reporter->Delete(block);
}

void OnHostOutOfMemory(c10::ProfiledCPUMemoryReporter* reporter, size_t bytes) {
  RecordHostOutOfMemory(bytes);
  reporter->OutOfMemory(bytes);
}

bool OnIsEnabled() {
  return recording.SeesThisThread() || c10::memoryProfilingEnabled();
}

void OnReport(void* block, int64_t bytes, size_t allocated, size_t reserved, c10::Device device) {
  RecordOnDevice(RecordKind::kAllocation, block, bytes, allocated, reserved, device);
  if (c10::memoryProfilingEnabled()) c10::reportMemoryUsageToProfiler(block, bytes, allocated, reserved, device);
}

void OnOutOfMemory(int64_t bytes, size_t allocated, size_t reserved, c10::Device device) {
  RecordOnDevice(RecordKind::kOutOfMemory, nullptr, bytes, allocated, reserved, device);
  c10::reportOutOfMemoryToProfiler(bytes, allocated, reserved, device);
}

struct Hook {
  const char* symbol;
  void* function;
  bool is_needed = true;  // false: libc10 need not call it
};
const std::array kHostHooks = {
    Hook{"_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm", reinterpret_cast<void*>(&OnNew)},
    Hook{"_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv", reinterpret_cast<void*>(&OnDelete)},
    Hook{"_ZN3c1025ProfiledCPUMemoryReporter11OutOfMemoryEm", reinterpret_cast<void*>(&OnHostOutOfMemory), false},
};
const std::array kDeviceHooks = {
    Hook{"_ZN3c1022memoryProfilingEnabledEv", reinterpret_cast<void*>(&OnIsEnabled)},
    Hook{"_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE", reinterpret_cast<void*>(&OnReport)},
    Hook{"_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE", reinterpret_cast<void*>(&OnOutOfMemory)},
};

PatchedEntries& Patched() {
  static PatchedEntries& patched = *new PatchedEntries;  // never destroyed: frees come until the process ends
  return patched;
}

bool PatchHost() {
  for (const Hook& hook : kHostHooks) {
    const std::vector<GotEntry> entries = FindGotEntries("libc10.so", hook.symbol);
    if (entries.empty() && hook.is_needed) return false;
    for (const GotEntry& entry : entries) {
      if (!Patched().Patch(entry, hook.function)) return false;
    }
  }
  return true;
}

// Whether the entry's library reports a device. All libraries do except libc10, which reports the CPU to itself, and
// this library, which forwards reports. Pins the library in memory, because its entry will be written again to restore
// it.
bool ReportsDevice(const GotEntry& entry) {
  Dl_info ours, owner;
  if (dladdr(reinterpret_cast<void*>(&OnReport), &ours) == 0 || dladdr(entry.address, &owner) == 0) return false;
  std::string_view file = owner.dli_fname;
  file.remove_prefix(file.rfind('/') + 1);
  if (owner.dli_fbase == ours.dli_fbase || file.starts_with("libc10.so")) return false;
  if (void* library = dlopen(owner.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE)) dlclose(library);
  return true;
}

bool PatchDevices() {
  std::array<const char*, kDeviceHooks.size()> symbols;
  for (size_t i = 0; i < symbols.size(); ++i)
    symbols[i] = kDeviceHooks[i].symbol;
  for (const GotEntry& entry : FindGotEntries("", symbols)) {
    if (ReportsDevice(entry) && !Patched().Patch(entry, kDeviceHooks[entry.symbol].function)) return false;
  }
  return true;
}

__attribute__((constructor)) void WatchForksOfAllocations() {
  Patched();  // constructed before a forked child can use it
  CallInForkedChild([] {
    recording.Clear();
    Patched().Restore();
  });
}

}  // namespace

const char* StartAllocations(uint32_t instance, uint32_t flags) {
  if ((flags & torch_source_flags::kMemory) == 0) return nullptr;
  const MutexLock lock(GotLock());
  if (recording.empty()) {
    bool done = false;
    try {
      PrepareLiveBlocks();
      done = PatchHost() && PatchDevices();
    } catch (const std::bad_alloc&) {
      CountFailure();
    }
    if (!done) {
      Patched().Restore();
      return "this build of PyTorch calls its allocator in a way that opscope cannot see: record without memory";
    }
  }
  BeginLiveBlockEpoch();
  recording.Add(instance);
  return nullptr;
}

void StopAllocations(uint32_t instance) {
  const MutexLock lock(GotLock());
  if (recording.Remove(instance)) Patched().Restore();
}

}  // namespace opscope
