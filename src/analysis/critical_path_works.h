// The device side of the graph of a critical path: the works of one rank in order of time, with what releases each.
// docs/reference/critical_path.md, "Works", has the rules.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/critical_path_lanes.h"
#include "analysis/device_report.h"
#include "base/saturating.h"
#include "opscope/trace.h"

namespace opscope {

// Columns of the works; a work is an index. In order of begin, then of end, then of rows.
class PathWorks {
 public:
  // `streams`: tracks. O(n log s).
  PathWorks(const std::vector<uint32_t>& streams, const std::vector<uint8_t>* selected, DeviceAnalysisState* state);

  uint32_t size() const { return static_cast<uint32_t>(spans_.size()); }
  uint32_t Span(uint32_t work) const { return spans_[work]; }
  int64_t Begin(uint32_t work) const { return start_[spans_[work]].ns; }
  int64_t End(uint32_t work) const { return SaturatingAdd(Begin(work), duration_[spans_[work]].ns); }
  bool IsEmpty(uint32_t work) const { return Begin(work) == End(work); }  // of length 0
  // The span of the launch, and the work before it on its stream; kNoPathNode: none.
  uint32_t Launch(uint32_t work) const { return launches_[work]; }
  uint32_t Before(uint32_t work) const { return before_[work]; }
  // REQUIRES: it has a launch.
  int64_t LaunchBegin(uint32_t work) const { return start_[launches_[work]].ns; }
  // From the first begin to the last end.
  Interval window() const { return window_; }

  // The works that a work waits for because its stream waits for an event.
  void SetStreamWaits(std::vector<std::pair<uint32_t, uint32_t>> waits);  // work, what it waits for
  // Calls use(work) for each.
  template <typename Use>
  void ForEachAwaited(uint32_t work, const Use& use) const {
    if (stream_waits_.empty() || !has_waits_[work]) return;
    auto wait = std::lower_bound(stream_waits_.begin(), stream_waits_.end(), std::pair(work, uint32_t{0}));
    for (; wait != stream_waits_.end() && wait->first == work; ++wait)
      use(wait->second);
  }

 private:
  const Timestamp* start_;  // columns of the Trace
  const Duration* duration_;
  std::vector<uint32_t> spans_, launches_, before_;
  Interval window_ = {INT64_MAX, INT64_MIN};
  std::vector<std::pair<uint32_t, uint32_t>> stream_waits_;  // sorted
  std::vector<bool> has_waits_;                              // by work; empty: none has
};

}  // namespace opscope
