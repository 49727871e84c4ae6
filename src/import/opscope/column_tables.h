// The column blocks of `.opscope` files (dictionary, tables) into a TraceBuilder. Every number is
// checked: rows that refer to something that is not there (a lost block) keep what they can.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/unique_texts.h"
#include "import/opscope/column_spans.h"
#include "import/opscope/dictionary_ids.h"
#include "trace/builder.h"
#include "wire/table_block.h"

namespace opscope {

class ColumnTables {
 public:
  ColumnTables(TraceBuilder* builder, ThreadTeam* team) : builder_(builder), span_blocks_(builder, team) {}

  // False: the payload contradicts itself; nothing of it was added.
  [[nodiscard]] bool AddTable(const TablePayload& payload);
  // A block of the dictionary, whose first text has this number in the file.
  [[nodiscard]] bool AddStrings(uint32_t first_id, const TaggedTexts& texts);
  // How many of so many texts are missing; at least the holes between those that came.
  uint64_t MissingTextsOf(uint64_t all) const { return strings_.MissingOf(all); }
  // Blocks of spans wait until something else comes, or for this; then many are read at once. Adds the offsets of
  // those that contradict themselves to `damaged`.
  void AddWaitingSpans(std::vector<int64_t>* damaged);

  bool spans_wait() const { return !span_blocks_.empty(); }
  uint64_t memory_bytes() const { return span_blocks_.memory_bytes(); }  // of spans that wait, once they are read
  // whole: no block was lost, so the nesting is as stored; else it is found from the times.
  void Finish(bool whole);

 private:
  // Rows of the file that are rows of the builder: [file_row, file_row + rows) -> added + ...
  struct SpanRun {
    uint64_t file_row = 0;
    uint64_t rows = 0;
    uint32_t added = 0;
  };
  using Values = std::vector<uint64_t>;
  // One decoded column of a block per call, in order; remembers whether one failed.
  class Reader;

  bool AddProcesses(const TableBlock& block);
  bool AddTracks(const TableBlock& block);
  bool AddAsyncSpans(const TableBlock& block);
  bool AddInstants(const TableBlock& block);
  bool AddCounters(const TableBlock& block);
  bool AddAllocations(const TableBlock& block);
  bool AddFlows(const TableBlock& block);
  bool AddSteps(const TableBlock& block);
  bool AddPythonCalls(const TableBlock& block);
  bool AddFrames(const TableBlock& block);
  bool AddStacks(const TableBlock& block);
  bool AddArguments(const TableBlock& block);
  bool AddProblems(const TableBlock& block);
  bool AddMetadata(const TableBlock& block);
  bool AddTensors(const TableBlock& block);
  bool AddHeldTensors(const TableBlock& block);
  bool AddTensorLives(const TableBlock& block);
  bool AddOperators(const TableBlock& block);

  // Rows of the file -> rows of the builder. Ids as stored: plus one, 0 is none.
  StringId String(uint64_t stored) const { return strings_(stored); }
  TrackId Track(uint64_t stored);  // a lost track gets a place of its own
  AddedSpan Span(uint64_t stored);
  void SortRuns();

  TraceBuilder* builder_;
  ColumnSpans span_blocks_;
  DictionaryIds strings_;
  std::vector<StringId> new_ids_;  // of the newest block of the dictionary
  std::vector<ProcessId> processes_;
  std::vector<TrackId> tracks_;
  std::vector<FrameId> frames_;
  std::vector<StackId> stacks_;
  std::vector<ArgsId> arguments_;
  std::vector<SpanRun> spans_;
  bool runs_sorted_ = false;
};

}  // namespace opscope
