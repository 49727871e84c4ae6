// The moments of a trace that other ranks of its job saw too: the ends of collectives that nobody leaves before all
// have come, and of spans that the user says are such.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

struct SyncPoint {
  int64_t time_ns = 0;  // a Timestamp of the trace
  uint64_t label = 0;   // what it was (kind and size): equal on every rank of the group
};

// By group, in no order. The key holds what the group is called and, where that is told, who is in it.
using SyncPoints = std::map<std::string, std::vector<SyncPoint>>;

// `names`: spans whose end is such a moment, beside the collectives. A trace of several ranks gives those of one rank
// for each group.
[[nodiscard]] SyncPoints FindSyncPoints(const Trace& trace, std::span<const std::string> names);

}  // namespace opscope
