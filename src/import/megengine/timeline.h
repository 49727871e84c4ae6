// Facts that MegEngine's timeline spreads over several events (docs/reference/chrome_dialects.md has the single
// events):
//
//   interpreter  ...       i StopStep   ...   i StopStep
//   steps        [ step 0 )[ step 1          )
//
//   The interpreter's StopStep marks the call of `profiler.step()`. The worker writes a second one later.
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
// Sets the devices of all device streams. In Kineto's and opscope's files the process is the device.
void NumberMegEngineDevices(TraceBuilder* builder);

// MegEngine sets a device's clock to that of the threads when a thread submits the first event, but the device reaches
// that event later. So all times of a device are too early by a constant, and kernels may begin before their launches.
// If some do, all spans of the device are moved by the smallest constant that puts each kernel after its launch; the
// true constant can only be larger.
void AlignMegEngineDevices(TraceBuilder* builder);

// The same for a static graph's profile, in which a kernel and its dispatch have the same correlation and each device's
// clock has its own origin.
void AlignMegEngineGraphDevices(TraceBuilder* builder);

// Adds a span and a row of `steps` for each step of each process. They have a track "steps" of their own, because steps
// need not nest with ranges of the program. Does nothing for a file with steps, such as an export of opscope.
void AddMegEngineSteps(TraceBuilder* builder);

}  // namespace opscope
