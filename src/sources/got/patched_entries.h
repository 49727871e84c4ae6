// Slots that point to functions of ours, and what they held before.
//
// Thread rule: SlotLock() is held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sources/got/got_entries.h"

namespace opscope {

class PointedSlots {
 public:
  explicit PointedSlots(ProtectPages protect = &mprotect) : protect_(protect) {}
  PointedSlots(const PointedSlots&) = delete;
  PointedSlots& operator=(const PointedSlots&) = delete;

  // False: the slot cannot be written, and nothing has changed. May throw std::bad_alloc, before anything has changed.
  bool Point(const CallSlot& slot, void* ours);
  // A slot that somebody else has re-pointed meanwhile is left to them.
  void PutBack();
  bool empty() const { return pointed_.empty(); }

 private:
  struct PointedSlot {
    CallSlot slot;
    void* before;
    void* ours;
  };
  ProtectPages protect_;
  std::vector<PointedSlot> pointed_;
};

}  // namespace opscope
