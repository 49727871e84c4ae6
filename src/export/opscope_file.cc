// Writes a Trace as a column file: dictionary and small tables first, then the spans in slices of time,
// then what refers to spans, then the footer.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/short_memory.h"
#include "export/opscope_spans.h"
#include "export/opscope_values.h"
#include "opscope/export.h"
#include "wire/container.h"
#include "wire/schema.h"
#include "wire/string_block.h"
#include "wire/table_block.h"
#include "wire/trace_info.h"
#include "wire/zstd_contexts.h"

namespace opscope {
namespace {

constexpr size_t kMaxStringBlockBytes = size_t{4} << 20;

class OpscopeWriter {
 public:
  explicit OpscopeWriter(const Trace& trace) : trace_(trace) {}
  std::string Write();

 private:
  void WriteInfo();
  void WriteStrings();
  void WriteTracks();
  void WriteStacks();
  void WriteArguments();
  void WriteFacts();
  void WriteEvents();
  void WriteReferences();
  std::vector<uint64_t> TimesInSpans(std::span<const Timestamp> times, std::span<const SpanId> spans, size_t first,
                                     size_t count) const;
  void WriteEnd();
  void AddTable(const TableBlockWriter& table, FooterBlock block);

  // Writes rows in blocks; add_columns(first, count, block) adds the columns of one.
  template <typename AddColumns>
  void WriteRows(uint32_t table, size_t rows, AddColumns add_columns) {
    for (size_t first = 0; first < rows; first += kMaxRowsPerBlock) {
      const size_t count = std::min(kMaxRowsPerBlock, rows - first);
      TableBlockWriter block(table);
      block.Add(wire::kFirstRow, std::vector<uint64_t>{first}, Transform::kPlain);
      add_columns(first, count, &block);
      AddTable(block, {.table = table, .rows = count});
    }
  }

  const Trace& trace_;
  std::string out_;
  Footer footer_;
};

// Adds one column of a block unless all its values are `absent`.
template <typename T>
void Put(TableBlockWriter* block, uint64_t absent, uint32_t column, std::span<const T> values, size_t first,
         size_t count, Transform transform = Transform::kPlain) {
  block->AddUnless(absent, column, WireValues(values, first, count), transform);
}

// The column that says how many rows there are: always written.
template <typename T>
void PutAlways(TableBlockWriter* block, uint32_t column, std::span<const T> values, size_t first, size_t count,
               Transform transform = Transform::kPlain) {
  block->Add(column, WireValues(values, first, count), transform);
}

void OpscopeWriter::AddTable(const TableBlockWriter& table, FooterBlock block) {
  block.type = block_types::kTable;
  block.offset = AppendBlock(&out_, block_types::kTable, table.Finish());
  footer_.blocks.push_back(block);
}

void OpscopeWriter::WriteInfo() {
  const TraceInfo& info = trace_.info();
  AppendBlock(&out_, block_types::kTraceInfo,
              EncodeTraceInfo({.recorded = info.recorded,
                               .dropped = info.dropped,
                               .epoch_ns = info.epoch_ns,
                               .options_json = info.options_json,
                               .source_format = info.format,
                               .source_version = info.format_version}));
}

void OpscopeWriter::WriteStrings() {
  StringBlock block;
  size_t bytes = 0;
  const auto flush = [&](size_t next) {
    if (!block.texts.empty()) AppendBlock(&out_, block_types::kStrings, EncodeStrings(block), true);
    block = {static_cast<uint32_t>(next), {}};
    bytes = 0;
  };
  for (size_t id = 0; id < trace_.string_count(); ++id) {
    block.texts.push_back(trace_.text(static_cast<StringId>(id)));
    bytes += block.texts.back().size();
    if (block.texts.size() == kMaxRowsPerBlock || bytes >= kMaxStringBlockBytes) flush(id + 1);
  }
  flush(0);
}

void OpscopeWriter::WriteTracks() {
  const ProcessColumns& processes = trace_.processes();
  WriteRows(wire::kProcesses, processes.size(), [&](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::process::kPid, processes.pid, first, count, Transform::kSigned);
    Put(block, wire::kNoId, wire::process::kPidText, processes.pid_text, first, count);
    Put(block, wire::kNoId, wire::process::kName, processes.name, first, count);
    Put(block, wire::kNoId, wire::process::kLabels, processes.labels, first, count);
    Put(block, wire::kNoSortIndex, wire::process::kSortIndex, processes.sort_index, first, count, Transform::kSigned);
  });
  const TrackColumns& tracks = trace_.tracks();
  WriteRows(wire::kTracks, tracks.size(), [&](size_t first, size_t count, TableBlockWriter* block) {
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

void OpscopeWriter::WriteStacks() {
  WriteRows(wire::kFrames, trace_.frames().size(), [&](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::frame::kText, trace_.frames().text, first, count);
  });
  const StackColumns& stacks = trace_.stacks();
  WriteRows(wire::kStacks, stacks.size(), [&](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::stack::kFrame, stacks.frame, first, count);
    Put(block, wire::kNoId, wire::stack::kCaller, stacks.caller, first, count, Transform::kDelta);
  });
}

// The columns of some argument lists.
struct ArgumentRows {
  std::vector<uint64_t> list_size, kind, dtype, value, has_strides, size_count, stride_count, tensor_count;
  std::vector<uint64_t> sizes, strides;

  void Add(std::span<const Argument> arguments) {
    for (const Argument& argument : arguments) {
      kind.push_back(WireValue(argument.kind));
      dtype.push_back(WireValue(argument.dtype));
      value.push_back(WireValue(argument.value));
      has_strides.push_back(argument.has_strides ? 1 : 0);
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
    block->AddUnless(0, wire::argument::kSizeCount, size_count, Transform::kPlain);
    block->AddUnless(0, wire::argument::kStrideCount, stride_count, Transform::kPlain);
    block->AddUnless(0, wire::argument::kTensorCount, tensor_count, Transform::kPlain);
    if (!sizes.empty()) block->Add(wire::argument::kSizes, sizes, Transform::kSigned);
    if (!strides.empty()) block->Add(wire::argument::kStrides, strides, Transform::kSigned);
  }
};

void OpscopeWriter::WriteArguments() {
  const size_t lists = trace_.argument_list_count();
  for (size_t first = 0, next = 0; first < lists; first = next) {
    ArgumentRows rows;
    while (next < lists && rows.kind.size() < kMaxRowsPerBlock && rows.sizes.size() < kMaxRowsPerBlock) {
      const std::span<const Argument> list = trace_.arguments(static_cast<ArgsId>(next++));
      rows.list_size.push_back(list.size());
      rows.Add(list);
    }
    TableBlockWriter block(wire::kArguments);
    block.Add(wire::kFirstRow, std::vector<uint64_t>{first}, Transform::kPlain);
    rows.AddTo(&block);
    AddTable(block, {.table = wire::kArguments, .rows = next - first});
  }
}

void OpscopeWriter::WriteFacts() {
  const MetadataColumns& metadata = trace_.metadata();
  WriteRows(wire::kMetadata, metadata.size(), [&](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::metadata::kKey, metadata.key, first, count);
    PutAlways(block, wire::metadata::kJson, metadata.json, first, count);
  });
  const OperatorColumns& operators = trace_.operators();
  WriteRows(wire::kOperators, operators.size(), [&](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::op::kName, operators.name, first, count);
    PutAlways(block, wire::op::kArguments, operators.arguments, first, count);
  });
  const ProblemColumns& problems = trace_.problems();
  WriteRows(wire::kProblems, problems.size(), [&](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::problem::kKind, problems.kind, first, count);
    Put(block, 0, wire::problem::kSeverity, problems.severity, first, count);
    Put(block, 0, wire::problem::kCount, problems.count, first, count);
    Put(block, wire::kMinusOne, wire::problem::kFirstOffset, problems.first_offset, first, count, Transform::kSigned);
    Put(block, wire::kNoId, wire::problem::kMessage, problems.message, first, count);
  });
}

void OpscopeWriter::WriteEvents() {
  WriteSpanBlocks(trace_, [&](const std::string& payload, FooterBlock block) {
    block.type = block_types::kTable;
    block.offset = AppendBlock(&out_, block_types::kTable, payload);
    footer_.blocks.push_back(block);
  });
  const AsyncSpanColumns& async = trace_.async_spans();
  WriteRows(wire::kAsyncSpans, async.size(), [&](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::async_span::kStart, async.start, first, count, Transform::kDelta);
    Put(block, 0, wire::async_span::kDuration, async.duration, first, count, Transform::kSigned);
    Put(block, wire::kNoId, wire::async_span::kName, async.name, first, count);
    Put(block, wire::kNoId, wire::async_span::kCategory, async.category, first, count);
    Put(block, wire::kNoId, wire::async_span::kTrack, async.track, first, count);
    Put(block, wire::kNoId, wire::async_span::kId, async.id, first, count);
    Put(block, wire::kNoId, wire::async_span::kExtra, async.extra, first, count);
  });
  const InstantColumns& instants = trace_.instants();
  WriteRows(wire::kInstants, instants.size(), [&](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::instant::kTime, instants.time, first, count, Transform::kDelta);
    Put(block, wire::kNoId, wire::instant::kName, instants.name, first, count);
    Put(block, wire::kNoId, wire::instant::kCategory, instants.category, first, count);
    Put(block, wire::kNoId, wire::instant::kTrack, instants.track, first, count);
    Put(block, 't', wire::instant::kScope, instants.scope, first, count);
    Put(block, wire::kNoId, wire::instant::kExtra, instants.extra, first, count);
  });
  const CounterColumns& counters = trace_.counters();
  WriteRows(wire::kCounters, counters.size(), [&](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::counter::kTime, counters.time, first, count, Transform::kDelta);
    Put(block, wire::kNoId, wire::counter::kName, counters.name, first, count);
    Put(block, wire::kNoId, wire::counter::kSeries, counters.series, first, count);
    Put(block, wire::kNoId, wire::counter::kTrack, counters.track, first, count);
    Put(block, 0, wire::counter::kValue, counters.value, first, count);
  });
  const AllocationColumns& allocations = trace_.allocations();
  WriteRows(wire::kAllocations, allocations.size(), [&](size_t first, size_t count, TableBlockWriter* block) {
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
  WriteRows(wire::kHeldTensors, held.size(), [&](size_t first, size_t count, TableBlockWriter* block) {
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

// Ends of arrows nearly always lie where their span starts: stored as the distance to it.
std::vector<uint64_t> OpscopeWriter::TimesInSpans(std::span<const Timestamp> times, std::span<const SpanId> spans,
                                                  size_t first, size_t count) const {
  std::vector<uint64_t> values = WireValues(times, first, count);
  for (size_t i = 0; i < count; ++i) {
    const SpanId span = spans[first + i];
    if (span != SpanId::kNone) values[i] -= WireValue(trace_.spans().start[Row(span)]);
  }
  return values;
}

void OpscopeWriter::WriteReferences() {
  const FlowColumns& flows = trace_.flows();
  WriteRows(wire::kFlows, flows.size(), [&](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::flow::kId, flows.id, first, count, Transform::kDelta);
    Put(block, wire::kNoId, wire::flow::kCategory, flows.category, first, count);
    Put(block, wire::kNoId, wire::flow::kName, flows.name, first, count);
    block->AddUnless(0, wire::flow::kStartTime, TimesInSpans(flows.start_time, flows.start_span, first, count),
                     Transform::kSigned);
    Put(block, wire::kNoId, wire::flow::kStartTrack, flows.start_track, first, count);
    Put(block, wire::kNoId, wire::flow::kStartSpan, flows.start_span, first, count, Transform::kDelta);
    block->AddUnless(0, wire::flow::kEndTime, TimesInSpans(flows.end_time, flows.end_span, first, count),
                     Transform::kSigned);
    Put(block, wire::kNoId, wire::flow::kEndTrack, flows.end_track, first, count);
    Put(block, wire::kNoId, wire::flow::kEndSpan, flows.end_span, first, count, Transform::kDelta);
  });
  const TensorColumns& tensors = trace_.tensors();
  WriteRows(wire::kTensors, tensors.size(), [&](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::tensor::kSpan, tensors.span, first, count, Transform::kDelta);
    Put(block, 0, wire::tensor::kTensor, tensors.tensor, first, count, Transform::kDelta);
    Put(block, 0, wire::tensor::kStorage, tensors.storage, first, count, Transform::kDelta);
    Put(block, 0, wire::tensor::kDeviceType, tensors.device_type, first, count, Transform::kSigned);
    Put(block, wire::kMinusOne, wire::tensor::kDevice, tensors.device, first, count, Transform::kSigned);
  });
  const StepColumns& steps = trace_.steps();
  WriteRows(wire::kSteps, steps.size(), [&](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::step::kNumber, steps.number, first, count, Transform::kDelta);
    Put(block, wire::kNoId, wire::step::kName, steps.name, first, count);
    Put(block, wire::kNoId, wire::step::kSpan, steps.span, first, count, Transform::kDelta);
  });
  const PythonCallColumns& calls = trace_.python_calls();
  WriteRows(wire::kPythonCalls, calls.size(), [&](size_t first, size_t count, TableBlockWriter* block) {
    PutAlways(block, wire::python_call::kSpan, calls.span, first, count, Transform::kDelta);
    Put(block, 0, wire::python_call::kId, calls.id, first, count, Transform::kDelta);
    Put(block, 0, wire::python_call::kCaller, calls.caller, first, count, Transform::kDelta);
    Put(block, wire::kMinusOne, wire::python_call::kModuleId, calls.module_id, first, count, Transform::kSigned);
    Put(block, wire::kMinusOne, wire::python_call::kThread, calls.thread, first, count, Transform::kSigned);
  });
}

void OpscopeWriter::WriteEnd() {
  footer_.sums = SumByName(trace_.spans());
  AppendEnd(&out_, AppendBlock(&out_, block_types::kFooter, EncodeFooter(footer_)));
}

std::string OpscopeWriter::Write() {
  AppendFileHeader(&out_);
  WriteInfo();
  WriteStrings();
  WriteTracks();
  WriteStacks();
  WriteArguments();
  WriteFacts();
  WriteEvents();
  WriteReferences();
  WriteEnd();
  return std::move(out_);
}

}  // namespace

Result<std::string> OpscopeBytes(const Trace& trace) {
  const ZstdContexts contexts;
  return OrShortMemory("", [&]() -> Result<std::string> { return OpscopeWriter(trace).Write(); });
}

Status ExportOpscope(const Trace& trace, const std::string& path) {
  const ZstdContexts contexts;
  return OrShortMemory(path, [&] { return WriteFileAtomically(path, OpscopeWriter(trace).Write()); });
}

}  // namespace opscope
