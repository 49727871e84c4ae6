// The memory of the columns of added flows, for one who fills in many rows at once.
//
// Thread rule: as plain arrays.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "opscope/trace.h"

namespace opscope {

// Each points at the first of the rows.
struct FlowMemory {
  uint64_t* id = nullptr;
  StringId *category = nullptr, *name = nullptr;
  Timestamp* start_time = nullptr;
  TrackId* start_track = nullptr;
  SpanId* start_span = nullptr;  // number of addition (AddedSpan), kNone: as FlowRow
  Timestamp* end_time = nullptr;
  TrackId* end_track = nullptr;
  SpanId* end_span = nullptr;  // likewise
};

}  // namespace opscope
