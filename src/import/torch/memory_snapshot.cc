// The history is a ring whose beginning is lost, but the state at its end is exact. So totals are computed backwards
// from the end:
//
//   state at the end: 300 bytes     actions: alloc 100, free 50, alloc 200     totals: 150, 100, 300
//
// Blocks that are only freed in the history, or are alive at the end without an allocation in it, are added at the
// begin, so that the rows add up to the state at the end.
// SPDX-License-Identifier: Apache-2.0
#include "import/torch/memory_snapshot.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <optional>

#include "base/json_object.h"
#include "base/saturating.h"
#include "base/text.h"
#include "import/text/json_number.h"
#include "import/text/open_begins.h"

namespace opscope {
namespace {

constexpr int32_t kCuda = 1;  // torch's DeviceType
constexpr int64_t kLatestUs = kLatestNs / 1000;

}  // namespace

MemorySnapshotTables::MemorySnapshotTables(TraceBuilder* builder) : builder_(builder) {
  memory_ = builder->Intern("[memory]"), instant_category_ = builder->Intern("cpu_instant_event");
  action_category_ = builder->Intern("memory_action"), state_category_ = builder->Intern("memory_state");
  alloc_ = builder->Intern("alloc"), free_requested_ = builder->Intern("free_requested");
  free_completed_ = builder->Intern("free_completed");
  segment_alloc_ = builder->Intern("segment_alloc"), segment_free_ = builder->Intern("segment_free");
  segment_map_ = builder->Intern("segment_map"), segment_unmap_ = builder->Intern("segment_unmap");
}

StackId MemorySnapshotTables::AddStack(std::span<const SnapshotFrame> frames) {
  StackId stack = StackId::kNone;
  std::string text;
  for (size_t i = frames.size(); i-- > 0;) {
    text.assign(frames[i].file).append("(");
    AppendInt(&text, frames[i].line);
    text.append("): ").append(frames[i].function);
    stack = builder_->AddStack(builder_->AddFrame(builder_->Intern(text)), stack);
  }
  return stack;
}

void MemorySnapshotTables::AddSegment(const SnapshotSegment& row) {
  Device& device = devices_[row.device];
  device.reserved = WrappingAdd(device.reserved, row.total_size);
  Piece piece{.address = row.address, .size = row.total_size, .stack = row.stack};
  if (!row.extra.empty()) piece.extra = builder_->Intern(row.extra);
  device.pieces.push_back(piece);
  ++rows_;
}

void MemorySnapshotTables::AddBlock(const SnapshotBlock& row) {
  Device& device = devices_[row.device];
  Piece piece{.is_block = true, .lives = row.state != "inactive", .address = row.address, .size = row.size};
  piece.requested = row.requested_size < 0 ? row.size : row.requested_size;
  piece.stack = row.stack;
  if (piece.lives) device.allocated = WrappingAdd(device.allocated, piece.requested);
  std::string extra;
  JsonMemberWriter(&extra, JsonMemberWriter::kSpaced)
      .Text("state", row.state)
      .Int("requested_size", piece.requested)
      .Members(row.extra);
  piece.extra = builder_->Intern(extra);
  device.pieces.push_back(piece);
  ++rows_;
}

void MemorySnapshotTables::AddAction(const SnapshotAction& row) {
  Action action{.action = builder_->Intern(row.action), .address = row.address, .size = row.size, .stack = row.stack};
  if (!row.extra.empty()) action.extra = builder_->Intern(row.extra);
  if (row.time_us >= 0 && row.time_us <= kLatestUs) action.time_us = row.time_us;
  (action.time_us < 0 ? lacks_times_ : has_times_) = true;
  devices_[row.device].actions.push_back(action);
  ++rows_;
}

void MemorySnapshotTables::AddAnnotation(const SnapshotAnnotation& row) {
  Annotation annotation{.begins = row.begins, .name = builder_->Intern(row.name)};
  if (row.time_us >= 0 && row.time_us <= kLatestUs) annotation.time_us = row.time_us;
  (annotation.time_us < 0 ? lacks_times_ : has_times_) = true;
  devices_[row.device].annotations.push_back(annotation);
  ++rows_;
}

uint64_t MemorySnapshotTables::memory_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [number, device] : devices_) {
    bytes += sizeof(Device) + device.actions.capacity() * sizeof(Action) + device.pieces.capacity() * sizeof(Piece) +
             device.annotations.capacity() * sizeof(Annotation);
    bytes += device.actions.size() * (sizeof(AllocationRow) + sizeof(InstantRow) + sizeof(Totals)) +
             device.pieces.size() * sizeof(InstantRow) + device.annotations.size() * sizeof(SpanRow);
  }
  return bytes;
}

// Times count from the first; a file without times gets one microsecond per row.
void MemorySnapshotTables::FindEpoch() {
  epoch_us_ = has_times_ ? INT64_MAX : 0;
  const auto see = [&](int64_t time_us) {
    if (time_us < 0) return;
    epoch_us_ = std::min(epoch_us_, time_us);
    last_us_ = std::max(last_us_, time_us);
  };
  size_t longest = 0;
  for (const auto& [number, device] : devices_) {
    for (const Action& action : device.actions)
      see(action.time_us);
    for (const Annotation& annotation : device.annotations)
      see(annotation.time_us);
    longest = std::max(longest, std::max(device.actions.size(), device.annotations.size()));
  }
  if (!has_times_) last_us_ = static_cast<int64_t>(longest);
  if (lacks_times_) builder_->AddProblem(has_times_ ? "missing_time" : "no_times", -1);
}

Timestamp MemorySnapshotTables::TimeOf(int64_t time_us, size_t ordinal) const {
  if (!has_times_) return {static_cast<int64_t>(ordinal) * 1000};
  return {time_us < 0 ? 0 : (time_us - epoch_us_) * 1000};
}

// Computes the totals after each action, backwards from the end.
std::vector<MemorySnapshotTables::Totals> MemorySnapshotTables::ComputeTotals(const Device& device) const {
  std::vector<Totals> totals(device.actions.size());
  Totals now{device.allocated, device.reserved};
  for (size_t i = device.actions.size(); i-- > 0;) {
    const Action& action = device.actions[i];
    totals[i] = {std::max<int64_t>(now.allocated, -1), std::max<int64_t>(now.reserved, -1)};
    if (action.action == alloc_) now.allocated = WrappingSubtract(now.allocated, action.size);
    if (action.action == free_completed_) now.allocated = WrappingAdd(now.allocated, action.size);
    if (action.action == segment_alloc_ || action.action == segment_map_)
      now.reserved = WrappingSubtract(now.reserved, action.size);
    if (action.action == segment_free_ || action.action == segment_unmap_)
      now.reserved = WrappingAdd(now.reserved, action.size);
  }
  return totals;
}

void MemorySnapshotTables::AddAllocation(int64_t number, const Device& device, AllocationRow row, StringId extra) {
  row.track = device.track;
  row.device_type = kCuda;
  row.device = static_cast<int32_t>(number);
  builder_->AddAllocation(row);
  builder_->AddInstant(
      {.time = row.time, .name = memory_, .category = instant_category_, .track = row.track, .extra = extra});
}

void MemorySnapshotTables::AddOlderBlocks(int64_t number, const Device& device, Timestamp time) {
  tsl::robin_map<uint64_t, uint64_t> living;  // bytes that the history allocated, by address
  for (const Action& action : device.actions) {
    if (action.action == alloc_) {
      living[action.address] = 1;
    } else if (action.action == free_completed_ && living.erase(action.address) == 0) {
      AddAllocation(number, device, {.time = time, .address = action.address, .bytes = action.size}, StringId::kNone);
    }
  }
  for (const Piece& piece : device.pieces) {
    if (!piece.is_block || !piece.lives || living.count(piece.address) != 0) continue;
    AddAllocation(number, device,
                  {.time = time, .address = piece.address, .bytes = piece.requested, .stack = piece.stack},
                  StringId::kNone);
  }
}

void MemorySnapshotTables::AddInstant(const Device& device, Timestamp time, StringId name, StringId category,
                                      const Action& action) {
  std::string extra;
  JsonMemberWriter members(&extra, JsonMemberWriter::kSpaced);
  members.Uint("addr", action.address).Int("size", action.size);
  if (action.extra != StringId::kNone) members.Members(builder_->text(action.extra));
  if (action.stack != StackId::kNone) members.Text("Call stack", builder_->CallStackText(action.stack));
  builder_->AddInstant(
      {.time = time, .name = name, .category = category, .track = device.track, .extra = builder_->Intern(extra)});
}

void MemorySnapshotTables::AddHistory(int64_t number, Device* device) {
  const std::vector<Action>& actions = device->actions;
  const std::vector<Totals> totals = ComputeTotals(*device);
  AddOlderBlocks(number, *device, actions.empty() ? Timestamp{0} : TimeOf(actions[0].time_us, 0));
  for (size_t i = 0; i < actions.size(); ++i) {
    const Action& action = actions[i];
    const Timestamp time = TimeOf(action.time_us, i);
    if (action.action == alloc_ || action.action == free_completed_) {
      AddAllocation(number, *device,
                    {.time = time,
                     .address = action.address,
                     .bytes = action.action == alloc_ ? action.size : WrappingSubtract(0, action.size),
                     .total_allocated = totals[i].allocated,
                     .total_reserved = totals[i].reserved,
                     .stack = action.stack},
                    action.extra);
      continue;
    }
    const bool is_done_at_once = action.action == free_requested_ && i + 1 < actions.size() &&
                                 actions[i + 1].action == free_completed_ && actions[i + 1].address == action.address;
    if (!is_done_at_once) AddInstant(*device, time, action.action, action_category_, action);
  }
}

void MemorySnapshotTables::AddState(const Device& device) {
  const Timestamp end = TimeOf(last_us_, static_cast<size_t>(last_us_));
  const StringId segment = builder_->Intern("segment"), block = builder_->Intern("block");
  for (const Piece& piece : device.pieces) {
    AddInstant(device, end, piece.is_block ? block : segment, state_category_,
               {.extra = piece.extra, .address = piece.address, .size = piece.size});
  }
}

void MemorySnapshotTables::AddAnnotations(const Device& device) {
  OpenBegins open;
  const StringId category = builder_->Intern("user_annotation");
  const auto time_of = [&](uint32_t i) { return TimeOf(device.annotations[i].time_us, i); };
  const auto add = [&](uint32_t begin, Timestamp end) {
    const Timestamp start = time_of(begin);
    builder_->AddSpan({.start = start,
                       .duration = end - start,
                       .name = device.annotations[begin].name,
                       .category = category,
                       .track = device.track});
  };
  for (uint32_t i = 0; i < device.annotations.size(); ++i) {
    const Annotation& row = device.annotations[i];
    if (row.begins) {
      open.Open(i, row.name);
    } else if (const std::optional<uint32_t> begin = open.CloseNewest(row.name)) {
      add(*begin, time_of(i));
    } else {
      builder_->AddProblem("stray_end", -1);
    }
  }
  open.ForEach([&](uint32_t begin) {
    builder_->AddProblem("unclosed_begin", -1);
    add(begin, TimeOf(last_us_, static_cast<size_t>(last_us_)));
  });
}

void MemorySnapshotTables::Finish() {
  FindEpoch();
  builder_->info().epoch_ns = epoch_us_ * 1000;
  builder_->info().recorded += rows_;
  if (devices_.empty()) return;
  const ProcessId process = builder_->AddProcess({.name = builder_->Intern("memory snapshot")});
  for (auto& [number, device] : devices_) {
    if (device.actions.empty() && device.pieces.empty() && device.annotations.empty()) continue;
    std::string name = "device ";
    AppendInt(&name, number);
    device.track = builder_->AddTrack(
        {.process = process, .kind = TrackKind::kOther, .tid = number, .name = builder_->Intern(name)});
    AddHistory(number, &device);
    AddState(device);
    AddAnnotations(device);
  }
}

}  // namespace opscope
