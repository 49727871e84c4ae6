// The device that a trace was recorded on, by name.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/trace.h"

namespace opscope {

// Name of the devices, from the metadata deviceProperties: "NVIDIA A100-SXM4-40GB". "" if the trace lists none, or
// devices of several names.
std::string DeviceNameOf(const Trace& trace);

}  // namespace opscope
