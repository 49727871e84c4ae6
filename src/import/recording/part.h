// One chunk of a recording, decoded as far as possible without the builder, so that many parts can be decoded in
// parallel. Names and arguments are numbered within the part, in order of first appearance; RecordingTables then
// assigns ids, part after part. So ids depend only on the recording, not on the number of threads.
//
// Thread rule: PartDecoder is one thread's own; a part is decoded by one thread, then read by one at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/column.h"
#include "base/huge_block.h"
#include "import/recording/arguments.h"
#include "import/recording/chunk.h"
#include "import/recording/tree.h"
#include "opscope/cuda_event.h"
#include "opscope/types.h"

namespace opscope {

// A scope before its position in the Trace is known.
struct PartScope {
  uint32_t row : 31 = 0;        // row of its record
  uint32_t has_fields : 1 = 0;  // the payload has more than arguments
  uint32_t name = 0;            // number within the part
  uint32_t overload = 0;        // number within the part; 0: none
  uint32_t args = 0;            // number within the part, or RecordingPart::kNoArguments
};

// A record that is neither a scope nor of the CUDA source.
struct PartEvent {
  uint32_t row = 0;
  uint32_t name = 0;
};

// Records of the CUDA source. Parts with such records have few others, so the records are not copied.
struct CudaRows {
  uint32_t count = 0, first = 0;  // row
  std::array<uint32_t, kCudaEvents> of_event = {};
  std::vector<uint32_t> notes;         // rows of the source's own records
  std::vector<uint32_t> name_offsets;  // in the chunk, of the names from number 1 on
};

// Memory for the scopes of a part, one for each record of its chunk.
struct PartRoom {
  std::span<PartScope> scopes;
  std::span<uint16_t> depths;
  std::span<uint32_t> begins;
};

// The memory of all parts, in one block.
class ScopeRoom {
 public:
  void Reserve(size_t records);
  PartRoom Part(size_t first, size_t records);

 private:
  HugeBlock block_;
  Column<PartScope> scopes_;
  Column<uint16_t> depths_;
  Column<uint32_t> begins_;
};

struct RecordingPart {
  static constexpr uint32_t kNoArguments = 0xffffffff;

  const RecordingChunk* chunk = nullptr;
  PartRoom room;
  std::span<PartScope> scopes;   // the nesting scopes, in the recorded order
  TreePart tree;                 // of `scopes`
  std::vector<PartScope> async;  // scopes outside the nesting
  std::vector<PartEvent> events;
  size_t event_spans = 0;   // number of events that may become spans
  bool has_paddle = false;  // scopes of Paddle's
  bool has_native = false;  // records of another recorder
  CudaRows cuda;
  uint64_t damaged = 0;
  uint32_t first_damaged = 0;  // row, when damaged > 0

  // By number; the ids are filled in by RecordingTables.
  std::vector<std::string_view> names;  // number 0 is ""
  std::vector<EncodedArguments> arguments;
  std::vector<StringId> name_ids;
  std::vector<ArgsId> args_ids;

  uint64_t start(uint32_t scope) const { return chunk->start(scopes[scope].row); }
  Record record(const PartScope& scope) const { return chunk->record(scope.row); }
  void CountDamage(uint32_t row, uint32_t count = 1) {
    if (damaged == 0 || row < first_damaged) first_damaged = row;
    damaged += count;
  }
  // Reduces the room to the first `count` scopes and finds their subtrees.
  void Link(size_t count);
  // Removes the scopes with malformed arguments and counts them as damaged.
  void DropScopes(std::span<const uint8_t> bad_arguments);
};

class PartDecoder {
 public:
  // REQUIRES: part->chunk and part->room are set.
  void Decode(RecordingPart* part);

 private:
  static constexpr uint32_t kUnknown = 0xffffffff;

  bool DecodeRecord(uint32_t row);
  uint32_t CountFirstOfCuda();
  void CountOfCuda(uint32_t row, CudaEvent event);
  bool DecodeScope(uint32_t row, const Record& record, uint32_t name);
  uint32_t NameAt(uint32_t offset) {  // kUnknown: damaged
    const uint32_t index = offset / 8;
    if (offset != 0 && offset % 8 == 0 && index < name_at_.size() && name_at_[index] != kUnknown) {
      return name_at_[index];
    }
    return NewNameAt(offset);
  }
  uint32_t NewNameAt(uint32_t offset);
  // Index in part_->arguments; appends the list if it is new.
  uint32_t ArgumentListIndex(const EncodedArguments& arguments);
  // Counts the bytes of an entry that is read for the first time, or that only one record uses. False: damaged.
  bool TakeEntry(size_t bytes) { return (entry_bytes_ += bytes) <= part_->chunk->byte_size(); }

  RecordingPart* part_ = nullptr;
  size_t scopes_ = 0;
  size_t entry_bytes_ = 0;
  std::vector<uint32_t> name_at_;  // number by offset / 8, kUnknown: not seen yet
  std::vector<uint32_t> seen_;     // indexes of name_at_ that are set
  tsl::robin_map<uint64_t, uint32_t> argument_index_by_hash_;
};

}  // namespace opscope
