// The rank that a row of a device belongs to.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "opscope/trace.h"

namespace opscope {

// -1: the input does not say it.
[[nodiscard]] inline int64_t RankOf(const Trace& trace, ProcessId process) {
  return process == ProcessId::kNone ? -1 : trace.processes().rank[Row(process)];
}

}  // namespace opscope
