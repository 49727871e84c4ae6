// Calls of the runtime and driver: which operator and which range of the program each was made in, and which call a
// record of a device belongs to.
//
//   Add for each call, Place when all operators have rows and numbers, then Find
//
// A call stands on the thread that made it, with that thread's operators. What Kineto does not show gets no span, but
// is found all the same.
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
#include "import/cuda/cuda_record.h"
#include "import/cuda/cuda_words.h"
#include "trace/builder.h"

namespace opscope {

// A call that has its row.
struct CudaCall {
  Timestamp start;
  uint32_t correlation = 0;
  uint32_t external_id = 0;  // of the innermost operator around it, 0: none
  TrackId track = TrackId::kNone;
  AddedSpan span = AddedSpan::kNone;   // kNone: it is not shown
  AddedSpan range = AddedSpan::kNone;  // innermost user range around it
  bool is_driver = false;
  bool is_launch = false;  // arrows to the device leave it

  // The arrow from it to what it launched, without words; its id is 0 where there is none.
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
  CudaCalls(TraceBuilder* builder, const CudaWords& words);

  // Process and threads of this window. process: the trace's.
  void Begin(ProcessId process, int64_t pid);
  // Rows for `count` calls at most, which are the last ones of the builder until Place.
  void Reserve(size_t count);
  // thread: the system's number of it.
  void Add(const CudaRecord& record, uint32_t thread, StringId members);
  // Finds what is around the calls.
  void Place();
  // Null: there is none. Of a call of the runtime and one of the driver inside it, that of the runtime.
  const CudaCall* Find(uint32_t correlation) const {
    if (by_correlation_.empty()) return FindInList(correlation);
    const uint32_t place = correlation - first_;  // wraps below the first one
    const uint32_t call = place < by_correlation_.size() ? by_correlation_[place] : 0;
    return call == 0 ? nullptr : &calls_[call - 1];
  }
  // Whether the number was given before all calls that are here. Numbers wrap.
  bool IsBeforeAll(uint32_t correlation) const;
  bool empty() const { return calls_.empty(); }
  uint32_t earliest() const { return earliest_; }  // the number that was given first
  // Whether some call is within an operator that has a number. REQUIRES: placed.
  bool has_external_ids() const { return has_external_ids_; }
  // Tracks that have calls, of all windows.
  const std::set<TrackId>& tracks() const { return tracks_; }

 private:
  struct Name {
    StringId name = StringId::kNone;  // kNone: not asked for yet
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
  const CudaWords& words_;
  ProcessId process_ = ProcessId::kNone;
  std::map<uint32_t, TrackId> threads_;
  uint32_t last_thread_ = 0;
  TrackId last_track_ = TrackId::kNone;
  std::set<TrackId> tracks_;
  Column<CudaCall> calls_;
  SpanMemory spans_;            // of the calls that are shown
  size_t rows_ = 0, used_ = 0;  // of them
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
