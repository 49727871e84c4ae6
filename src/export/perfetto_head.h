// The packets before the events of a Perfetto trace: clocks, tracks, interned texts.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "export/export_output.h"
#include "export/perfetto_plan.h"
#include "opscope/trace.h"

namespace opscope {

inline constexpr uint32_t kPerfettoSequence = 1;  // of every packet

// Writes all of these packets, in pieces of a megabyte.
void WritePerfettoHead(const Trace& trace, const PerfettoPlan& plan, ExportOutput* out);

}  // namespace opscope
