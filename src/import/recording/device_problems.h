// Adds the problems that the source of a device reported (kDeviceProblemsKey) to the Trace.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "trace/builder.h"

namespace opscope {

// json: [[kind, severity, count, text], ...]; severity "info" is for a kind that usually means lost data. Malformed
// entries, and kinds that are not about devices, are left out.
void AddDeviceProblems(std::string_view json, TraceBuilder* builder);

}  // namespace opscope
