// Fills in the kinds of all spans of a trace, once the spans are in their final order.
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

// Derives the kind from category, name, flags and track for spans without one. True if the importer set a kind
// that differs from the derived one. O(n).
bool FillKinds(const StringPool& strings, std::span<const TrackRow> tracks, ThreadTeam* team, SpanTable* spans);

}  // namespace opscope
