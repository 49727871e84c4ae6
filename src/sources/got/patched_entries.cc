// SPDX-License-Identifier: Apache-2.0
#include "sources/got/patched_entries.h"

namespace opscope {

bool PointedSlots::Point(const CallSlot& slot, void* ours) {
  pointed_.push_back({slot, __atomic_load_n(slot.place, __ATOMIC_ACQUIRE), ours});
  if (PointCallSlot(slot, ours, protect_)) return true;
  pointed_.pop_back();
  return false;
}

void PointedSlots::PutBack() {
  for (const PointedSlot& each : pointed_) {
    if (__atomic_load_n(each.slot.place, __ATOMIC_ACQUIRE) == each.ours)
      PointCallSlot(each.slot, each.before, protect_);
  }
  pointed_.clear();
}

}  // namespace opscope
