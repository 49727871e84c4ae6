// Moves the begins of steps for `adjust_profiler_step`. A `with` block or `prof.step()` opens the range of a step in
// one Python call and closes it in another, so that the range crosses the call that closes it. The range is cut to
// begin in that call, a nanosecond after it, so that it is nested in it:
//
//   step range   [0 ........ 100)          becomes  [91 .. 100)
//   call                 [90 ... 110)
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trace/builder.h"

namespace opscope {

class StepStarts {
 public:
  void AddCall(Timestamp start, Timestamp end, bool is_c_function) { calls_.push_back({start, end, is_c_function}); }
  void AddStep(AddedSpan span) { steps_.push_back(span); }
  // Merges steps and calls in one pass, as torch does: functions and modules of Python of all threads by start, then C
  // functions. Steps are in the order in which they were added.
  void Move(TraceBuilder* builder);

 private:
  struct Call {
    Timestamp start, end;
    bool is_c_function;
  };
  std::vector<Call> calls_;
  std::vector<AddedSpan> steps_;
};

}  // namespace opscope
