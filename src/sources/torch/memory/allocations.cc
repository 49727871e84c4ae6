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

// One bit per instance that wants allocations.
constinit std::atomic<uint64_t> wanting{0};
static_assert(kCallbackInstances <= 64);

inline bool HasOpenOperator(const Stream* stream) {
  const OpenScope* top = stream->top.load(std::memory_order_relaxed);
  return top != nullptr &&
         (top->origin.load(std::memory_order_relaxed) & 0xffu) == static_cast<uint32_t>(RecordSource::kTorch);
}

// The stream of a window that sees the calling thread. An open operator proves it does; most allocations have one.
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

// write(stream) for the calling thread's stream in every window that wants to know. Whether there is one.
template <typename Write>
inline bool ForEachStream(const Write& write) {
  bool any = false;
  for (uint64_t left = wanting.load(std::memory_order_relaxed); left != 0; left &= left - 1) {
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

inline bool NoteHostBlock(const void* block, uint64_t bytes, uint8_t flags) {
  return ForEachStream([&](Stream* stream) {
    if (OPSCOPE_UNLIKELY(!HasRoom(stream, 0)) && !opscope_make_room(stream, 0)) return CountDrop(stream);
    FetchRecords(stream);
    const auto address = reinterpret_cast<uint64_t>(block);
    Record* record = stream->next;  // written where it will be, not moved there
    record->start = ReadTicks();
    record->value = bytes;
    record->name = static_cast<uint32_t>(address);
    record->side = static_cast<uint32_t>(address >> 32);
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

void NoteOnDevice(RecordKind kind, const void* block, int64_t bytes, size_t allocated, size_t reserved,
                  c10::Device device) {
  DevicePayload payload;
  payload.address = reinterpret_cast<uint64_t>(block);
  payload.device_type = static_cast<uint32_t>(device.type());
  payload.device = device.index();
  payload.total_allocated = static_cast<int64_t>(allocated);
  payload.total_reserved = static_cast<int64_t>(reserved);
  ForEachStream([&](Stream* stream) {
    Record record = NewRecord(kind, static_cast<uint64_t>(bytes));
    if (char* side = ReserveSide(stream, sizeof(payload)); side != nullptr) {
      std::memcpy(side, &payload, sizeof(payload));
      record.side = OffsetInChunk(stream, side);
    }
    AppendRecord(stream, record);  // without room it is counted
  });
}

void NoteHostOutOfMemory(size_t bytes) {
  ForEachStream([&](Stream* stream) {
    if (!HasRoom(stream, 0) && !opscope_make_room(stream, 0)) return CountDrop(stream);
    AppendRecord(stream, NewRecord(RecordKind::kOutOfMemory, bytes));
  });
}

// What the slots point to. The functions behind them are called by name, not by what the slot held: that may
// be the linker's stub, which would write the slot anew.

void OnNew(c10::ProfiledCPUMemoryReporter* reporter, void* block, size_t bytes) {
  if (bytes != 0 && NoteHostBlock(block, bytes, 0)) RememberBlock(block, bytes);
  reporter->New(block, bytes);
}

void OnDelete(c10::ProfiledCPUMemoryReporter* reporter, void* block) {
  const FreedBlock freed = TakeRememberedBlock(block);
  // Before: the address may be given out again at once.
  NoteHostBlock(block, freed.bytes, record_flags::kFreed | (freed.is_sure ? 0 : record_flags::kUnsure));
  reporter->Delete(block);
}

void OnHostOutOfMemory(c10::ProfiledCPUMemoryReporter* reporter, size_t bytes) {
  NoteHostOutOfMemory(bytes);
  reporter->OutOfMemory(bytes);
}

bool OnIsEnabled() {
  for (uint64_t left = wanting.load(std::memory_order_relaxed); left != 0; left &= left - 1) {
    if (SeesThisThread(static_cast<uint32_t>(std::countr_zero(left)))) return true;
  }
  return c10::memoryProfilingEnabled();
}

void OnReport(void* block, int64_t bytes, size_t allocated, size_t reserved, c10::Device device) {
  NoteOnDevice(RecordKind::kAllocation, block, bytes, allocated, reserved, device);
  if (c10::memoryProfilingEnabled()) c10::reportMemoryUsageToProfiler(block, bytes, allocated, reserved, device);
}

void OnOutOfMemory(int64_t bytes, size_t allocated, size_t reserved, c10::Device device) {
  NoteOnDevice(RecordKind::kOutOfMemory, nullptr, bytes, allocated, reserved, device);
  c10::reportOutOfMemoryToProfiler(bytes, allocated, reserved, device);
}

struct Hook {
  const char* symbol;
  void* function;
  bool is_needed = true;  // false: no library has to call it
};
const std::array kOfHost = {
    Hook{"_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm", reinterpret_cast<void*>(&OnNew)},
    Hook{"_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv", reinterpret_cast<void*>(&OnDelete)},
    Hook{"_ZN3c1025ProfiledCPUMemoryReporter11OutOfMemoryEm", reinterpret_cast<void*>(&OnHostOutOfMemory), false},
};
const std::array kOfDevices = {
    Hook{"_ZN3c1022memoryProfilingEnabledEv", reinterpret_cast<void*>(&OnIsEnabled)},
    Hook{"_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE", reinterpret_cast<void*>(&OnReport)},
    Hook{"_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE", reinterpret_cast<void*>(&OnOutOfMemory)},
};

PointedSlots& Pointed() {
  static PointedSlots& pointed = *new PointedSlots;  // not destroyed: frees come until the very end
  return pointed;
}

bool PointHost() {
  for (const Hook& hook : kOfHost) {
    const std::vector<CallSlot> slots = FindCallSlots("libc10.so", hook.symbol);
    if (slots.empty() && hook.is_needed) return false;
    for (const CallSlot& slot : slots) {
      if (!Pointed().Point(slot, hook.function)) return false;
    }
  }
  return true;
}

// Whether the library that the slot is of reports a device: all may but libc10, which reports the CPU to itself, and
// this one, which hands on what it is told. It stays loaded from then on, as its slot is written once more.
bool IsOfDevices(const CallSlot& slot) {
  Dl_info ours, owner;
  if (dladdr(reinterpret_cast<void*>(&OnReport), &ours) == 0 || dladdr(slot.place, &owner) == 0) return false;
  std::string_view file = owner.dli_fname;
  file.remove_prefix(file.rfind('/') + 1);
  if (owner.dli_fbase == ours.dli_fbase || file.starts_with("libc10.so")) return false;
  if (void* library = dlopen(owner.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE)) dlclose(library);
  return true;
}

bool PointDevices() {
  std::array<const char*, kOfDevices.size()> symbols;
  for (size_t i = 0; i < symbols.size(); ++i)
    symbols[i] = kOfDevices[i].symbol;
  for (const CallSlot& slot : FindCallSlots("", symbols)) {
    if (IsOfDevices(slot) && !Pointed().Point(slot, kOfDevices[slot.symbol].function)) return false;
  }
  return true;
}

__attribute__((constructor)) void WatchForks() {
  Pointed();  // made before a child can ask for it
  WatchForksOfSlots([] {
    wanting.store(0);
    Pointed().PutBack();
  });
}

}  // namespace

const char* StartAllocations(uint32_t instance, uint32_t flags) {
  if ((flags & torch_source_flags::kMemory) == 0) return nullptr;
  const MutexLock lock(SlotLock());
  if (wanting.load() == 0) {
    bool done = false;
    try {
      PrepareRememberedBlocks();
      done = PointHost() && PointDevices();
    } catch (const std::bad_alloc&) {
      CountFailure();
    }
    if (!done) {
      Pointed().PutBack();
      return "this build of PyTorch calls its allocator in a way that opscope cannot see: record without memory";
    }
  }
  BeginRemembering();
  wanting.fetch_or(uint64_t{1} << instance);
  return nullptr;
}

void StopAllocations(uint32_t instance) {
  const MutexLock lock(SlotLock());
  const uint64_t bit = uint64_t{1} << instance;
  if ((wanting.fetch_and(~bit) & ~bit) == 0) Pointed().PutBack();
}

}  // namespace opscope
