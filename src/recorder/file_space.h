// System calls for a file that memory is mapped from, such that a failure is an errno and never a signal: space
// on the disk, writable pages, a new file under a temporary name.
//
// Thread rule: any thread. Functions return errno, 0: done; errno itself may change.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

// Gives the bytes [offset, offset + bytes) of the file room on the disk; they read as zero.
int AllocateSpace(int descriptor, uint64_t offset, uint64_t bytes);

int WriteAll(int descriptor, uint64_t offset, const void* data, uint64_t bytes);

// Makes the pages of a new shared mapping writable: where the disk has no room after all this says so, and a
// store would raise SIGBUS. The bytes stay zero.
int MakeWritable(void* address, uint64_t bytes);

// Creates a file of its own beside `path`. `name` takes its name.
int CreateTemporary(const char* path, char* name, uint64_t name_bytes, int* descriptor);

}  // namespace opscope
