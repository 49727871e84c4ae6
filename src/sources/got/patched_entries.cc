// GOT entries that a source has patched, with what they held before. Restore leaves an entry alone that another library
// has patched since: writing the old address would undo the other's hook.
// SPDX-License-Identifier: Apache-2.0
#include "sources/got/patched_entries.h"

namespace opscope {

bool PatchedEntries::Patch(const GotEntry& entry, void* ours) {
  patched_.push_back({entry, __atomic_load_n(entry.address, __ATOMIC_ACQUIRE), ours});
  if (WriteGotEntry(entry, ours, protect_)) return true;
  patched_.pop_back();
  return false;
}

void PatchedEntries::Restore() {
  for (const PatchedEntry& each : patched_) {
    if (__atomic_load_n(each.entry.address, __ATOMIC_ACQUIRE) == each.ours)
      WriteGotEntry(each.entry, each.before, protect_);
  }
  patched_.clear();
}

}  // namespace opscope
