// Allocations and frees of Paddle's tensors, as its allocators report them: address, bytes (also of a free) and place.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sources/paddle/paddle_layout.h"

namespace opscope {

// Records the event in every window with memory. Ignores memory that an allocator reserves for itself.
void RecordMemory(const void* block, const paddle_layout::Place& place, size_t bytes, uint32_t event);

// The value of kHostMemoryKey: bytes of the CPU's allocator now. Empty: this Paddle has no such function. May throw.
std::string HostMemoryJson();

}  // namespace opscope
