// The Paddle in the process: its functions and variables, found by name in the loaded libraries.
//
// Thread rule: FindPaddle requires GotLock(). Any thread reads `paddle`; a member that is set never changes again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "opscope/paddle_source.h"
#include "sources/paddle/paddle_layout.h"

namespace opscope {

inline constexpr const char* kPaddleLibraries[] = {"libphi_core.so", "libpaddle.so"};
inline constexpr uint32_t kLevelOfPython = 1;  // of the ranges that Paddle's own Python makes
// By paddle_layout::Symbol.
extern const char* const kPaddleSymbols[paddle_layout::kSymbols];

struct PaddleLibrary {
  paddle_layout::BeginStatic begin_static = nullptr;
  paddle_layout::BeginCopied begin_copied = nullptr;
  paddle_layout::End end = nullptr;
  paddle_layout::IsEnabled is_enabled = nullptr;
  paddle_layout::OpInfo op_info = nullptr;
  paddle_layout::IsEnabled op_info_is_enabled = nullptr;
  paddle_layout::Memory memory = nullptr;

  // Paddle's own profiler records events of this level and below; -1: it does not run.
  int32_t* level = nullptr;
  const int32_t* wanted_level = nullptr;  // FLAGS_host_trace_level, the level of its next recording

  // Paddle's recorder of events, which its profiler reads.
  void* recorder = nullptr;
  void (*enable_recorder)() = nullptr;
  void (*disable_recorder)() = nullptr;
  paddle_layout::HostEvents (*gather)(void* recorder) = nullptr;

  // Bytes of the CPU's allocator; kind: "Allocated" or "Reserved".
  int64_t (*memory_now)(const std::string& kind, int device) = nullptr;
  int64_t (*memory_peak)(const std::string& kind, int device) = nullptr;
};
extern PaddleLibrary paddle;

// Read-only memory of Paddle's libraries, such as their literals. These libraries are never unloaded.
struct ReadOnlyRange {
  uintptr_t begin = 0, end = 0;
};
extern ReadOnlyRange read_only[2];

inline bool IsLiteral(const char* text) {
  const auto place = reinterpret_cast<uintptr_t>(text);
  return place - read_only[0].begin < read_only[0].end - read_only[0].begin ||
         place - read_only[1].begin < read_only[1].end - read_only[1].begin;
}

// Searches for the functions and variables that the part needs and that are not found yet. Null: all are found; else a
// static sentence. Throws std::bad_alloc.
const char* FindPaddle(PaddlePart part);

inline bool PaddleProfilerRuns() {
  return paddle.level != nullptr && __atomic_load_n(paddle.level, __ATOMIC_RELAXED) != -1;
}

}  // namespace opscope
