// Writes a Trace as an `.opscope` file: beside the final name, then renamed; kIo errors name the path.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// `.opscope`: compressed columns, loads at memory speed.
[[nodiscard]] Status ExportOpscope(const Trace& trace, const std::string& path);
[[nodiscard]] Result<std::string> OpscopeBytes(const Trace& trace);

}  // namespace opscope
