// What stands before the events of a Perfetto trace: the clocks, the tracks, the texts.
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

// All of them, in pieces.
void WritePerfettoHead(const Trace& trace, const PerfettoPlan& plan, ExportOutput* out);

}  // namespace opscope
