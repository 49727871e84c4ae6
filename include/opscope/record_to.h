// What all front ends share about record_to, the file that a recording lies in
// while it is made: its path and its warning.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opscope/recorder_abi.h"

namespace opscope {

// Path of the n-th recording (from 1) of one profiler; "": record into memory.
//
//   record_to = "x.opscope"                 x.opscope, x.2.opscope, x.3.opscope, ...
//   in a forked child                       x.PID.opscope, ...: the parent's file stays untouched
//   record_to = "", OPSCOPE_RECORD_TO set   y.PID.opscope, y.PID.2.opscope, ...
//
// The environment's paths always have the process id, because child programs
// inherit it, and count the recordings of the process. REQUIRES: one call per
// recording, since each call counts.
[[nodiscard]] std::string RecordingPath(std::string_view record_to, int64_t n);

// A sentence with the path, the reason, and where the recording is now. REQUIRES:
// file.error != 0
[[nodiscard]] std::string FileWarning(std::string_view path, const WindowFile& file);

}  // namespace opscope
