// Moves the numbers of MegEngine's timeline from names and members into columns, so that rows can be joined by them:
//
//   worker  "Input 155" {id: 155, name: "x", shape: ...}   ->  "Input", external_id 155; a row of `tensor_lives`
//   worker  "ADD"  {__id__: 9192, __name__: "ADD", ...}    ->  external_id and correlation 9192; its kernel likewise
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/builder.h"

namespace opscope {

// Metadata: a member "PID:TID": "CompNode(...)" per stream, the text of the stream's device.
inline constexpr char kMegEngineDevices[] = "megengine.devices";

// REQUIRES: all rows of the file were added, and its spans have kinds.
void GiveMegEngineNumbers(TraceBuilder* builder);

}  // namespace opscope
