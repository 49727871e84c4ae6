// The slots through which a loaded library calls the functions of others (or its own, where they may be
// replaced): the linker's table of addresses. To re-point one is to stand in front of that function for
// the calls of that one library, without LD_PRELOAD and without a change of its code.
//
// Thread rule: any thread; a call that is under way meanwhile reaches either the old or the new target.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace opscope {

struct CallSlot {
  void** place = nullptr;
  bool is_protected = false;  // lies in pages that the linker has made read-only
};

// Slots of the symbol in the library whose file name begins with `library` ("libc10.so"). Empty when it is
// not loaded, or calls the symbol otherwise. May throw std::bad_alloc.
std::vector<CallSlot> FindCallSlots(const char* library, const char* symbol);

// False: the page cannot be written.
bool PointCallSlot(const CallSlot& slot, void* target);

}  // namespace opscope
