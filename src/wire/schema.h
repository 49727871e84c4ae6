// Numbers in kTable blocks of the tables and columns that have no counterpart in a Trace. The other numbers are in
// include/opscope/trace_tables.def. A number is never reused; readers skip a column whose number they do not know.
// FORMAT.md has the meaning.
//
// Thread rule: constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope::wire {

// Ids (of strings, tracks, lists, ...) are stored plus one modulo 2^32: 0 is "none".
inline constexpr uint64_t kNoId = 0;

// In every table whose rows have numbers: one value, the number of the block's first row.
inline constexpr uint32_t kFirstRow = 0;

inline constexpr uint32_t kArguments = 12;

// Spans of one slice of time. A segment is a run of rows of one track.
namespace span {
enum : uint32_t {
  kSegmentTrack = 1,
  kSegmentAsync = 2,
  kSegmentRows = 3,
  kSegmentBase = 4,
  kSegmentFirstRow = 5,
  kDepth = 6,
  kStartAfterStart = 7,
  kEndAfterStart = 8,
  kStartAfterEnd = 9,
  kEndAfterEnd = 10,  // nested segments
  kAsyncStart = 11,
  kAsyncDuration = 12,  // async segments
};
}

// Lists of arguments, flattened: list i has kListSize[i] arguments; a tensor list is followed by its tensors.
namespace argument {
enum : uint32_t {
  kListSize = 1,
  kKind = 2,
  kDtype = 3,
  kValue = 4,
  kHasStrides = 5,
  kSizeCount = 6,
  kStrideCount = 7,
  kTensorCount = 8,
  kSizes = 9,
  kStrides = 10,
  kLayout = 11
};
}

}  // namespace opscope::wire
