// The names of files that are written but not yet renamed, for a program that wants to take them away when a signal
// ends it. Writers register the names. Installing a handler is up to the owner of the process.
//
// Thread rule: any thread; UnlinkTemporaries also in a signal handler, after which the process is to end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace opscope {

// Returns the place of the name, -1 where there are too many at once: that one would stay.
[[nodiscard]] int RegisterTemporary(const char* name);
// The file has another name now, or none.
void UnregisterTemporary(int place);

void UnlinkTemporaries();

}  // namespace opscope
