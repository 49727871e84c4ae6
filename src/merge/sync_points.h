// Finds the moments of a trace that all ranks of a group share: the ends of collectives that no rank leaves before all
// have arrived, and of spans that the user names.
//
// Thread rule: pure function. Cost: O(spans) per name plus the search for collectives.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

struct SyncPoint {
  int64_t time_ns = 0;                 // a Timestamp of the trace
  uint64_t label = 0;                  // kind and size of the operation: equal on every rank of the group
  std::optional<int64_t> number = {};  // Collective::number
};

// Points by group, unordered. The key is the group's name with, if known, its members.
using SyncPoints = std::map<std::string, std::vector<SyncPoint>>;

// `names`: names of spans whose end is a sync point, beside the collectives. Of a trace with several ranks, each group
// has the points of one rank.
[[nodiscard]] SyncPoints FindSyncPoints(const Trace& trace, std::span<const std::string> names);

}  // namespace opscope
