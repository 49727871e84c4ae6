// What MegEngine's timeline says in several events (docs/reference/chrome_dialects.md has what it says in one):
//
//   interpreter  ...       i StopStep   ...   i StopStep
//   steps        [ step 0 )[ step 1          )
//
//   `profiler.step()` was called there. The worker writes one more for each when it comes to it, which is later.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/builder.h"

namespace opscope {

// The number of a device stream named "gpu1:0" is 1; "xpux:0" is any device, -1.
[[nodiscard]] int32_t NumberOfMegEngineDevice(std::string_view stream);
// Of all device streams. Kineto's and ours are the process.
void NumberMegEngineDevices(TraceBuilder* builder);

// A device's clock is that of the threads at the first event that MegEngine asks of it, though the device comes to that
// later: by then it has ended what it was at, or its thread is awake. So MegEngine's files have all of a device too
// early by a constant, and kernels before their launches. Where there are such, the spans of the device become later by
// the least that puts each kernel behind its launch: its true distance can only be larger.
void AlignMegEngineDevices(TraceBuilder* builder);

// Likewise for a static graph's profile, where a kernel and its dispatch have the same correlation and a device's clock
// has an origin of its own.
void AlignMegEngineGraphDevices(TraceBuilder* builder);

// A span and a row of `steps` for each step of each process, on a track "steps" of its own: a range of the program may
// hold several of them, or parts. Nothing where a file has steps already: an export of ours.
void AddMegEngineSteps(TraceBuilder* builder);

}  // namespace opscope
