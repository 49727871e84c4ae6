// Walks steps and Python calls together in order of time. The start of a step moves to one nanosecond after the first
// call that began within it and ended at or behind its end. Calls of C functions are tried last.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/step_starts.h"

#include <algorithm>

namespace opscope {

void StepStarts::Move(TraceBuilder* builder) {
  std::stable_sort(calls_.begin(), calls_.end(), [](const Call& a, const Call& b) {
    return a.is_c_function != b.is_c_function ? b.is_c_function : a.start < b.start;
  });
  const SpanColumns spans = builder->added_spans();
  auto call = calls_.begin();
  for (const AddedSpan step : steps_) {
    const Timestamp start = spans.start[static_cast<size_t>(step)];
    const Timestamp end = start + spans.duration[static_cast<size_t>(step)];
    for (; call != calls_.end() && call->start <= end; ++call) {
      if (call->start <= start || call->start == end || call->end < end) continue;
      builder->MoveStart(step, call->start + Duration{1});
      ++call;
      break;
    }
  }
}

}  // namespace opscope
