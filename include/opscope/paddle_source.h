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

#include "opscope/paddle_event_type.h"
#include "opscope/source.h"

namespace opscope {

inline constexpr uint32_t kPaddleSourceAbi = 1;

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
};
inline constexpr uint32_t kPaddleParts = 5;

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
  // How a recording would be made now: "slots", "drain: why not by slots", or "none: why". Valid until the next
  // verdict.
  const char* (*route)() = nullptr;
};

}  // namespace opscope

extern "C" __attribute__((visibility("default"))) const opscope::PaddleSource* opscope_paddle_source();
