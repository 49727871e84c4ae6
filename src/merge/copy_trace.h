// Copies the rows of one Trace, or a part of them, into a builder. Times go through a clock map and ids get new
// numbers. Merge and cut both use it.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "merge/clock_fit.h"
#include "opscope/trace.h"
#include "trace/builder.h"
#include "trace/copy_row.h"

namespace opscope {

// The conversion of times: Timestamp + own_epoch_ns gives unix or file time, `map` converts the clock, minus epoch_ns
// gives the Timestamp in the result.
struct TimeShift {
  int64_t own_epoch_ns = 0;
  ClockMap map;
  int64_t epoch_ns = 0;

  Timestamp operator()(Timestamp time) const;
};

// Added to ids that are unique only within one input; id 0 (none) stays 0.
struct IdBases {
  uint32_t correlation = 0, external = 0, python_call = 0;
  uint64_t logical_thread = 0, flow = 0, tensor = 0;
  // For ids of async spans that earlier inputs used, by this trace's StringId: the replacement.
  std::map<StringId, std::string> async_ids = {};
};

// Which rows are copied. Default: all.
class RowSelection {
 public:
  RowSelection() = default;
  // Keeps the spans whose entry in `spans` is 1 (one entry per span; must outlive this object), and other rows between
  // the first begin and the last end of those spans. Tensors of modules are all kept: their time is that of their first
  // use. O(rows).
  RowSelection(const Trace& trace, const std::vector<uint8_t>& spans);

  bool HasSpan(size_t span) const { return spans_ == nullptr || (*spans_)[span] != 0; }
  bool HasSpan(SpanId span) const { return spans_ == nullptr || (span != SpanId::kNone && HasSpan(Row(span))); }
  bool HasMoment(Timestamp time) const { return spans_ == nullptr || (time >= first_ && time <= last_); }
  bool HasRange(Timestamp begin, Duration duration) const {
    return spans_ == nullptr || (begin <= last_ && begin + duration >= first_);
  }
  // A flow is kept if both of its ends are.
  bool HasFlow(const FlowColumns& flows, size_t row) const;
  size_t CountSpans(size_t all) const;
  // For each span its depth among the kept ones; empty if all are kept.
  std::vector<uint16_t> DepthsOf(const Trace& trace) const;
  bool HasTrack(uint32_t track) const { return spans_ == nullptr || tracks_[track] != 0; }

 private:
  const std::vector<uint8_t>* spans_ = nullptr;  // null: all rows are kept
  Timestamp first_ = {INT64_MAX}, last_ = {INT64_MIN};
  std::vector<uint8_t> tracks_;  // 1: a kept row lies on the track
};

// A row of `processes` with its strings interned in the builder.
ProcessRow CopyProcess(const Trace& trace, size_t process, TraceBuilder* builder);

class TraceCopy {
 public:
  // Everything must outlive the copy.
  TraceCopy(const Trace& trace, const TimeShift& shift, const IdBases& bases, const RowSelection& kept,
            TraceBuilder* builder);

  // Copies all tables except processes, operators, problems and metadata. `processes`: the new id of each row of
  // `processes`.
  void CopyTables(const std::vector<ProcessId>& processes);

 private:
  template <typename Description>
  typename RowStruct<Description>::Type Copied(const typename Description::Columns& columns, size_t row) {
    return CopyRow<Description>(columns, row, [this](auto value) { return Converted(value); });
  }
  // A value converted to the builder's ids and clock.
  StringId Converted(StringId id) { return Text(id); }
  TrackId Converted(TrackId track) const { return Track(track); }
  AddedSpan Converted(SpanId span) const { return Span(span); }
  StackId Converted(StackId id) const { return Stack(id); }
  ArgsId Converted(ArgsId id) const { return ArgumentsOf(id); }
  Timestamp Converted(Timestamp time) const { return shift_(time); }
  template <typename T>
  T Converted(T value) const {
    return value;
  }
  StringId Text(StringId id);
  StringId AsyncId(StringId id);
  void CopyTracks(const std::vector<ProcessId>& processes);
  std::vector<uint8_t> FindUsedStacks() const;
  void CopyStacks();
  void CopyArguments();
  void CopySpans();
  void CopyRanges();
  void CopyMoments();
  void CopyFrameworkTables();
  ArgumentRow CopyArgument(const Argument& argument);
  TrackId Track(TrackId track) const { return track == TrackId::kNone ? track : tracks_[Row(track)]; }
  ArgsId ArgumentsOf(ArgsId id) const { return id == ArgsId::kNone ? id : arguments_[Row(id)]; }
  StackId Stack(StackId id) const { return id == StackId::kNone ? id : stacks_[Row(id)]; }
  AddedSpan Span(SpanId span) const { return span == SpanId::kNone ? AddedSpan::kNone : spans_[Row(span)]; }

  const Trace& trace_;
  const TimeShift& shift_;
  const IdBases& bases_;
  const RowSelection& kept_;
  TraceBuilder& builder_;
  // New id by old row; kNone: not copied yet, or left out.
  std::vector<StringId> strings_;
  std::vector<TrackId> tracks_;
  std::vector<StackId> stacks_;
  std::vector<ArgsId> arguments_;
  std::vector<AddedSpan> spans_;
};

}  // namespace opscope
