// Memory layouts of Paddle 3 that this library assumes. The declarations are our own, because Paddle's headers belong
// to one release and this library serves all. The library uses them only after the probe (probe.h) has confirmed them
// for the Paddle in the process.
//
// Thread rule: types and constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace opscope::paddle_layout {

// phi::RecordEvent. Paddle's constructors write all of it but `start_ns` and the padding, which they write only while
// Paddle's own profiler records.
struct RecordEvent {
  // bit 0 is_enabled, bit 8 is_pushed; opscope keeps a mark in the 48 bits of padding (range_mark.h).
  uint64_t head;
  std::string* name;
  const char* static_name;
  uint64_t start_ns;
  uint32_t role;
  uint32_t type;
  std::string* attributes;
  uint8_t is_finished;
};
static_assert(sizeof(RecordEvent) == 0x38 && offsetof(RecordEvent, start_ns) == 0x18 &&
              offsetof(RecordEvent, role) == 0x20 && offsetof(RecordEvent, is_finished) == 0x30);

// common::DDim.
struct Dims {
  int64_t sizes[9];
  int32_t rank;
};
static_assert(sizeof(Dims) == 80);
inline constexpr int32_t kMaxDims = 9;
// An operator's arguments: name and shapes of each, none for one that was left out, several for a list.
using Shapes = std::vector<std::pair<const char*, std::vector<Dims>>>;

// phi::AttributeMap, a paddle::flat_hash_map of names and paddle::variant: entries of which some are empty.
struct Attribute {
  int8_t distance;  // below 0: the entry is empty
  alignas(16) std::string name;
  alignas(16) unsigned char value[48];
  uint32_t type;  // of AttributeType
};
static_assert(sizeof(Attribute) == 112 && offsetof(Attribute, name) == 16 && offsetof(Attribute, value) == 48 &&
              offsetof(Attribute, type) == 96);
struct AttributeMap {
  const Attribute* entries;
  uint64_t entries_less_one;
  int8_t hash_shift;
  int8_t most_lookups;
  float load;
  uint64_t count;
};
static_assert(sizeof(AttributeMap) == 32);
enum class AttributeType : uint32_t {
  kBool = 0,
  kInt = 1,
  kLong = 2,
  kFloat = 3,
  kDouble = 4,
  kText = 5,
  kInts = 6,
  kLongs = 8,
  kFloats = 9,
  kDoubles = 10,
  kIntArray = 14,  // begins with a std::vector<int64_t>
};

// phi::Place.
struct Place {
  int8_t device;
  int8_t type;  // of PlaceType
  uint8_t padding[6];
  uint64_t custom_type;
};
static_assert(sizeof(Place) == 16);
enum class PlaceType : int8_t { kCpu = 1, kGpu = 2, kGpuPinned = 3, kXpu = 4, kXpuPinned = 5, kIpu = 7, kCustom = 9 };

// phi::TracerMemEventType, without the two values for memory that an allocator reserves.
enum class MemoryEvent : uint32_t { kAllocate = 0, kFree = 1 };

// phi::CommonEvent and what HostEventRecorder<CommonEvent>::GatherEvents returns.
struct CommonEvent {
  const char* name;
  uint64_t start_ns, end_ns;
  uint32_t role, type;
  const char* attributes;
};
static_assert(sizeof(CommonEvent) == 40);
struct ThreadEvents {
  std::string thread_name;
  uint64_t thread_id;
  std::vector<CommonEvent> events;
};
struct HostEvents {
  std::string process_name;
  uint64_t process_id;
  std::vector<ThreadEvents> threads;
};

// The functions that Paddle's libraries call through GOT entries. RecordOpInfoSupplement's constructor has its
// attributes as a third argument, whose type is 2,800 characters of its name.
enum Symbol : size_t { kBeginStatic, kBeginCopied, kEnd, kIsEnabled, kOpInfo, kOpInfoIsEnabled, kMemory, kSymbols };
using BeginStatic = void (*)(RecordEvent*, const char* name, uint32_t type, uint32_t level, uint32_t role);
using BeginCopied = void (*)(RecordEvent*, const std::string& name, uint32_t type, uint32_t level, uint32_t role);
using End = void (*)(RecordEvent*);
using IsEnabled = bool (*)();
using OpInfo = void (*)(void* self, const std::string& name, const Shapes& shapes, const AttributeMap* attributes);
using Memory = void (*)(void* self, const void* block, const Place& place, size_t bytes, uint32_t event);

}  // namespace opscope::paddle_layout
