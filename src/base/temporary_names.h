// The names of temporary files, so that a program can delete them when a signal ends it. Writers register the names; a
// signal handler that the program installs calls UnlinkTemporaries.
//
// Thread rule: any thread; UnlinkTemporaries also in a signal handler, after which the process is to end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace opscope {

// Copies the name. Returns its slot; -1 if there are too many names or this one is too long: the file would then stay.
[[nodiscard]] int RegisterTemporary(const char* name);
// After the file was renamed or deleted. `slot`: of RegisterTemporary; -1 does nothing.
void UnregisterTemporary(int slot);

// Deletes all registered files. Their slots cannot be used again.
void UnlinkTemporaries();

}  // namespace opscope
