// Maps row numbers in a column file to ids of the Trace. A file refers to a row by its number plus one; 0 means none,
// and so does a row of a lost block.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "import/opscope/dictionary_ids.h"
#include "import/opscope/place_row.h"
#include "trace/builder.h"

namespace opscope {

class ColumnIds {
 public:
  explicit ColumnIds(TraceBuilder* builder) : builder_(builder) {}

  StringId String(uint64_t stored) const { return strings_(stored); }
  ProcessId Process(uint64_t stored) const { return At(processes_, stored, ProcessId::kNone); }
  TrackId Track(uint64_t stored);  // a lost track becomes a new one
  FrameId Frame(uint64_t stored) const { return At(frames_, stored, FrameId::kNone); }
  StackId Stack(uint64_t stored) const { return At(stacks_, stored, StackId::kNone); }
  ArgsId Arguments(uint64_t stored) const { return At(arguments_, stored, ArgsId::kNone); }
  AddedSpan Span(uint64_t stored);
  uint64_t lost_spans() const { return lost_spans_; }  // number of references to spans of lost blocks

  // Sets the id of a row of the file. False: row numbers cannot be so large.
  [[nodiscard]] bool Place(uint64_t row, ProcessId id) { return PlaceRow(row, id, ProcessId::kNone, &processes_); }
  [[nodiscard]] bool Place(uint64_t row, TrackId id) { return PlaceRow(row, id, TrackId::kNone, &tracks_); }
  [[nodiscard]] bool Place(uint64_t row, FrameId id) { return PlaceRow(row, id, FrameId::kNone, &frames_); }
  [[nodiscard]] bool Place(uint64_t row, StackId id) { return PlaceRow(row, id, StackId::kNone, &stacks_); }
  [[nodiscard]] bool Place(uint64_t row, ArgsId id) { return PlaceRow(row, id, ArgsId::kNone, &arguments_); }
  // The file's spans [row, row + rows) become the builder's spans added, added + 1, ...
  void PlaceSpans(uint64_t row, uint64_t rows, uint32_t added);

  DictionaryIds& strings() { return strings_; }
  const DictionaryIds& strings() const { return strings_; }
  std::span<const TrackId> tracks() const { return tracks_; }
  std::span<const StackId> stacks() const { return stacks_; }
  std::span<const ArgsId> arguments() const { return arguments_; }

 private:
  struct SpanRun {
    uint64_t file_row = 0;
    uint64_t rows = 0;
    uint32_t added = 0;
  };

  template <typename Id>
  static Id At(const std::vector<Id>& map, uint64_t stored, Id none) {
    return stored - 1 < map.size() ? map[stored - 1] : none;
  }
  void SortRuns();

  TraceBuilder* builder_;
  DictionaryIds strings_;
  std::vector<ProcessId> processes_;
  std::vector<TrackId> tracks_;
  std::vector<FrameId> frames_;
  std::vector<StackId> stacks_;
  std::vector<ArgsId> arguments_;
  std::vector<SpanRun> spans_;
  bool runs_sorted_ = false;
  uint64_t lost_spans_ = 0;
};

}  // namespace opscope
