// The entries of an open folder, for readdir. The destructor closes the folder.
//
//   const FolderEntries entries = EntriesOf(UniqueDescriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
//   if (entries == nullptr) return;
//   while (const dirent* entry = readdir(entries.get())) Use(entry->d_name);
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dirent.h>

#include <memory>

#include "base/descriptor.h"

namespace opscope {

using FolderEntries = std::unique_ptr<DIR, int (*)(DIR*)>;

// nullptr: it is no folder, or the system refuses; errno says why.
[[nodiscard]] inline FolderEntries EntriesOf(UniqueDescriptor folder) {
  FolderEntries entries(fdopendir(folder.get()), &closedir);
  if (entries != nullptr) static_cast<void>(folder.Release());  // closedir closes it
  return entries;
}

}  // namespace opscope
