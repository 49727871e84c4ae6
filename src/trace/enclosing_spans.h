// Finds the innermost span of a track around a time: it starts at or before the time and ends after it, or starts at
// it. TraceBuilder finds the spans at the ends of flows with it.
//
//   a [0,90)   b [10,40)   c [20,30)        25 -> c      35 -> b      60 -> a      95 -> none
//
// The result is the last span that starts at or before the time, or one of its ancestors, mostly after a step or two.
// A climb through d ancestors that have ended, once for each of m times, would take O(d * m): 100,000 flows behind a
// nest of 100,000 spans took minutes. So a climb stops after kMaxSteps. Finish resolves the remaining times together,
// in ascending order: an ancestor that has ended before one time has ended before all later ones, so path compression
// removes it for good.
//
// Thread rule: one thread at a time. The spans must not change.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/types.h"
#include "trace/span_table.h"

namespace opscope {

class EnclosingSpans {
 public:
  explicit EnclosingSpans(const SpanTable& spans) : spans_(spans) {}

  // Sets *found to the span, now or in Finish. `found` must stay valid until then.
  void Find(const TrackRange& range, Timestamp time, SpanId* found);
  // Resolves what Find has deferred.
  void Finish();

 private:
  static constexpr int kMaxSteps = 64;

  struct Deferred {
    int64_t time = 0;
    uint32_t row = 0;  // where the climb stopped
    SpanId* found = nullptr;
  };

  bool Holds(uint32_t row, int64_t time) const;

  const SpanTable& spans_;
  std::vector<Deferred> deferred_;
};

}  // namespace opscope
