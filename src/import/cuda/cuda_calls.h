// Calls of the CUDA runtime and driver: the operator and the user range that enclose each call, and the call to which a
// record of a device belongs.
//
//   Add for each call, Place when all operators have rows and numbers, then Find
//
// The span of a call lies on the track of the thread that made it. A call that Kineto does not show gets no span, but
// Find returns it.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/column.h"
#include "import/cuda/cuda_naming.h"
#include "import/cuda/cuda_record.h"
#include "trace/builder.h"

namespace opscope {

// A call whose span, if it is shown, is in the builder.
struct CudaCall {
  Timestamp start;
  uint32_t correlation = 0;
  uint32_t external_id = 0;  // of the innermost enclosing operator, 0: none
  TrackId track = TrackId::kNone;
  AddedSpan span = AddedSpan::kNone;   // kNone: the call is not shown
  AddedSpan range = AddedSpan::kNone;  // innermost enclosing user range
  bool is_driver = false;
  bool is_launch = false;  // starts a flow to the device

  // The flow from the call to the span that it launched, without name and category. Its id is 0 if there is no flow.
  FlowRow ArrowTo(AddedSpan launched, Timestamp time, TrackId on) const {
    if (!is_launch || span == AddedSpan::kNone) return {};
    return {.id = correlation,
            .start_time = start,
            .start_track = track,
            .start_span = span,
            .end_time = time,
            .end_track = on,
            .end_span = launched};
  }
};

class CudaCalls {
 public:
  CudaCalls(TraceBuilder* builder, const CudaNaming& naming);

  // Begins a window of the process `pid`, which is `process` in the Trace: finds the tracks of its threads.
  void Begin(ProcessId process, int64_t pid);
  // Reserves span rows for at most `count` calls. REQUIRES: no other span is added until Place.
  void Reserve(size_t count);
  // thread: the number that the system gave to it.
  void Add(const CudaRecord& record, uint32_t thread, StringId members);
  // Finds each call's enclosing operator and user range.
  void Place();
  // Null: no call has this number. A runtime call and the driver call inside it share a number: returns the runtime
  // call, and the first of several calls of one kind.
  const CudaCall* Find(uint32_t correlation) const {
    if (by_correlation_.empty()) return FindInList(correlation);
    const uint32_t index = correlation - first_;  // wraps below the first one
    const uint32_t call = index < by_correlation_.size() ? by_correlation_[index] : 0;
    return call == 0 ? nullptr : &calls_[call - 1];
  }
  // True if CUPTI gave the number before those of all calls here. Numbers wrap.
  bool IsBeforeAll(uint32_t correlation) const;
  bool empty() const { return calls_.empty(); }
  uint32_t earliest() const { return earliest_; }  // the correlation number that CUPTI gave first
  // True if an operator with a number encloses a call. REQUIRES: Place.
  bool has_external_ids() const { return has_external_ids_; }
  // Tracks that have calls, of all windows.
  const std::set<TrackId>& tracks() const { return tracks_; }

 private:
  struct Name {
    StringId name = StringId::kNone;  // kNone: not yet classified
    bool is_shown = false, is_launch = false;
  };
  const Name& NameOf(StringId raw, bool is_driver) {
    const std::vector<Name>& names = names_[is_driver ? 1 : 0];
    const bool is_known = Row(raw) < names.size() && names[Row(raw)].name != StringId::kNone;
    return is_known ? names[Row(raw)] : NewName(raw, is_driver);
  }
  const Name& NewName(StringId raw, bool is_driver);
  TrackId TrackOf(uint32_t thread) {
    return thread == last_thread_ && last_track_ != TrackId::kNone ? last_track_ : FindTrack(thread);
  }
  TrackId FindTrack(uint32_t thread);
  AddedSpan AddSpan(const CudaRecord& record, const Name& name, TrackId track, StringId members);
  void PlaceAmongOperators();
  void IndexByCorrelation();
  const CudaCall* FindInList(uint32_t correlation) const;

  TraceBuilder* builder_;
  const CudaNaming& naming_;
  ProcessId process_ = ProcessId::kNone;
  std::map<uint32_t, TrackId> threads_;
  uint32_t last_thread_ = 0;
  TrackId last_track_ = TrackId::kNone;
  std::set<TrackId> tracks_;
  Column<CudaCall> calls_;
  SpanMemory spans_;            // of the calls that are shown
  size_t rows_ = 0, used_ = 0;  // rows of spans_
  uint32_t first_row_ = 0;
  bool has_external_ids_ = false;
  std::vector<Name> names_[2];                         // by raw name; of the runtime, of the driver
  uint32_t earliest_ = 0;                              // correlation, of numbers that wrap
  uint32_t first_ = 0, last_ = 0;                      // the least and the greatest one
  Column<uint32_t> by_correlation_;                    // call + 1 at correlation - first_, where numbers are dense
  std::vector<std::pair<uint32_t, uint32_t>> sorted_;  // else by correlation
  StringId runtime_, driver_, cpu_op_, user_annotation_;
};

}  // namespace opscope
