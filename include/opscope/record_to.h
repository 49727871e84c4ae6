// What the front ends say and do alike about record_to, the file that a recording lies in while it is made.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opscope/recorder_abi.h"

namespace opscope {

// Path of the n-th recording (from 1) of one profiler: x.opscope, x.2.opscope, x.3.opscope ... In a forked
// child x.PID.opscope and so on: the parent's file is none of its business. Without record_to the environment
// variable OPSCOPE_RECORD_TO is asked; its paths have the process number always, for the programs that a program
// starts inherit it, and count the recordings of the process. "": in memory. Ask once for each recording.
[[nodiscard]] std::string RecordingPath(std::string_view record_to, int64_t n);

// A sentence with the path and the reason. REQUIRES: file.error != 0
[[nodiscard]] std::string FileWarning(std::string_view path, const WindowFile& file);

}  // namespace opscope
