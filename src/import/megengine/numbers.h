// The numbers in MegEngine's timeline, out of names and members into columns, where those that share them are found:
//
//   worker  "Input 155" {id: 155, name: "x", shape: ...}   ->  "Input", external_id 155; a row of `tensor_lives`
//   worker  "ADD"  {__id__: 9192, __name__: "ADD", ...}    ->  external_id and correlation 9192; its kernel likewise
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/builder.h"

namespace opscope {

// For each process a member "PID:TID": "CompNode(...)" per stream, the text of the device it belongs to.
inline constexpr char kMegEngineDevices[] = "megengine.devices";

// After all rows of a file were added and its spans have kinds.
void GiveMegEngineNumbers(TraceBuilder* builder);

}  // namespace opscope
