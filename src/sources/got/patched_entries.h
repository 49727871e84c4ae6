// GOT entries that a source has patched to point to its hooks, with their former targets.
//
// Thread rule: GotLock() is held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sources/got/got_entries.h"

namespace opscope {

class PatchedEntries {
 public:
  explicit PatchedEntries(ProtectPages protect = &mprotect) : protect_(protect) {}
  PatchedEntries(const PatchedEntries&) = delete;
  PatchedEntries& operator=(const PatchedEntries&) = delete;

  // Makes the entry point to `hook`. False: the entry cannot be written. Then, and when it throws std::bad_alloc,
  // nothing has changed.
  bool Patch(const GotEntry& entry, void* hook);
  // Patches each entry with the hook of its symbol (hooks[entry.symbol]). False: an entry cannot be written; then all
  // entries of this object are restored. May throw std::bad_alloc.
  bool PatchAll(std::span<const GotEntry> entries, std::span<void* const> hooks);
  // Restores all entries, except those that another library has patched meanwhile.
  void Restore();
  bool empty() const { return patched_.empty(); }

 private:
  struct PatchedEntry {
    GotEntry entry;
    void* before;
    void* hook;
  };
  ProtectPages protect_;
  std::vector<PatchedEntry> patched_;
};

}  // namespace opscope
