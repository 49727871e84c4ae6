// Fills a Trace from a snapshot of torch's caching allocator (torch.cuda.memory._snapshot()). The JSON importer and the
// pickle importer read the same lists and call this row by row, in the order of the file.
//
//   torch                                       Trace
//   device_traces: alloc, free_completed        allocations, each with its "[memory]" instant
//   device_traces: everything else              instants named after the action, category "memory_action"
//   segments, blocks (the state at the end)     instants "segment" and "block", category "memory_state", at the end
//   external_annotations                        spans of category "user_annotation"
//   frames                                      stacks, of allocations; of other rows text in `extra`
//
// The history is a ring, so its beginning is usually lost. Blocks that are alive at the end, or freed, without an
// allocation in the history become allocations at the first time of their device, so that the rows add up to the state
// at the end. Totals are computed backwards from the end, so they are right in any case. A free_requested directly
// before the free_completed of the same block adds nothing and gets no row.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/builder.h"

namespace opscope {

struct SnapshotFrame {
  std::string_view file = {}, function = {};
  int64_t line = 0;
};

// `extra`: further members as JSON text ("\"pool_id\": [0, 1]"), or "".
struct SnapshotSegment {
  int64_t device = 0;
  uint64_t address = 0;
  int64_t total_size = 0;
  StackId stack = StackId::kNone;
  std::string_view extra = {};
};

struct SnapshotBlock {
  int64_t device = 0;  // of its segment
  uint64_t address = 0;
  int64_t size = 0;
  int64_t requested_size = -1;  // -1: unknown, `size` is used
  std::string_view state = {};  // "active_allocated", "active_awaiting_free" (or "active_pending_free"), "inactive"
  StackId stack = StackId::kNone;
  std::string_view extra = {};
};

struct SnapshotAction {
  int64_t device = 0;
  std::string_view action = {};
  uint64_t address = 0;
  int64_t size = 0;
  int64_t time_us = -1;  // since 1970; -1: unknown, in older files
  StackId stack = StackId::kNone;
  std::string_view extra = {};
};

struct SnapshotAnnotation {
  int64_t device = 0;
  bool begins = false;
  std::string_view name = {};
  int64_t time_us = -1;
};

class MemorySnapshotTables {
 public:
  explicit MemorySnapshotTables(TraceBuilder* builder);

  // Frames with the innermost first, as in torch's lists. kNone for an empty list.
  StackId AddStack(std::span<const SnapshotFrame> frames);

  void AddSegment(const SnapshotSegment& row);
  void AddBlock(const SnapshotBlock& row);
  void AddAction(const SnapshotAction& row);  // the actions of a device come in order
  void AddAnnotation(const SnapshotAnnotation& row);
  // For a memory limit: bytes of the rows that wait for Finish, now and in the builder.
  uint64_t memory_bytes() const;
  // Adds all rows. Call once, after the last row; sets info().epoch_ns and info().recorded.
  void Finish();

 private:
  struct Action {
    StringId action = StringId::kEmpty, extra = StringId::kNone;
    uint64_t address = 0;
    int64_t size = 0, time_us = -1;
    StackId stack = StackId::kNone;
  };
  struct Piece {  // a segment or a block
    bool is_block = false, lives = false;
    StringId extra = StringId::kNone;
    uint64_t address = 0;
    int64_t size = 0, requested = 0;
    StackId stack = StackId::kNone;
  };
  struct Annotation {
    bool begins = false;
    StringId name = StringId::kEmpty;
    int64_t time_us = -1;
  };
  struct Device {
    std::vector<Action> actions;
    std::vector<Piece> pieces;
    std::vector<Annotation> annotations;
    int64_t allocated = 0, reserved = 0;  // at the end of the history
    TrackId track = TrackId::kNone;
  };
  struct Totals {
    int64_t allocated = 0, reserved = 0;
  };

  void FindEpoch();
  Timestamp TimeOf(int64_t time_us, size_t ordinal) const;
  std::vector<Totals> ComputeTotals(const Device& device) const;
  void AddHistory(int64_t number, Device* device);
  void AddOlderBlocks(int64_t number, const Device& device, Timestamp time);
  void AddAllocation(int64_t number, const Device& device, AllocationRow row, StringId extra);
  void AddInstant(const Device& device, Timestamp time, StringId name, StringId category, const Action& action);
  void AddState(const Device& device);
  void AddAnnotations(const Device& device);

  TraceBuilder* builder_;
  std::map<int64_t, Device> devices_;
  StringId memory_, instant_category_, action_category_, state_category_;
  StringId alloc_, free_requested_, free_completed_, segment_alloc_, segment_free_, segment_map_, segment_unmap_;
  int64_t epoch_us_ = 0, last_us_ = 0;
  bool has_times_ = false, lacks_times_ = false;
  uint64_t rows_ = 0;
};

}  // namespace opscope
