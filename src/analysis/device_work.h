// Device work: kernels, copies and sets on stream tracks, with the class of each and the host call that launched it.
// docs/reference/devices.md, has the rules.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/name_predicate.h"
#include "analysis/track_spans.h"
#include "opscope/trace.h"

namespace opscope {

enum class WorkClass : uint8_t { kCompute, kCommunication, kCopy };

struct DeviceWork {
  Interval time;  // ns
  WorkClass work_class = WorkClass::kCompute;
  SpanKind kind = SpanKind::kKernel;     // kKernel, kCopy or kSet
  bool uses_tensor_cores = false;        // by the kernel's name
  SpanId operator_span = SpanId::kNone;  // the operator that launched it; kNone: unknown
  bool is_eligible = false;              // the operator can use tensor cores
};

// Classifies device spans. Caches the result per name.
class WorkFinder {
 public:
  explicit WorkFinder(const Trace& trace);

  // nullopt if the span is no work. REQUIRES: the span is on a stream. O(1).
  std::optional<WorkClass> ClassOf(uint32_t span);
  // REQUIRES: `work_class` is that of the span. O(1) if the caller goes through the spans in their order, else O(log
  // launches).
  DeviceWork Describe(uint32_t span, WorkClass work_class);
  // Calls use(span, class) for each selected work of a stream, in the order of rows; not at all for other tracks.
  template <typename Use>
  void ForEach(uint32_t track, const std::vector<uint8_t>* selected, const Use& use) {
    if (trace_.tracks().kind[track] != TrackKind::kDeviceStream) return;
    for (const uint32_t span : SpansOfTrack(trace_, track)) {
      if (!IsSelected(selected, span)) continue;
      if (const std::optional<WorkClass> work_class = ClassOf(span)) use(span, *work_class);
    }
  }

 private:
  SpanId OperatorOf(uint32_t span);

  const Trace& trace_;
  NamePredicate communicates_, uses_tensor_cores_, is_eligible_;
  size_t last_launch_ = 0;  // row of the last answer
};

// Finds the call that launched a device span: among the host spans of its rank with its correlation, the one that
// begins first.
class LaunchCalls {
 public:
  explicit LaunchCalls(const Trace& trace) : trace_(trace) {}

  // kNone if no call is known. O(log n), O(1) for a correlation next to that of the call before; the first call sorts
  // the n host spans with a correlation, O(n) if they are in order.
  SpanId LaunchOf(uint32_t span);
  // Likewise by rank and correlation; kNone for correlation 0.
  SpanId CallOf(int32_t rank, uint32_t correlation);

 private:
  struct Call {
    int32_t rank = -1;
    uint32_t correlation = 0;
    int64_t begin = 0;
    uint32_t span = 0;
    auto operator<=>(const Call&) const = default;
  };

  void FindCalls();

  const Trace& trace_;
  bool are_found_ = false;
  std::vector<Call> calls_;  // sorted; only the first of each rank and correlation
  size_t found_last_ = 0;    // of calls_
};

}  // namespace opscope
