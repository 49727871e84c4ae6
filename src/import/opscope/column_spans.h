// The blocks of spans of a column file. A block is a slice of time and its rows stand by track, a Trace stands by track
// as a whole: so blocks wait until all have come, their segments are given the rows where they belong, and then each
// block is decoded right there, by several threads at once. Nothing has to be sorted or moved afterwards.
//
// Thread rule: one thread at a time; AddAll lets the team help.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/thread_team.h"
#include "import/opscope/dictionary_ids.h"
#include "trace/builder.h"
#include "wire/table_block.h"

namespace opscope {

struct TablePayload {
  std::span<const std::byte> bytes;
  bool stays = false;  // as long as the file is read; else it is valid for the call only
  int64_t offset = 0;  // of the block
};

class ColumnSpans {
 public:
  // What the numbers in the file mean.
  struct Ids {
    DictionaryIds::View strings;
    std::span<const ArgsId> arguments;
    std::span<const StackId> stacks;
  };
  // A run of rows of one track within a block.
  struct Segment {
    uint64_t stored_track = 0;  // plus one
    bool is_async = false;
    size_t rows = 0;
    uint64_t base = 0;
    uint64_t first_row = 0;  // in the file
    TrackId track = TrackId::kNone;
    size_t added = 0;  // its first row, counted from the first row of AddAll
  };
  struct WaitingBlock {
    TableBlock table;
    std::vector<std::byte> kept;  // the payload that would not have stayed
    std::vector<Segment> segments;
    size_t rows = 0, nested_rows = 0;
    int64_t offset = 0;
    uint64_t negative_durations = 0;
    bool damaged = false;
  };

  ColumnSpans(TraceBuilder* builder, ThreadTeam* team) : builder_(builder), team_(team) {}

  // False: the block contradicts itself, as far as can be seen without decoding its rows.
  [[nodiscard]] bool Add(const TablePayload& payload);
  bool empty() const { return waiting_.empty(); }
  uint64_t memory_bytes() const;  // of the rows that wait, once they are added

  using TrackOf = std::function<TrackId(uint64_t stored)>;
  using AddRun = std::function<void(uint64_t file_row, uint64_t rows, uint32_t added)>;
  // Adds the rows of all blocks that wait, but of those that turn out to be damaged, whose offsets go to `damaged`.
  void AddAll(const Ids& ids, const TrackOf& track_of, const AddRun& add_run, std::vector<int64_t>* damaged);

 private:
  bool ReadSegments(WaitingBlock* block) const;
  size_t PlaceSegments(const TrackOf& track_of, std::vector<int64_t>* damaged);
  SpanFields FieldsOfAll() const;
  void Decode(const Ids& ids, const SpanMemory& to);

  TraceBuilder* builder_;
  ThreadTeam* team_;
  std::vector<WaitingBlock> waiting_;
  size_t rows_ = 0;  // of waiting_
};

}  // namespace opscope
