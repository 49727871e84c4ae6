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

#include "opscope/import.h"
#include "trace/builder.h"
#include "wire/table_block.h"

namespace opscope {

class ColumnTables {
 public:
  explicit ColumnTables(TraceBuilder* builder) : builder_(builder) {}

  // False: the payload contradicts itself; nothing of it was added.
  [[nodiscard]] bool AddStrings(std::span<const std::byte> payload);
  [[nodiscard]] bool AddTable(std::span<const std::byte> payload);

  bool has_blocks() const { return has_blocks_; }
  // whole: no block was lost, so the nesting is as stored; else it is found from the times.
  void Finish(bool whole);

 private:
  struct Segment;
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
  bool AddSpans(const TableBlock& block);
  bool ReadSegments(const TableBlock& block, std::vector<Segment>* segments, size_t* rows) const;
  bool ReadSpanTimes(const TableBlock& block, std::span<const Segment> segments, size_t rows, Values* start,
                     Values* duration, Values* depth) const;
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
  bool AddOperators(const TableBlock& block);

  // Rows of the file -> rows of the builder. Ids as stored: plus one, 0 is none.
  StringId String(uint64_t stored) const;
  TrackId Track(uint64_t stored);  // a lost track gets a place of its own
  AddedSpan Span(uint64_t stored);
  Timestamp TimeInSpan(uint64_t stored_time, AddedSpan span) const;

  TraceBuilder* builder_;
  bool has_blocks_ = false;
  std::vector<StringId> strings_;
  std::vector<ProcessId> processes_;
  std::vector<TrackId> tracks_;
  std::vector<FrameId> frames_;
  std::vector<StackId> stacks_;
  std::vector<ArgsId> arguments_;
  std::vector<SpanRun> spans_;
  bool runs_sorted_ = false;
};

}  // namespace opscope
