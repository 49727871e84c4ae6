// The kinds of all spans of a trace, once these stand in their order.
//
// Thread rule: one thread at a time; it divides the rows among a team.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/thread_team.h"
#include "trace/builder.h"
#include "trace/span_table.h"
#include "trace/string_pool.h"

namespace opscope {

// Finds them by category, name, flags and track where none was given. Whether some span was given one that would not
// have been found. O(n).
bool FillKinds(const StringPool& strings, std::span<const TrackRow> tracks, ThreadTeam* team, SpanTable* spans);

}  // namespace opscope
