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
#include <atomic>
#include <bit>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "opscope/recorder.h"
#include "sources/got/patched_entries.h"
#include "sources/streams/failures.h"
#include "sources/streams/stream_of.h"
#include "sources/torch/callbacks/callback_pool.h"
#include "sources/torch/memory/live_block_sizes.h"

namespace opscope {
namespace {

// One bit per instance whose window records memory.
constinit std::atomic<uint64_t> recording{0};
static_assert(kCallbackInstances <= 64);

inline bool HasOpenOperator(const Stream* stream) {
  const OpenScope* top = stream->top.load(std::memory_order_relaxed);
  return top != nullptr &&
         (top->origin.load(std::memory_order_relaxed) & 0xffu) == static_cast<uint32_t>(RecordSource::kTorch);
}

// The stream of the calling thread in the instance's window; null: the window does not record this thread. An open
// operator proves that it does, which spares the search of torch's list; most allocations happen inside one.
inline Stream* StreamThatSees(uint32_t instance) {
  const CallbackBinding& binding = callback_bindings[instance];
  if (const Thread* thread = opscope_tls; __builtin_expect(thread != nullptr, 1)) {
    Stream* stream = thread->streams[binding.slot.load(std::memory_order_relaxed)];
    const uint64_t generation = binding.window.load(std::memory_order_relaxed);
    const bool is_ours = stream != nullptr && stream->generation.load(std::memory_order_relaxed) == generation;
    if (__builtin_expect(is_ours && HasOpenOperator(stream), 1)) {
      return stream;
    }
  }
  if (!SeesThisThread(instance)) return nullptr;
  return StreamOf(binding.slot.load(std::memory_order_relaxed), binding.window.load(std::memory_order_relaxed),
                  &at::RecordFunction::currentThreadId);
}

// Calls write(stream) for the calling thread's stream in each window that records memory. False: there is none.
template <typename Write>
inline bool ForEachStream(const Write& write) {
  bool any = false;
  for (uint64_t left = recording.load(std::memory_order_relaxed); left != 0; left &= left - 1) {
    Stream* stream = StreamThatSees(static_cast<uint32_t>(std::countr_zero(left)));
    if (stream == nullptr) continue;
    any = true;
    const Writing writing(stream);
    if (writing.allowed()) write(stream);
  }
  return any;
}

inline Record NewRecord(RecordKind kind, uint64_t value) {
  Record record;
  record.start = ReadTicks();
  record.value = value;
  record.kind = kind;
  record.source = RecordSource::kTorch;
  return record;
}

inline bool RecordHostBlock(const void* block, uint64_t bytes, uint8_t flags) {
  return ForEachStream([&](Stream* stream) {
    if (OPSCOPE_UNLIKELY(!HasRoom(stream, 0)) && !opscope_make_room(stream, 0)) return CountDrop(stream);
    PrefetchRecords(stream);
    const auto address = reinterpret_cast<uint64_t>(block);
    Record* record = stream->next;  // filled in place: a copy costs more than the fields
    record->start = ReadTicks();
    record->value = bytes;
    record->name = static_cast<uint32_t>(address);
    record->payload = static_cast<uint32_t>(address >> 32);
    record->depth = 0;
    record->kind = RecordKind::kHostBlock;
    record->flags = flags;
    record->source = RecordSource::kTorch;
    record->scope = 0;
    record->reserved = 0;
    PublishNext(stream, record);
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
  ForEachStream([&](Stream* stream) {
    Record record = NewRecord(kind, static_cast<uint64_t>(bytes));
    if (char* room = ReserveEntry(stream, sizeof(payload)); room != nullptr) {
      std::memcpy(room, &payload, sizeof(payload));
      record.payload = OffsetInChunk(stream, room);
    }
    AppendRecord(stream, record);  // without room it is counted
  });
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
  for (uint64_t left = recording.load(std::memory_order_relaxed); left != 0; left &= left - 1) {
    if (SeesThisThread(static_cast<uint32_t>(std::countr_zero(left)))) return true;
  }
  return c10::memoryProfilingEnabled();
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

// Whether the library of the entry reports a device. All do but libc10, which reports the CPU to itself, and this
// library, which forwards reports. The library is pinned in memory, because its entry will be written once more.
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
    recording.store(0);
    Patched().Restore();
  });
}

}  // namespace

const char* StartAllocations(uint32_t instance, uint32_t flags) {
  if ((flags & torch_source_flags::kMemory) == 0) return nullptr;
  const MutexLock lock(GotLock());
  if (recording.load() == 0) {
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
  recording.fetch_or(uint64_t{1} << instance);
  return nullptr;
}

void StopAllocations(uint32_t instance) {
  const MutexLock lock(GotLock());
  const uint64_t bit = uint64_t{1} << instance;
  if ((recording.fetch_and(~bit) & ~bit) == 0) Patched().Restore();
}

}  // namespace opscope
