// Writes a Trace as an `.opscope` file, the only format that keeps everything. It
// is written beside its final name and renamed; kIo errors name the path.
//
//   OPSCOPE_TRY(opscope::ExportOpscope(trace, "run.opscope"));
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// Compressed columns (src/wire/FORMAT.md) that load at memory speed. kIo,
// kNotFound: the system refused.
[[nodiscard]] Status ExportOpscope(const Trace& trace, const std::string& path);
// The same in memory.
[[nodiscard]] Result<std::string> OpscopeBytes(const Trace& trace);

}  // namespace opscope
