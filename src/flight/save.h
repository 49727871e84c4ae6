// Writes a window as a raw `.opscope` file: its information and its chunks, as blocks. A closed one is
// saved, an open one is dumped: as it is now, while it goes on.
//
// Thread rule: any thread; the window must not be freed meanwhile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/recorder.h"
#include "opscope/result.h"

namespace opscope {

[[nodiscard]] Status SaveRecording(const Window* window, const std::string& path);

// about: members of a JSON object, for the window's information. The file is readable for its owner alone.
[[nodiscard]] Status SaveDump(Window* window, const std::string& about, const std::string& path);

}  // namespace opscope
