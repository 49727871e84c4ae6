// Copies one row of a table of a Trace into a row for a TraceBuilder: the building block of merging and
// cutting.
//
//   builder.AddCounter(CopyRow<CounterDescription>(trace.counters(), row, [&](const auto& v) { return Convert(v); }));
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "trace/rows.h"

namespace opscope {

// convert(value) translates each value: ids of texts and rows differ between traces. O(columns)
template <typename Description, typename Convert>
typename RowStruct<Description>::Type CopyRow(const typename Description::Columns& columns, size_t row,
                                              Convert convert) {
  typename RowStruct<Description>::Type copy;
  Description::ForEach([&](auto, const auto& values, auto& value) { value = convert(values[row]); }, columns, copy);
  return copy;
}

}  // namespace opscope
