// Makes calls of this program fail: the n-th allocation, write, open, ... counted from where it is armed.
// faults.cc defines the C library's functions in the program itself, so the calls of every library reach it,
// those of the recorder and of the compressors among them. Nothing is changed in what is tested.
//
// Thread rule: Arm and Disarm one thread at a time; calls of any thread are counted and fail.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace faults {

enum class Call : uint8_t {
  kAllocate,  // malloc and the like; with the address sanitizer operator new
  kMap,       // mmap
  kThread,    // pthread_create
  kOpen,
  kWrite,   // write and pwrite
  kSpace,   // fallocate and ftruncate
  kClose,   // the descriptor is closed all the same
  kRename,  // rename and linkat
};

struct Fault {
  Call call = Call::kAllocate;
  int number = 0;         // errno; 0: a write of half the bytes, which is no error
  bool persists = false;  // all later calls fail too
};

// From here on the `at`-th call of the kind fails, counted from 1; 0: none, calls are only counted.
void Arm(const Fault& fault, uint64_t at);
// Ends it; returns how many calls there were.
uint64_t Disarm();

}  // namespace faults
