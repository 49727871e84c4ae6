// The blocks of spans of a column file. A block is a slice of time with its rows ordered by track, but a Trace is
// ordered by track over all its time. So blocks wait until all were read, then their segments are assigned their rows,
// and each block is decoded to its rows, in parallel. Nothing needs to be sorted or moved afterwards.
//
// Thread rule: one thread at a time; AddAll uses the team.
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
  bool stays = false;  // the bytes stay valid while the file is read; else only during the call
  int64_t offset = 0;  // of the block
};

class ColumnSpans {
 public:
  // Maps the numbers in the file to ids.
  struct Ids {
    DictionaryIds::View strings;
    std::span<const ArgsId> arguments;
    std::span<const StackId> stacks;
  };
  // A run of rows of one track within a block.
  struct Segment {
    uint64_t stored_track = 0;  // number of the track plus one
    bool is_async = false;
    size_t rows = 0;
    uint64_t base = 0;
    uint64_t first_row = 0;  // in the file
    TrackId track = TrackId::kNone;
    size_t added = 0;  // its first row, counted from the first row that AddAll adds
  };
  struct WaitingBlock {
    TableBlock table;
    std::vector<std::byte> kept;  // copy of a payload that does not stay valid
    std::vector<Segment> segments;
    size_t rows = 0, nested_rows = 0;
    int64_t offset = 0;
    uint64_t negative_durations = 0;
    bool damaged = false;
  };

  ColumnSpans(TraceBuilder* builder, ThreadTeam* team) : builder_(builder), team_(team) {}

  // False: the block is inconsistent, as far as that is visible without decoding its rows.
  [[nodiscard]] bool Add(const TablePayload& payload);
  bool empty() const { return waiting_.empty(); }
  uint64_t memory_bytes() const;  // of the waiting rows, once they are added

  using TrackOf = std::function<TrackId(uint64_t stored)>;
  using AddRun = std::function<void(uint64_t file_row, uint64_t rows, uint32_t added)>;
  // Adds the rows of all waiting blocks, except damaged ones, whose offsets are appended to `damaged`.
  void AddAll(const Ids& ids, const TrackOf& track_of, const AddRun& add_run, std::vector<int64_t>* damaged);

 private:
  bool ReadSegments(WaitingBlock* block) const;
  size_t PlaceSegments(const TrackOf& track_of, std::vector<int64_t>* damaged);
  SpanFields FieldsOfAll() const;
  // Appends the offsets of damaged blocks to `damaged`. Returns true if there were any.
  bool DropDamaged(std::vector<int64_t>* damaged);
  void Decode(const Ids& ids, const SpanMemory& to);

  TraceBuilder* builder_;
  ThreadTeam* team_;
  std::vector<WaitingBlock> waiting_;
  size_t rows_ = 0;  // of waiting_
};

}  // namespace opscope
