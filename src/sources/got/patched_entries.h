// GOT entries that point to hooks, with their former targets.
//
// Thread rule: GotLock() is held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sources/got/got_entries.h"

namespace opscope {

class PatchedEntries {
 public:
  explicit PatchedEntries(ProtectPages protect = &mprotect) : protect_(protect) {}
  PatchedEntries(const PatchedEntries&) = delete;
  PatchedEntries& operator=(const PatchedEntries&) = delete;

  // False: the entry cannot be written. Nothing has changed then, nor when it throws std::bad_alloc.
  bool Patch(const GotEntry& entry, void* ours);
  // Restores all entries, except those that another library has patched meanwhile.
  void Restore();
  bool empty() const { return patched_.empty(); }

 private:
  struct PatchedEntry {
    GotEntry entry;
    void* before;
    void* ours;
  };
  ProtectPages protect_;
  std::vector<PatchedEntry> patched_;
};

}  // namespace opscope
