// The PaddlePaddle source: libopscope_paddle, one library for every Paddle. It is
// compiled without Paddle's headers and not linked to Paddle. It finds the
// functions it needs in the process by name. A separate process tests its
// assumptions about layouts before a recording relies on them. Beside
// `opscope_source` (source.h) it exports `opscope_paddle_source`, which returns
// this table.
//
// Thread rule: any thread, with or without Python's GIL, which it never takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "opscope/paddle_event_type.h"
#include "opscope/source.h"

namespace opscope {

// Version of PaddleSource.
inline constexpr uint32_t kPaddleSourceAbi = 2;

namespace paddle_source_flags {
// record_shapes: names, shapes and attributes of operators' arguments.
inline constexpr uint32_t kShapes = 1;
// profile_memory: allocations and frees of tensors.
inline constexpr uint32_t kMemory = 2;
}  // namespace paddle_source_flags

// A feature that can be left out if it does not fit the Paddle in the process.
enum class PaddlePart : uint32_t {
  // Events, through GOT entries of Paddle's libraries.
  kHooks = 0,
  // Shapes, also through GOT entries.
  kShapes = 1,
  // Attributes, beside the shapes.
  kAttributes = 2,
  // Memory, beside the events.
  kMemory = 3,
  // Events, through Paddle's own recorder, if the GOT entries cannot be used.
  kDrain = 4,
  // Events and memory, through Paddle's own profiler; the first of the
  // PaddleFallbackRecorders.
  kNative = 5,
  // Operators called from Python, through wrappers of Paddle's functions.
  kWrappers = 6,
};
// Number of parts.
inline constexpr uint32_t kPaddleParts = 7;

// A recorder in Python for kNative or kWrappers, used if this library cannot record
// by itself. It is called without a lock that Python could need, and takes the GIL
// by itself.
struct PaddleFallbackRecorder {
  // Starts it for one more recording. Null: it records; else a static sentence why
  // not.
  const char* (*start)(uint32_t flags) = nullptr;
  // Ends it for one recording and appends its events to the window
  // (PaddleSource::append). False: they are lost.
  bool (*stop)(Window* window) = nullptr;
  // Replace PaddleSource::enter and exit while it records. Null: this library's own
  // stay.
  void* (*enter)(const char* name, size_t name_size, uint32_t event_type) = nullptr;
  void (*exit)(void* range) = nullptr;
};

// A range that a PaddleFallbackRecorder has recorded. Times are nanoseconds since 1970.
struct PaddleRange {
  const char* name = nullptr;
  uint64_t start_ns = 0, end_ns = 0;
  // A PaddleEventType.
  uint32_t event_type = 0;
};
// A report of the CPU's allocator.
struct PaddleBlock {
  uint64_t time_ns = 0;
  uint64_t address = 0;
  // Negative: freed.
  int64_t bytes = 0;
};
// Everything that a PaddleFallbackRecorder has recorded of one thread.
struct PaddleThreadEvents {
  const char* name = nullptr;
  uint64_t os_thread = 0;
  // In the order of their ends; of equal ends the inner one first.
  std::span<const PaddleRange> ranges;
  std::span<const PaddleBlock> blocks;
};

// A tensor among an operator's arguments.
struct PaddleTensorShape {
  // Name of the argument. The tensors of a list follow each other with the same
  // pointer.
  const char* argument = nullptr;
  // At most 9.
  std::span<const int64_t> sizes;
};

// The interface that Paddle's front end needs beyond Source.
struct PaddleSource {
  // "paddle"; its flags are paddle_source_flags.
  Source source;
  uint32_t abi = kPaddleSourceAbi;

  // Begins a range of the program or of a phase, in every window that this source
  // records into and in Paddle's own profiler while that runs. Null if nothing
  // records. event_type: a PaddleEventType, which Record::scope then holds.
  void* (*enter)(const char* name, size_t name_size, uint32_t event_type) = nullptr;
  // Ends it, on any thread. REQUIRES: range is from enter and was not ended.
  void (*exit)(void* range) = nullptr;

  // Tests whether a part fits, as far as possible without recording: the functions
  // exist, and the objects that it reads or writes have the expected layout. Null:
  // it fits, and this process will use it; else a static sentence. May crash: call
  // it in a process of its own.
  const char* (*try_part)(PaddlePart part) = nullptr;
  // Reports the result of such a test of this library with this Paddle: "" or a
  // sentence. A part without a result is not used.
  void (*set_probe_result)(PaddlePart part, const char* sentence) = nullptr;
  // How a recording would be made now: "hooks", "drain: why no hooks", likewise
  // "native", "wrappers", or "none: why". Valid until the next set_probe_result.
  const char* (*capture_mode)() = nullptr;

  // Installs a PaddleFallbackRecorder, which must live until the process ends. REQUIRES: part is
  // kNative or kWrappers.
  void (*set_fallback_recorder)(PaddlePart part, const PaddleFallbackRecorder* fallback_recorder) = nullptr;
  // Appends what a PaddleFallbackRecorder has recorded as a track of the window that its `stop`
  // got.
  void (*append)(Window* window, const PaddleThreadEvents& thread) = nullptr;
  // Gives the shapes of the innermost operator that this thread has entered, if
  // wrappers record shapes.
  void (*record_shapes)(std::span<const PaddleTensorShape> tensors) = nullptr;
};

}  // namespace opscope

extern "C" __attribute__((visibility("default"))) const opscope::PaddleSource* opscope_paddle_source();
