// Builds a Trace. Importers add rows in any order; Build() orders the spans, nests them, gives every track
// its row range, and freezes the columns.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_interner.h"
#include "opscope/trace.h"
#include "trace/row_memory.h"
#include "trace/rows.h"

namespace opscope {

class TraceBuilder {
 public:
  TraceBuilder();
  ~TraceBuilder();
  TraceBuilder(const TraceBuilder&) = delete;
  TraceBuilder& operator=(const TraceBuilder&) = delete;

  TraceInfo& info();

  // Amortised O(1); the same text always gives the same id. Id 0 is "".
  StringId Intern(std::string_view text);
  // Interns many texts faster than one by one; appends to `ids`.
  void InternAll(const TaggedTexts& texts, std::vector<StringId>* ids);
  std::string_view text(StringId id) const;

  ProcessId AddProcess(const ProcessRow& row);
  TrackId AddTrack(const TrackRow& row);
  ProcessRow& process(ProcessId id);  // may be completed until Build; invalidated by AddProcess
  TrackRow& track(TrackId id);        // likewise
  size_t process_count() const;
  size_t track_count() const;

  void ReserveSpans(size_t count);  // room for `count` more; saves time only
  AddedSpan AddSpan(const SpanRow& row);
  size_t span_count() const;
  // Adds `count` rows, each of which SetSpan must set before Build. Several threads may call SetSpan for different rows,
  // while no other function runs. row.parent: see SetNested.
  // REQUIRES of SetSpan: row.track is a track.
  AddedSpan AppendSpans(size_t count);
  void SetSpan(AddedSpan span, const SpanRow& row);
  // Adds `count` rows, which the caller must write, column by column, before any other call about spans.
  SpanMemory AppendSpanRows(size_t count, const SpanFields& wanted);
  void DropSpanRows(size_t count);  // the last ones. REQUIRES: nothing refers to them

  // How Build() nests the non-async spans of a track. By default it sorts them by start, longer first, then order of
  // addition, and nests by containment. A span that crosses its parent's end is clipped for nesting and self time, its
  // duration stays, and a problem is counted.
  void SetPreOrdered(TrackId track);  // the spans are added in pre-order with correct depths; times are not compared
  void SetNested(TrackId track);      // likewise, and SetSpan sets every parent and depth
  void SetCrossing(TrackId track);    // as by default, but a span that crosses the end of another is its sibling

  // The columns as added so far, in order of addition (parents and depths are not filled in yet). Valid until
  // the next AddSpan, and a column without any value till the first one is set.
  SpanColumns added_spans() const;
  InstantColumns added_instants() const;                 // likewise
  FlowColumns added_flows() const;                       // likewise
  std::span<const Argument> arguments(ArgsId id) const;  // likewise, of AddArguments
  size_t step_count() const;
  // Changes to added rows.
  std::span<uint32_t> external_ids();      // by order of addition, empty when all are 0; valid until the next AddSpan
  std::span<ArgsId> added_args();          // likewise, empty when all are kNone
  std::span<StackId> allocation_stacks();  // of allocations, by order of addition; valid until the next AddAllocation
  void SetSequence(AddedSpan span, int64_t sequence, uint64_t forward_thread);
  void SetName(AddedSpan span, StringId name);
  void SetNumbers(AddedSpan span, uint32_t external_id, uint32_t correlation);
  void SetExtra(AddedSpan span, StringId extra);
  void SetStack(AddedSpan span, StackId stack);
  void SetKind(AddedSpan span, SpanKind kind);
  void SetStep(AddedSpan span);                    // marks it; AddStep adds the row
  void SetStart(AddedSpan span, Timestamp start);  // its duration stays
  std::span<Timestamp> instant_times();            // by order of addition; valid until the next AddInstant
  std::span<Timestamp> allocation_times();         // likewise, AddAllocation
  std::span<Timestamp> flow_end_times();           // likewise, AddFlow
  // Moves the start; the end stays. Calls SetCrossing for the track. REQUIRES: start <= end
  void MoveStart(AddedSpan span, Timestamp start);

  // Gives rows that were added at kNoTime the earliest time of all rows, or `first_elsewhere` if that is earlier, and
  // returns it; 0 if no row has a time. (At 0 they would make the trace as long as its clock.) O(rows)
  Timestamp FillMissingTimes(Timestamp first_elsewhere = kNoTime);

  void AddAsyncSpan(const AsyncSpanRow& row);
  void AddInstant(const InstantRow& row);
  void AddCounter(const CounterRow& row);
  void AddFlow(const FlowRow& row);
  // Adds `count` rows, which the caller must write before any other call about flows.
  FlowMemory AppendFlowRows(size_t count);
  void DropFlowRows(size_t count);  // the last ones
  void AddAllocation(const AllocationRow& row);
  void AddTensor(const TensorRow& row);  // the tensors of one span in their order
  void AddHeldTensor(const ReferencedTensorRow& row);
  void AddTensorLife(const TensorLifeRow& row);
  void AddOperator(StringId name, StringId arguments);
  void AddStep(int64_t number, StringId name, AddedSpan span);
  void AddPythonCall(const PythonCallRow& row);  // at most one per span
  // The spans of category python_function are all calls of Python: Build() numbers them by start and finds callers by
  // nesting. REQUIRES: AddPythonCall is not used.
  void SetPythonCalls();
  // After SetPythonCalls: every span without a stack gets the calls around it as its stack, and calls get the number of
  // their thread.
  void FillStacksFromCalls();
  FrameId AddFrame(StringId text);                  // unique
  StackId AddStack(FrameId frame, StackId caller);  // unique
  std::string CallStackText(StackId stack) const;   // innermost first, each frame closed by ';', as Kineto prints it
  // Unique: equal lists give the same id. An empty list gives kNone.
  ArgsId AddArguments(std::span<const ArgumentRow> arguments);
  void AddMetadata(std::string_view key, std::string_view json);  // replaces the value of a known key
  std::string_view FindMetadata(std::string_view key) const;      // JSON; "" if there is no such key

  // Adds `count` to the row of `kind` (problem_kinds.h gives severity and sentence). The row has the offset and the
  // detail of the first call. `detail`, if not empty, is appended to the sentence.
  void AddProblem(std::string_view kind, int64_t offset, uint64_t count = 1, std::string_view detail = {});

  // Adds a row of a file (.opscope). The kind may be of a newer version. Ignores kinds that Build counts.
  // `ranks`: a list such as "[0,3]"; "": unknown.
  void RestoreProblem(std::string_view kind, ProblemSeverity severity, uint64_t count, int64_t offset,
                      std::string_view message, std::string_view ranks = {});
  // Sets the ranks of a row of this kind that AddProblem or Build adds later.
  void SetProblemRanks(std::string_view kind, std::string_view ranks);
  bool HasProblem(std::string_view kind) const;
  // Translates the offsets of all problems so far, for importers that read a text derived from the input.
  void RemapProblemOffsets(const std::function<uint64_t(uint64_t)>& offset_of);

  uint64_t memory_bytes() const;
  bool empty() const;  // no event was added

  // Empties the builder. O(n) for pre-ordered tracks, O(n log n) otherwise. max_threads: as in ImportOptions.
  Trace Build(size_t max_threads = 1);

 private:
  std::unique_ptr<TraceStorage> storage_;
  struct Pending;
  std::unique_ptr<Pending> pending_;
};

}  // namespace opscope
