// Checks after a trial. Each returns a description of what is wrong, or an empty text.
//
// Thread rule: pure functions of files and values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fault_loop.h"
#include "opscope/result.h"
#include "opscope/trace.h"
#include "recorded_work.h"

namespace faults {

inline constexpr std::string_view kOldFile = "what stood here before";

std::string ReadText(const std::string& path);
void Put(const std::string& path, std::string_view text);
std::string FolderOf(const std::string& path);
uint64_t EventsOf(const opscope::Trace& trace);

// Checks that the error is allowed in this trial and that its message names `about`.
std::string CheckError(const Trial& trial, const opscope::Error& error, std::string_view about);
// Checks that the file at `path` is the old one after an error, and otherwise a complete recording.
std::string CheckFile(const Trial& trial, const opscope::Status& status, const std::string& path);
// Checks that recorded + dropped = issued and that the program's own result is right.
std::string CheckCounts(uint64_t recorded, uint64_t dropped, const RecordedWork& work);

}  // namespace faults
