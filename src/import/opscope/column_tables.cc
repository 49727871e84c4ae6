// The dictionary, tracks, stacks, arguments, problems and metadata of column files. Spans and the
// other events are in column_events.cc.
// SPDX-License-Identifier: Apache-2.0
#include "import/opscope/column_tables.h"

#include <algorithm>

#include "import/opscope/column_tables_reader.h"
#include "wire/schema.h"

namespace opscope {

bool ColumnTables::AddStrings(uint32_t first_id, const TaggedTexts& texts) {
  new_ids_.clear();
  builder_->InternAll(texts, &new_ids_);
  return strings_.Add(first_id, new_ids_);
}

void ColumnTables::AddWaitingSpans(std::vector<int64_t>* damaged) {
  if (span_blocks_.empty()) return;
  const auto add_run = [this](uint64_t file_row, uint64_t rows, uint32_t added) {
    spans_.push_back({file_row, rows, added});
    runs_sorted_ = false;
  };
  span_blocks_.AddAll(
      {strings_.view(), arguments_, stacks_}, [this](uint64_t stored) { return Track(stored); }, add_run, damaged);
}

bool ColumnTables::AddTable(const TablePayload& payload) {
  if (TableOf(payload.bytes) == wire::kSpans) return span_blocks_.Add(payload);
  TableBlock block;
  if (!block.Parse(payload.bytes)) return false;
  switch (block.table()) {
    case wire::kProcesses:
      return AddProcesses(block);
    case wire::kTracks:
      return AddTracks(block);
    case wire::kAsyncSpans:
      return AddAsyncSpans(block);
    case wire::kInstants:
      return AddInstants(block);
    case wire::kCounters:
      return AddCounters(block);
    case wire::kFlows:
      return AddFlows(block);
    case wire::kAllocations:
      return AddAllocations(block);
    case wire::kSteps:
      return AddSteps(block);
    case wire::kPythonCalls:
      return AddPythonCalls(block);
    case wire::kFrames:
      return AddFrames(block);
    case wire::kStacks:
      return AddStacks(block);
    case wire::kArguments:
      return AddArguments(block);
    case wire::kProblems:
      return AddProblems(block);
    case wire::kMetadata:
      return AddMetadata(block);
    case wire::kTensors:
      return AddTensors(block);
    case wire::kHeldTensors:
      return AddHeldTensors(block);
    case wire::kTensorLives:
      return AddTensorLives(block);
    case wire::kOperators:
      return AddOperators(block);
    default:
      return true;  // a table of a newer version
  }
}

TrackId ColumnTables::Track(uint64_t stored) {
  if (stored == wire::kNoId || stored > tracks_.size() + 1 + kMaxColumnRows) return TrackId::kNone;
  const uint64_t row = stored - 1;
  if (row < tracks_.size() && tracks_[row] != TrackId::kNone) return tracks_[row];
  const ProcessId process = builder_->process_count() > 0 ? ProcessId{0} : builder_->AddProcess({});
  const TrackId track = builder_->AddTrack({.process = process, .kind = TrackKind::kOther});
  PlaceRow(row, track, TrackId::kNone, &tracks_);
  return track;
}

bool ColumnTables::AddProcesses(const TableBlock& block) {
  Reader reader(block, wire::process::kPid);
  uint64_t row = reader.FirstRow();
  const Values pid = reader.Read(wire::process::kPid, 0);
  const Values pid_text = reader.Read(wire::process::kPidText, wire::kNoId);
  const Values name = reader.Read(wire::process::kName, wire::kNoId);
  const Values labels = reader.Read(wire::process::kLabels, wire::kNoId);
  const Values sort_index = reader.Read(wire::process::kSortIndex, wire::kNoSortIndex);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    const ProcessId id = builder_->AddProcess({.pid = Signed(pid[i]),
                                               .pid_text = String(pid_text[i]),
                                               .name = String(name[i]),
                                               .labels = String(labels[i]),
                                               .sort_index = Signed(sort_index[i])});
    if (!PlaceRow(row++, id, ProcessId::kNone, &processes_)) return false;
  }
  return true;
}

bool ColumnTables::AddTracks(const TableBlock& block) {
  Reader reader(block, wire::track::kProcess);
  uint64_t row = reader.FirstRow();
  const Values process = reader.Read(wire::track::kProcess, wire::kNoId);
  const Values kind = reader.Read(wire::track::kKind, 0);
  const Values tid = reader.Read(wire::track::kTid, 0);
  const Values tid_text = reader.Read(wire::track::kTidText, wire::kNoId);
  const Values name = reader.Read(wire::track::kName, wire::kNoId);
  const Values sort_index = reader.Read(wire::track::kSortIndex, wire::kNoSortIndex);
  const Values logical_thread = reader.Read(wire::track::kLogicalThread, 0);
  const Values device = reader.Read(wire::track::kDevice, wire::kMinusOne);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    const uint64_t at = process[i] - 1;
    const bool known = at < processes_.size() && processes_[at] != ProcessId::kNone;
    const TrackId id = builder_->AddTrack({.process = known ? processes_[at] : builder_->AddProcess({}),
                                           .kind = kind[i] <= static_cast<uint64_t>(TrackKind::kOther)
                                                       ? static_cast<TrackKind>(kind[i])
                                                       : TrackKind::kOther,
                                           .tid = Signed(tid[i]),
                                           .tid_text = String(tid_text[i]),
                                           .name = String(name[i]),
                                           .sort_index = Signed(sort_index[i]),
                                           .logical_thread = logical_thread[i],
                                           .device = static_cast<int32_t>(device[i])});
    if (!PlaceRow(row++, id, TrackId::kNone, &tracks_)) return false;
  }
  return true;
}

bool ColumnTables::AddFrames(const TableBlock& block) {
  Reader reader(block, wire::frame::kText);
  uint64_t row = reader.FirstRow();
  const Values text = reader.Read(wire::frame::kText, wire::kNoId);
  if (!reader.ok()) return false;
  for (const uint64_t stored : text) {
    if (!PlaceRow(row++, builder_->AddFrame(String(stored)), FrameId::kNone, &frames_)) return false;
  }
  return true;
}

bool ColumnTables::AddStacks(const TableBlock& block) {
  Reader reader(block, wire::stack::kFrame);
  uint64_t row = reader.FirstRow();
  const Values frame = reader.Read(wire::stack::kFrame, wire::kNoId);
  const Values caller = reader.Read(wire::stack::kCaller, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    // A caller stands before its callees, so a stack can never go round in circles.
    const FrameId at = frame[i] - 1 < frames_.size() ? frames_[frame[i] - 1] : FrameId::kNone;
    const StackId called_by = caller[i] - 1 < stacks_.size() ? stacks_[caller[i] - 1] : StackId::kNone;
    const StackId id = at == FrameId::kNone ? called_by : builder_->AddStack(at, called_by);
    if (!PlaceRow(row++, id, StackId::kNone, &stacks_)) return false;
  }
  return true;
}

namespace {

// Takes rows off the flattened argument columns.
struct FlatArguments {
  std::vector<uint64_t> kind, dtype, value, has_strides, size_count, stride_count, tensor_count;
  std::vector<int64_t> sizes, strides;
  size_t next = 0, next_size = 0, next_stride = 0;

  static bool Take(uint64_t count, const std::vector<int64_t>& from, size_t* next, std::span<const int64_t>* out) {
    if (count > from.size() - *next) return false;
    *out = std::span(from).subspan(*next, static_cast<size_t>(count));
    *next += static_cast<size_t>(count);
    return true;
  }
};

}  // namespace

bool ColumnTables::AddArguments(const TableBlock& block) {
  Reader lists(block, wire::argument::kListSize);
  uint64_t row = lists.FirstRow();
  const Values list_size = lists.Read(wire::argument::kListSize, 0);
  Reader reader(block, wire::argument::kKind);
  FlatArguments flat;
  flat.kind = reader.Read(wire::argument::kKind, 0);
  flat.dtype = reader.Read(wire::argument::kDtype, uint64_t{Row(StringId::kEmpty)} + 1);
  flat.value = reader.Read(wire::argument::kValue, uint64_t{Row(StringId::kEmpty)} + 1);
  flat.has_strides = reader.Read(wire::argument::kHasStrides, 0);
  flat.size_count = reader.Read(wire::argument::kSizeCount, 0);
  flat.stride_count = reader.Read(wire::argument::kStrideCount, 0);
  flat.tensor_count = reader.Read(wire::argument::kTensorCount, 0);
  const auto integers = [&](uint32_t column) {
    const Values values = Reader(block, column).Read(column, 0);
    return std::vector<int64_t>(values.begin(), values.end());
  };
  flat.sizes = integers(wire::argument::kSizes);
  flat.strides = integers(wire::argument::kStrides);
  if (!lists.ok() || !reader.ok()) return false;

  const auto take = [&](ArgumentRow* out) {
    if (flat.next == flat.kind.size()) return false;
    const size_t i = flat.next++;
    const auto kind = static_cast<ArgumentKind>(flat.kind[i]);
    out->kind = flat.kind[i] <= static_cast<uint64_t>(ArgumentKind::kScalarList) ? kind : ArgumentKind::kOther;
    out->dtype = String(flat.dtype[i]);
    out->value = String(flat.value[i]);
    out->has_strides = flat.has_strides[i] != 0;
    return FlatArguments::Take(flat.size_count[i], flat.sizes, &flat.next_size, &out->sizes) &&
           FlatArguments::Take(flat.stride_count[i], flat.strides, &flat.next_stride, &out->strides);
  };
  for (const uint64_t size : list_size) {
    if (size > flat.kind.size() - flat.next) return false;
    std::vector<ArgumentRow> arguments(static_cast<size_t>(size));
    std::vector<std::vector<ArgumentRow>> tensors(arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!take(&arguments[i])) return false;
      const uint64_t count = flat.tensor_count[flat.next - 1];
      if (count > flat.kind.size() - flat.next) return false;
      tensors[i].resize(static_cast<size_t>(count));
      for (ArgumentRow& tensor : tensors[i]) {
        if (!take(&tensor)) return false;
      }
      arguments[i].tensors = tensors[i];
    }
    if (!PlaceRow(row++, builder_->AddArguments(arguments), ArgsId::kNone, &arguments_)) return false;
  }
  return true;
}

bool ColumnTables::AddProblems(const TableBlock& block) {
  Reader reader(block, wire::problem::kKind);
  const Values kind = reader.Read(wire::problem::kKind, wire::kNoId);
  const Values severity = reader.Read(wire::problem::kSeverity, 0);
  const Values count = reader.Read(wire::problem::kCount, 0);
  const Values first_offset = reader.Read(wire::problem::kFirstOffset, wire::kMinusOne);
  const Values message = reader.Read(wire::problem::kMessage, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    const auto known = std::min<uint64_t>(severity[i], static_cast<uint64_t>(ProblemSeverity::kError));
    builder_->RestoreProblem(builder_->text(String(kind[i])), static_cast<ProblemSeverity>(known), count[i],
                             Signed(first_offset[i]), builder_->text(String(message[i])));
  }
  return true;
}

bool ColumnTables::AddMetadata(const TableBlock& block) {
  Reader reader(block, wire::metadata::kKey);
  const Values key = reader.Read(wire::metadata::kKey, wire::kNoId);
  const Values json = reader.Read(wire::metadata::kJson, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    if (String(key[i]) == StringId::kNone || String(json[i]) == StringId::kNone) continue;
    builder_->AddMetadata(builder_->text(String(key[i])), builder_->text(String(json[i])));
  }
  return true;
}

void ColumnTables::Finish(bool whole) {
  if (!whole) return;
  for (const TrackId track : tracks_) {
    if (track != TrackId::kNone) builder_->SetPreOrdered(track);
  }
}

}  // namespace opscope
