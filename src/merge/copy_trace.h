// The rows of one Trace on their way into a builder, all or a part of them, through a clock map and with other ids.
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

// Where a trace's times go: unix or file time = its Timestamp + own_epoch_ns; through `map`; minus epoch_ns.
struct TimeShift {
  int64_t own_epoch_ns = 0;
  ClockMap map;
  int64_t epoch_ns = 0;

  Timestamp operator()(Timestamp time) const;
};

// What is added to numbers that only mean something within one input; 0 stays 0.
struct IdBases {
  uint32_t correlation = 0, external = 0, python_call = 0;
  uint64_t logical_thread = 0, flow = 0, tensor = 0;
  // Ids of asynchronous ranges that earlier inputs have used, by those of this trace: what they are called instead.
  std::map<StringId, std::string> async_ids = {};
};

// Which rows are copied. Default: all.
class KeptRows {
 public:
  KeptRows() = default;
  // Spans with 1 (`spans` has one entry per span and must outlive this); of everything beside them, what lies between
  // the first begin and the last end of those. Tensors that modules hold are all kept: they stand at their first use.
  KeptRows(const Trace& trace, const std::vector<uint8_t>& spans);

  bool HasSpan(size_t span) const { return spans_ == nullptr || (*spans_)[span] != 0; }
  bool HasSpan(SpanId span) const { return spans_ == nullptr || (span != SpanId::kNone && HasSpan(Row(span))); }
  bool HasMoment(Timestamp time) const { return spans_ == nullptr || (time >= first_ && time <= last_); }
  bool HasRange(Timestamp begin, Duration duration) const {
    return spans_ == nullptr || (begin <= last_ && begin + duration >= first_);
  }
  // An arrow stays while its ends do.
  bool HasFlow(const FlowColumns& flows, size_t row) const;
  size_t CountSpans(size_t all) const;
  // By span, how many of the spans around it are kept; empty when all are.
  std::vector<uint16_t> DepthsOf(const Trace& trace) const;
  bool HasTrack(uint32_t track) const { return spans_ == nullptr || tracks_[track] != 0; }

 private:
  const std::vector<uint8_t>* spans_ = nullptr;  // null: everything
  Timestamp first_ = {}, last_ = {-1};
  std::vector<uint8_t> tracks_;  // on which something is kept
};

// A process of a trace as the builder has it.
ProcessRow CopyProcess(const Trace& trace, size_t process, TraceBuilder* builder);

class TraceCopy {
 public:
  // Everything must outlive the copy.
  TraceCopy(const Trace& trace, const TimeShift& shift, const IdBases& bases, const KeptRows& kept,
            TraceBuilder* builder);

  // All tables but processes, operators, problems and metadata. `processes`: what became of each row.
  void CopyTables(const std::vector<ProcessId>& processes);

 private:
  template <typename Description>
  typename RowStruct<Description>::Type Copied(const typename Description::Columns& columns, size_t row) {
    return CopyRow<Description>(columns, row, [this](auto value) { return Converted(value); });
  }
  // A value as the builder has it.
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
  void Tracks(const std::vector<ProcessId>& processes);
  std::vector<uint8_t> UsedStacks() const;
  void Stacks();
  void Arguments();
  void Spans();
  void Ranges();
  void Moments();
  void Calls();
  ArgumentRow CopyOf(const Argument& argument);
  TrackId Track(TrackId track) const { return track == TrackId::kNone ? track : tracks_[Row(track)]; }
  ArgsId ArgumentsOf(ArgsId id) const { return id == ArgsId::kNone ? id : arguments_[Row(id)]; }
  StackId Stack(StackId id) const { return id == StackId::kNone ? id : stacks_[Row(id)]; }
  AddedSpan Span(SpanId span) const { return span == SpanId::kNone ? AddedSpan::kNone : spans_[Row(span)]; }

  const Trace& trace_;
  const TimeShift& shift_;
  const IdBases& bases_;
  const KeptRows& kept_;
  TraceBuilder& builder_;
  // What became of each row; kNone: not met yet, or not kept.
  std::vector<StringId> strings_;
  std::vector<TrackId> tracks_;
  std::vector<StackId> stacks_;
  std::vector<ArgsId> arguments_;
  std::vector<AddedSpan> spans_;
};

}  // namespace opscope
