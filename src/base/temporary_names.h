// The names of files that are written but not yet renamed, for a program that wants to take them away when a signal
// ends it. Whoever writes them notes them; nothing here installs a handler: that is for the owner of the process to do.
//
// Thread rule: any thread; UnlinkTemporaries also in a signal handler, after which the process is to end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace opscope {

// Returns the place of the name, -1 where there are too many at once: that one would stay.
[[nodiscard]] int NoteTemporary(const char* name);
// The file has another name now, or none.
void ForgetTemporary(int place);

void UnlinkTemporaries();

}  // namespace opscope
