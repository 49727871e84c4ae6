// Parses the name that Paddle gives to the device of a block of memory.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "trace/builder.h"

namespace opscope {

// "Place(gpu:0)" as torch's DeviceType and index.
void ReadPaddlePlace(std::string_view place, AllocationRow* row);

}  // namespace opscope
