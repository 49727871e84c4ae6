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

// Into every window that wants memory. What an allocator keeps for itself is passed over.
void NoteMemory(const void* block, const paddle_layout::Place& place, size_t bytes, uint32_t event);

// kHostMemoryKey's value: what the CPU's allocator holds now. Empty: this Paddle does not tell. May throw.
std::string HostMemoryJson();

}  // namespace opscope
