// Restore skips an entry that another library has patched since: writing the old address would undo the other's hook.
// SPDX-License-Identifier: Apache-2.0
#include "sources/got/patched_entries.h"

namespace opscope {

bool PatchedEntries::Patch(const GotEntry& entry, void* hook) {
  patched_.push_back({entry, __atomic_load_n(entry.address, __ATOMIC_ACQUIRE), hook});
  if (WriteGotEntry(entry, hook, protect_)) return true;
  patched_.pop_back();
  return false;
}

bool PatchedEntries::PatchAll(std::span<const GotEntry> entries, std::span<void* const> hooks) {
  for (const GotEntry& entry : entries) {
    if (Patch(entry, hooks[entry.symbol])) continue;
    Restore();
    return false;
  }
  return true;
}

void PatchedEntries::Restore() {
  for (const PatchedEntry& each : patched_) {
    if (__atomic_load_n(each.entry.address, __ATOMIC_ACQUIRE) == each.hook)
      WriteGotEntry(each.entry, each.before, protect_);
  }
  patched_.clear();
}

}  // namespace opscope
