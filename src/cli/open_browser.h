// Starts the user's browser: $BROWSER, else the one of the desktop.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/result.h"

namespace opscope {

// The address is the last argument of the program. $BROWSER may contain further arguments, separated by blanks. Waits a
// second for programs that only hand the address over; a browser that runs longer goes on beside this process. kIo: it
// could not be started, or failed at once.
[[nodiscard]] Status OpenBrowser(const std::string& address);

// file:///home/me/run.html of a path, with what addresses do not allow as %XX.
[[nodiscard]] std::string FileAddress(const std::string& path);

}  // namespace opscope
