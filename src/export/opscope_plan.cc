// SPDX-License-Identifier: Apache-2.0
#include "export/opscope_plan.h"

#include <algorithm>

#include "export/opscope_spans.h"
#include "export/opscope_values.h"
#include "wire/schema.h"
#include "wire/string_block.h"
#include "wire/trace_info.h"

namespace opscope {
namespace {

// What one flipped bit may cost of the names. Each block has a checksum, and compresses for itself.
constexpr size_t kMaxStringBlockBytes = size_t{4} << 20, kFewTexts = 256, kMostBlocksOfMany = 32;

class OpscopePlan {
 public:
  explicit OpscopePlan(const Trace& trace) : trace_(trace) {}
  std::vector<PlannedBlock> Plan();

 private:
  void PlanInfo();
  void PlanStrings();
  void PlanTracks();
  void PlanStacks();
  void PlanArguments();
  void PlanFacts();
  void PlanEvents();
  void PlanMemory();
  void PlanTensorLives();
  void PlanReferences();

  // Plans rows in blocks; add_columns(first, count, block) adds the columns of one. It is called later: what it refers
  // to must be of the Trace.
  template <typename AddColumns>
  void PlanRows(uint32_t table, size_t rows, AddColumns add_columns) {
    for (size_t first = 0; first < rows; first += kMaxRowsPerBlock) {
      const size_t count = std::min(kMaxRowsPerBlock, rows - first);
      blocks_.push_back({.rows = count, .table = table, .make = [=](BlockMaker* maker, FooterBlock*) {
                           maker->table.Restart(table);
                           maker->table.Add(wire::kFirstRow, std::vector<uint64_t>{first}, Transform::kPlain);
                           add_columns(first, count, &maker->table);
                           maker->FinishTable();
                         }});
    }
  }

  const Trace& trace_;
  std::vector<PlannedBlock> blocks_;
};

// Adds one column of a block unless all its values are `absent`.
template <typename T>
void Put(TableBlockWriter* block, uint64_t absent, uint32_t column, std::span<const T> values, size_t first,
         size_t count, Transform transform = Transform::kPlain) {
  const std::span<const T> rows = values.subspan(first, count);
  if (!AllAre(absent, rows)) AddWireColumn(column, rows, transform, block);
}

// The column that says how many rows there are: always written.
template <typename T>
void PutAlways(TableBlockWriter* block, uint32_t column, std::span<const T> values, size_t first, size_t count,
               Transform transform = Transform::kPlain) {
  AddWireColumn(column, values.subspan(first, count), transform, block);
}

void OpscopePlan::PlanInfo() {
  blocks_.push_back({.type = block_types::kTraceInfo, .make = [this_trace = &trace_](BlockMaker* maker, FooterBlock*) {
                       const TraceInfo& info = this_trace->info();
                       maker->payload += EncodeTraceInfo({.recorded = info.recorded,
                                                          .dropped = info.dropped,
                                                          .epoch_ns = info.epoch_ns,
                                                          .options_json = info.options_json,
                                                          .source_format = info.format,
                                                          .source_version = info.format_version,
                                                          .texts = this_trace->string_count()});
                     }});
}

void OpscopePlan::PlanStrings() {
  const auto plan = [this](size_t first, size_t end) {
    blocks_.push_back({.type = block_types::kStrings,
                       .compress = true,
                       .rows = end - first,
                       .make = [&trace = trace_, first, end](BlockMaker* maker, FooterBlock*) {
                         StringBlock block{static_cast<uint32_t>(first), {}};
                         block.texts.reserve(end - first);
                         for (size_t id = first; id < end; ++id)
                           block.texts.push_back(trace.text(static_cast<StringId>(id)));
                         AppendStrings(block, &maker->encoder, &maker->payload);
                       }});
  };
  size_t first = 0, bytes = 0;
  const size_t count = trace_.string_count();
  const size_t texts_of_block = std::clamp<size_t>(count / kMostBlocksOfMany, kFewTexts, kMaxRowsPerBlock);
  for (size_t id = 0; id < count; ++id) {
    bytes += trace_.text(static_cast<StringId>(id)).size();
    if (id + 1 - first < texts_of_block && bytes < kMaxStringBlockBytes) continue;
    plan(first, id + 1);
    first = id + 1;
    bytes = 0;
  }
  if (first < count) plan(first, count);
}

void OpscopePlan::PlanTracks() {
  const ProcessColumns& processes = trace_.processes();
  PlanRows(wire::kProcesses, processes.size(), [&processes](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::process::kPid, processes.pid, first, count, Transform::kSigned);
    Put(block, wire::kNoId, wire::process::kPidText, processes.pid_text, first, count);
    Put(block, wire::kNoId, wire::process::kName, processes.name, first, count);
    Put(block, wire::kNoId, wire::process::kLabels, processes.labels, first, count);
    Put(block, wire::kNoSortIndex, wire::process::kSortIndex, processes.sort_index, first, count, Transform::kSigned);
  });
  const TrackColumns& tracks = trace_.tracks();
  PlanRows(wire::kTracks, tracks.size(), [&tracks](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::track::kProcess, tracks.process, first, count);
    Put(block, 0, wire::track::kKind, tracks.kind, first, count);
    Put(block, 0, wire::track::kTid, tracks.tid, first, count, Transform::kSigned);
    Put(block, wire::kNoId, wire::track::kTidText, tracks.tid_text, first, count);
    Put(block, wire::kNoId, wire::track::kName, tracks.name, first, count);
    Put(block, wire::kNoSortIndex, wire::track::kSortIndex, tracks.sort_index, first, count, Transform::kSigned);
    Put(block, 0, wire::track::kLogicalThread, tracks.logical_thread, first, count);
    Put(block, wire::kMinusOne, wire::track::kDevice, tracks.device, first, count, Transform::kSigned);
  });
}

void OpscopePlan::PlanStacks() {
  const FrameColumns& frames = trace_.frames();
  PlanRows(wire::kFrames, frames.size(), [&frames](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::frame::kText, frames.text, first, count);
  });
  const StackColumns& stacks = trace_.stacks();
  PlanRows(wire::kStacks, stacks.size(), [&stacks](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::stack::kFrame, stacks.frame, first, count);
    Put(block, wire::kNoId, wire::stack::kCaller, stacks.caller, first, count, Transform::kDelta);
  });
}

// The columns of some argument lists.
struct ArgumentRows {
  std::vector<uint64_t> list_size, kind, dtype, value, has_strides, layout, size_count, stride_count, tensor_count;
  std::vector<uint64_t> sizes, strides;

  void Add(std::span<const Argument> arguments) {
    for (const Argument& argument : arguments) {
      kind.push_back(WireValue(argument.kind));
      dtype.push_back(WireValue(argument.dtype));
      value.push_back(WireValue(argument.value));
      has_strides.push_back(argument.has_strides ? 1 : 0);
      layout.push_back(WireValue(argument.layout));
      size_count.push_back(argument.sizes.size());
      stride_count.push_back(argument.strides.size());
      tensor_count.push_back(argument.tensors.size());
      for (const int64_t size : argument.sizes)
        sizes.push_back(WireValue(size));
      for (const int64_t stride : argument.strides)
        strides.push_back(WireValue(stride));
      Add(argument.tensors);
    }
  }

  void AddTo(TableBlockWriter* block) const {
    block->Add(wire::argument::kListSize, list_size, Transform::kPlain);
    block->Add(wire::argument::kKind, kind, Transform::kPlain);
    block->AddUnless(WireValue(StringId::kEmpty), wire::argument::kDtype, dtype, Transform::kPlain);
    block->AddUnless(WireValue(StringId::kEmpty), wire::argument::kValue, value, Transform::kPlain);
    block->AddUnless(0, wire::argument::kHasStrides, has_strides, Transform::kPlain);
    block->AddUnless(0, wire::argument::kLayout, layout, Transform::kPlain);
    block->AddUnless(0, wire::argument::kSizeCount, size_count, Transform::kPlain);
    block->AddUnless(0, wire::argument::kStrideCount, stride_count, Transform::kPlain);
    block->AddUnless(0, wire::argument::kTensorCount, tensor_count, Transform::kPlain);
    if (!sizes.empty()) block->Add(wire::argument::kSizes, sizes, Transform::kSigned);
    if (!strides.empty()) block->Add(wire::argument::kStrides, strides, Transform::kSigned);
  }
};

// Adds up what ArgumentRows takes of one list.
void CountRows(std::span<const Argument> list, size_t* arguments, size_t* sizes) {
  *arguments += list.size();
  for (const Argument& argument : list) {
    *sizes += argument.sizes.size();
    CountRows(argument.tensors, arguments, sizes);
  }
}

void OpscopePlan::PlanArguments() {
  const size_t lists = trace_.argument_list_count();
  for (size_t first = 0, next = 0; first < lists; first = next) {
    size_t arguments = 0, sizes = 0;
    while (next < lists && arguments < kMaxRowsPerBlock && sizes < kMaxRowsPerBlock)
      CountRows(trace_.arguments(static_cast<ArgsId>(next++)), &arguments, &sizes);
    blocks_.push_back({.rows = next - first,
                       .table = wire::kArguments,
                       .make = [&trace = trace_, first, next](BlockMaker* maker, FooterBlock*) {
                         ArgumentRows rows;
                         for (size_t list = first; list < next; ++list) {
                           const std::span<const Argument> of_list = trace.arguments(static_cast<ArgsId>(list));
                           rows.list_size.push_back(of_list.size());
                           rows.Add(of_list);
                         }
                         maker->table.Restart(wire::kArguments);
                         maker->table.Add(wire::kFirstRow, std::vector<uint64_t>{first}, Transform::kPlain);
                         rows.AddTo(&maker->table);
                         maker->FinishTable();
                       }});
  }
}

void OpscopePlan::PlanFacts() {
  const MetadataColumns& metadata = trace_.metadata();
  PlanRows(wire::kMetadata, metadata.size(), [&metadata](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::metadata::kKey, metadata.key, first, count);
    PutAlways(block, wire::metadata::kJson, metadata.json, first, count);
  });
  const OperatorColumns& operators = trace_.operators();
  PlanRows(wire::kOperators, operators.size(), [&operators](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::op::kName, operators.name, first, count);
    PutAlways(block, wire::op::kArguments, operators.arguments, first, count);
  });
  const ProblemColumns& problems = trace_.problems();
  PlanRows(wire::kProblems, problems.size(), [&problems](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::problem::kKind, problems.kind, first, count);
    Put(block, 0, wire::problem::kSeverity, problems.severity, first, count);
    Put(block, 0, wire::problem::kCount, problems.count, first, count);
    Put(block, wire::kMinusOne, wire::problem::kFirstOffset, problems.first_offset, first, count, Transform::kSigned);
    Put(block, wire::kNoId, wire::problem::kMessage, problems.message, first, count);
  });
}

void OpscopePlan::PlanEvents() {
  PlanSpanBlocks(trace_, &blocks_);
  const AsyncSpanColumns& async = trace_.async_spans();
  PlanRows(wire::kAsyncSpans, async.size(), [&async](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::async_span::kStart, async.start, first, count, Transform::kDelta);
    Put(block, 0, wire::async_span::kDuration, async.duration, first, count, Transform::kSigned);
    Put(block, wire::kNoId, wire::async_span::kName, async.name, first, count);
    Put(block, wire::kNoId, wire::async_span::kCategory, async.category, first, count);
    Put(block, wire::kNoId, wire::async_span::kTrack, async.track, first, count);
    Put(block, wire::kNoId, wire::async_span::kId, async.id, first, count);
    Put(block, wire::kNoId, wire::async_span::kExtra, async.extra, first, count);
  });
  const InstantColumns& instants = trace_.instants();
  PlanRows(wire::kInstants, instants.size(), [&instants](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::instant::kTime, instants.time, first, count, Transform::kDelta);
    Put(block, wire::kNoId, wire::instant::kName, instants.name, first, count);
    Put(block, wire::kNoId, wire::instant::kCategory, instants.category, first, count);
    Put(block, wire::kNoId, wire::instant::kTrack, instants.track, first, count);
    Put(block, 't', wire::instant::kScope, instants.scope, first, count);
    Put(block, wire::kNoId, wire::instant::kExtra, instants.extra, first, count);
  });
  const CounterColumns& counters = trace_.counters();
  PlanRows(wire::kCounters, counters.size(), [&counters](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::counter::kTime, counters.time, first, count, Transform::kDelta);
    Put(block, wire::kNoId, wire::counter::kName, counters.name, first, count);
    Put(block, wire::kNoId, wire::counter::kSeries, counters.series, first, count);
    Put(block, wire::kNoId, wire::counter::kTrack, counters.track, first, count);
    Put(block, 0, wire::counter::kValue, counters.value, first, count);
  });
}

void OpscopePlan::PlanMemory() {
  const AllocationColumns& allocations = trace_.allocations();
  PlanRows(wire::kAllocations, allocations.size(), [&allocations](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::allocation::kTime, allocations.time, first, count, Transform::kDelta);
    Put(block, wire::kNoId, wire::allocation::kTrack, allocations.track, first, count);
    Put(block, 0, wire::allocation::kAddress, allocations.address, first, count, Transform::kDelta);
    Put(block, 0, wire::allocation::kBytes, allocations.bytes, first, count, Transform::kSigned);
    Put(block, wire::kMinusOne, wire::allocation::kTotalAllocated, allocations.total_allocated, first, count,
        Transform::kSparseDelta);
    Put(block, wire::kMinusOne, wire::allocation::kTotalReserved, allocations.total_reserved, first, count,
        Transform::kSparseDelta);
    Put(block, 0, wire::allocation::kDeviceType, allocations.device_type, first, count, Transform::kSigned);
    Put(block, wire::kMinusOne, wire::allocation::kDevice, allocations.device, first, count, Transform::kSigned);
    Put(block, wire::kNoId, wire::allocation::kStack, allocations.stack, first, count);
  });
  const HeldTensorColumns& held = trace_.held_tensors();
  PlanRows(wire::kHeldTensors, held.size(), [&held](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::held_tensor::kTime, held.time, first, count, Transform::kDelta);
    Put(block, wire::kNoId, wire::held_tensor::kTrack, held.track, first, count);
    Put(block, 0, wire::held_tensor::kOwner, held.owner, first, count, Transform::kDelta);
    Put(block, 0, wire::held_tensor::kHeldAs, held.held_as, first, count);
    Put(block, 0, wire::held_tensor::kTensor, held.tensor, first, count, Transform::kDelta);
    Put(block, 0, wire::held_tensor::kStorage, held.storage, first, count, Transform::kDelta);
    Put(block, 0, wire::held_tensor::kDeviceType, held.device_type, first, count, Transform::kSigned);
    Put(block, wire::kMinusOne, wire::held_tensor::kDevice, held.device, first, count, Transform::kSigned);
    Put(block, wire::kMinusOne, wire::held_tensor::kBytes, held.bytes, first, count, Transform::kSigned);
    Put(block, wire::kNoId, wire::held_tensor::kName, held.name, first, count);
  });
}

void OpscopePlan::PlanTensorLives() {
  const TensorLifeColumns& lives = trace_.tensor_lives();
  PlanRows(wire::kTensorLives, lives.size(), [&lives](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::tensor_life::kProduced, lives.produced, first, count, Transform::kDelta);
    Put(block, wire::kMinusOne, wire::tensor_life::kDuration, lives.duration, first, count, Transform::kSigned);
    Put(block, wire::kNoId, wire::tensor_life::kTrack, lives.track, first, count);
    Put(block, 0, wire::tensor_life::kTensor, lives.tensor, first, count, Transform::kDelta);
    Put(block, 0, wire::tensor_life::kOp, lives.op, first, count, Transform::kDelta);
    Put(block, 0, wire::tensor_life::kAddress, lives.address, first, count, Transform::kDelta);
    Put(block, 0, wire::tensor_life::kBytes, lives.bytes, first, count);
    Put(block, 0, wire::tensor_life::kUses, lives.uses, first, count);
    Put(block, wire::kNoId, wire::tensor_life::kArgs, lives.args, first, count);
    Put(block, wire::kNoId, wire::tensor_life::kName, lives.name, first, count);
  });
}

// Ends of arrows nearly always lie where their span starts: stored as the distance to it.
void PutTimesInSpans(TableBlockWriter* block, uint32_t column, std::span<const Timestamp> times,
                     std::span<const SpanId> in_spans, const SpanColumns& spans, size_t first, size_t count) {
  const std::span<uint64_t> values = block->Room(count);
  bool all_zero = true;
  for (size_t i = 0; i < count; ++i) {
    const SpanId span = in_spans[first + i];
    values[i] = WireValue(times[first + i]) - (span == SpanId::kNone ? 0 : WireValue(spans.start[Row(span)]));
    all_zero &= values[i] == 0;
  }
  if (!all_zero) block->AddRoom(column, count, Transform::kSigned);
}

void OpscopePlan::PlanReferences() {
  const FlowColumns& flows = trace_.flows();
  const SpanColumns& spans = trace_.spans();
  PlanRows(wire::kFlows, flows.size(), [&flows, &spans](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::flow::kId, flows.id, first, count, Transform::kDelta);
    Put(block, wire::kNoId, wire::flow::kCategory, flows.category, first, count);
    Put(block, wire::kNoId, wire::flow::kName, flows.name, first, count);
    PutTimesInSpans(block, wire::flow::kStartTime, flows.start_time, flows.start_span, spans, first, count);
    Put(block, wire::kNoId, wire::flow::kStartTrack, flows.start_track, first, count);
    Put(block, wire::kNoId, wire::flow::kStartSpan, flows.start_span, first, count, Transform::kDelta);
    PutTimesInSpans(block, wire::flow::kEndTime, flows.end_time, flows.end_span, spans, first, count);
    Put(block, wire::kNoId, wire::flow::kEndTrack, flows.end_track, first, count);
    Put(block, wire::kNoId, wire::flow::kEndSpan, flows.end_span, first, count, Transform::kDelta);
  });
  const TensorColumns& tensors = trace_.tensors();
  PlanRows(wire::kTensors, tensors.size(), [&tensors](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::tensor::kSpan, tensors.span, first, count, Transform::kDelta);
    Put(block, 0, wire::tensor::kTensor, tensors.tensor, first, count, Transform::kDelta);
    Put(block, 0, wire::tensor::kStorage, tensors.storage, first, count, Transform::kDelta);
    Put(block, 0, wire::tensor::kDeviceType, tensors.device_type, first, count, Transform::kSigned);
    Put(block, wire::kMinusOne, wire::tensor::kDevice, tensors.device, first, count, Transform::kSigned);
  });
  const StepColumns& steps = trace_.steps();
  PlanRows(wire::kSteps, steps.size(), [&steps](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::step::kNumber, steps.number, first, count, Transform::kDelta);
    Put(block, wire::kNoId, wire::step::kName, steps.name, first, count);
    Put(block, wire::kNoId, wire::step::kSpan, steps.span, first, count, Transform::kDelta);
  });
  const PythonCallColumns& calls = trace_.python_calls();
  PlanRows(wire::kPythonCalls, calls.size(), [&calls](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::python_call::kSpan, calls.span, first, count, Transform::kDelta);
    Put(block, 0, wire::python_call::kId, calls.id, first, count, Transform::kDelta);
    Put(block, 0, wire::python_call::kCaller, calls.caller, first, count, Transform::kDelta);
    Put(block, wire::kMinusOne, wire::python_call::kModuleId, calls.module_id, first, count, Transform::kSigned);
    Put(block, wire::kMinusOne, wire::python_call::kThread, calls.thread, first, count, Transform::kSigned);
  });
}

std::vector<PlannedBlock> OpscopePlan::Plan() {
  PlanInfo();
  PlanStrings();
  PlanTracks();
  PlanStacks();
  PlanArguments();
  PlanFacts();
  PlanEvents();
  PlanMemory();
  PlanTensorLives();
  PlanReferences();
  return std::move(blocks_);
}

}  // namespace

std::vector<PlannedBlock> PlanOpscope(const Trace& trace) {
  return OpscopePlan(trace).Plan();
}

}  // namespace opscope
