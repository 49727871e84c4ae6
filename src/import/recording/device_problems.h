// What the source of a device has found wrong (kDeviceProblemsKey), as problems of the Trace.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "trace/builder.h"

namespace opscope {

// json: [[kind, severity, count, text], ...]; severity "info" is for a kind that usually means lost data. What is not
// of this form, and kinds that are none of devices, are left out.
void AddDeviceProblems(std::string_view json, TraceBuilder* builder);

}  // namespace opscope
