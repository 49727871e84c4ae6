// What MegEngine's timeline says in several events (docs/formats.md has what it says in one):
//
//   worker       B ADD  B Input 0  E  B Input 64  E  B Output 76  E  E
//                         {64,64}       {1}            {64,64}
//
//   The lists of the inputs, in their order, are the argument list of ADD: {64,64}, {1}.
//
//   interpreter  ...       i StopStep   ...   i StopStep
//   steps        [ step 0 )[ step 1          )
//
//   `profiler.step()` was called there. The worker writes one more for each when it comes to it, which is later.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/builder.h"

namespace opscope {

// Of one track.
class InputLists {
 public:
  explicit InputLists(TraceBuilder* builder) : builder_(builder) {}

  // A range of a track ends, all that began in it have ended. `depth`: of how many it is in.
  void End(size_t depth, SpanRow* range);

 private:
  struct Input {
    size_t depth = 0;
    ArgsId list = ArgsId::kNone;
  };
  TraceBuilder* builder_;
  std::vector<Input> inputs_;  // that ended and whose operator did not; the depth never falls
};

inline constexpr std::string_view kStepsCategory = "profiler_step";

// The number of a device stream named "gpu1:0" is 1; "xpux:0" is any device, -1.
[[nodiscard]] int32_t NumberOfMegEngineDevice(std::string_view stream);
// Of all device streams. Kineto's and ours are the process.
void NumberMegEngineDevices(TraceBuilder* builder);

// A device's clock is that of the threads at the first event that MegEngine asks of it, though the device comes to that
// later: by then it has ended what it was at, or its thread is awake. So MegEngine's files have all of a device too
// early by a constant, and kernels before their launches. Where there are such, the spans of the device become later by
// the least that puts each kernel behind its launch: its true distance can only be larger.
void AlignMegEngineDevices(TraceBuilder* builder);

// A span and a row of `steps` for each step of each process, on a track "steps" of its own: a range of the program may
// hold several of them, or parts. Nothing where a file has steps already: an export of ours.
void AddMegEngineSteps(TraceBuilder* builder);

}  // namespace opscope
