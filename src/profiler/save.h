// Writes a closed window as a raw `.opscope` file: its information and its chunks, as blocks.
//
// Thread rule: any thread; the window must not be freed meanwhile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/recorder.h"
#include "opscope/result.h"

namespace opscope {

[[nodiscard]] Status SaveRecording(const Window* window, const std::string& path);

}  // namespace opscope
