// Finds a span's row in the table python_calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "opscope/trace.h"

namespace opscope {

// The row of `calls` for `span`, or the number of rows if the span has no such row. *next is the row to try first; it is set to
// the row after the result, so that a walk over ascending spans rarely needs the binary search.
inline size_t FindPythonCall(const PythonCallColumns& calls, SpanId span, size_t* next) {
  constexpr size_t kMaxSteps = 8;
  for (size_t step = 0; step < kMaxSteps && *next < calls.size() && calls.span[*next] < span; ++step)
    ++*next;
  if (*next >= calls.size() || calls.span[*next] != span) {
    *next = static_cast<size_t>(std::ranges::lower_bound(calls.span, span) - calls.span.begin());
    if (*next == calls.size() || calls.span[*next] != span) return calls.size();
  }
  return (*next)++;
}

}  // namespace opscope
