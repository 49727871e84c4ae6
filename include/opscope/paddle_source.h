// The PaddlePaddle source: libopscope_paddle, one library for every Paddle. It is compiled without Paddle's headers and
// not linked to Paddle; what it needs of the Paddle in the process it finds there by name, and what it assumes of
// layouts is tried in a process of its own before a recording uses it. Beside `opscope_source` (source.h) it exports
// `opscope_paddle_source`, which returns this table.
//
// Thread rule: any thread, with or without Python's GIL, which is never taken.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "opscope/paddle_event_type.h"
#include "opscope/source.h"

namespace opscope {

inline constexpr uint32_t kPaddleSourceAbi = 2;

namespace paddle_source_flags {
inline constexpr uint32_t kShapes = 1;  // names, shapes and attributes of operators' arguments (record_shapes)
inline constexpr uint32_t kMemory = 2;  // allocations and frees of tensors (profile_memory)
}  // namespace paddle_source_flags

// What can be left out where it does not fit the Paddle in the process.
enum class PaddlePart : uint32_t {
  kSlots = 0,       // events, by the slots of Paddle's libraries
  kShapes = 1,      // by slots, too
  kAttributes = 2,  // beside the shapes
  kMemory = 3,      // likewise
  kDrain = 4,       // events, by Paddle's own recorder, where the slots cannot be used
  kNative = 5,      // events and memory, by Paddle's own profiler; the first of the PaddleStandIns
  kWrappers = 6,    // operators that Python calls, by wrappers of Paddle's functions
};
inline constexpr uint32_t kPaddleParts = 7;

// Who records by Python where this library cannot by itself: kNative, kWrappers. Called without a lock that Python
// could want; takes the GIL by itself.
struct PaddleStandIn {
  // Records from now on, for one more recording. Null: it does; else a static sentence.
  const char* (*start)(uint32_t flags) = nullptr;
  // Ends it for one recording, and appends what it holds to the window (PaddleSource::append). False: it was lost.
  bool (*stop)(Window* window) = nullptr;
  // PaddleSource::enter and exit while it records. Null: they stay this library's.
  void* (*enter)(const char* name, size_t name_size, uint32_t event_type) = nullptr;
  void (*exit)(void* range) = nullptr;
};

// What a stand-in has recorded of one thread. Times are nanoseconds since 1970.
struct PaddleRange {
  const char* name = nullptr;
  uint64_t start_ns = 0, end_ns = 0;
  uint32_t event_type = 0;  // of PaddleEventType
};
struct PaddleBlock {  // of the CPU's allocator
  uint64_t time_ns = 0;
  uint64_t address = 0;
  int64_t bytes = 0;  // below 0: it was freed
};
struct PaddleThreadEvents {
  const char* name = nullptr;
  uint64_t os_thread = 0;
  std::span<const PaddleRange> ranges;  // in the order in which they ended, of equal ends the inner one first
  std::span<const PaddleBlock> blocks;
};

// A tensor among the arguments of an operator.
struct PaddleTensorShape {
  const char* argument = nullptr;  // its name; those of a list follow each other with the same pointer
  std::span<const int64_t> sizes;  // at most 9
};

// What Paddle's skin asks of its source beyond a Source.
struct PaddleSource {
  Source source;  // "paddle"; its flags are paddle_source_flags
  uint32_t abi = kPaddleSourceAbi;

  // A range of the program or of a phase, in every window that this source records into, and in Paddle's own profiler
  // while that runs. Null when nobody records. event_type: of PaddleEventType, which is
  // what Record::scope holds of this source.
  void* (*enter)(const char* name, size_t name_size, uint32_t event_type) = nullptr;
  // Ends it, on any thread. REQUIRES: range is from enter and was not ended.
  void (*exit)(void* range) = nullptr;

  // Whether a part fits, as far as that can be told without recording: what is to be called is there and, where
  // objects of Paddle's are written or read, they look as this library takes them to. Null: yes, and this process will
  // use it; else a static sentence. For a process of its own that nobody watches: it may crash.
  const char* (*try_part)(PaddlePart part) = nullptr;
  // What a trial of this library with this build of Paddle has shown of the part: "" or a sentence. Without one the
  // part is not used.
  void (*take_verdict)(PaddlePart part, const char* sentence) = nullptr;
  // How a recording would be made now: "slots", "drain: why not by slots", likewise "native", "wrappers", or "none:
  // why". Valid until the next verdict.
  const char* (*route)() = nullptr;

  // Lives for ever, as the library does. REQUIRES: part is kNative or kWrappers.
  void (*set_stand_in)(PaddlePart part, const PaddleStandIn* stand_in) = nullptr;
  // What a stand-in has recorded, as a track of the window, which its `stop` was called with.
  void (*append)(Window* window, const PaddleThreadEvents& thread) = nullptr;
  // Of the innermost operator that this thread has entered, where shapes are recorded by wrappers.
  void (*note_shapes)(std::span<const PaddleTensorShape> tensors) = nullptr;
};

}  // namespace opscope

extern "C" __attribute__((visibility("default"))) const opscope::PaddleSource* opscope_paddle_source();
