// Splits an `.opscope` file into blocks that threads can encode in any order: each block is a function of its own rows
// of the Trace. Columns whose rows all have the absent value are not written, so a trace without Python calls or
// arguments pays nothing for them. Blocks are limited in rows and bytes, because each has its own checksum and
// compression: a flipped bit costs one block. Spans have their own code in opscope_spans.cc.
// SPDX-License-Identifier: Apache-2.0
#include "export/opscope_plan.h"

#include <algorithm>
#include <type_traits>

#include "export/opscope_spans.h"
#include "wire/schema.h"
#include "wire/string_block.h"
#include "wire/trace_info.h"
#include "wire/wire_values.h"

namespace opscope {
namespace {

// Limits of a block of strings, and thereby the number of names that one flipped bit can cost. Each block has its own
// checksum and compression.
constexpr size_t kMaxStringBlockBytes = size_t{4} << 20, kFewTexts = 256, kMaxBlocksOfMany = 32;

// Adds some rows of a column to a block unless all are absent.
template <typename Description, typename Column, typename T>
void PutColumn(Column column, std::span<const T> rows, TableBlockWriter* block) {
  if constexpr (column.kNumber != 0) {
    constexpr bool is_always_written = std::is_same_v<Column, typename Description::ForRows>;
    if (is_always_written || !AllAre(AbsentValue<Column>(), rows))
      AddWireColumn(column.kNumber, rows, column.kEncoding, block);
  }
}

class OpscopePlan {
 public:
  explicit OpscopePlan(const Trace& trace) : trace_(trace) {}
  std::vector<PlannedBlock> Plan();

 private:
  void PlanInfo();
  void PlanStrings();
  void PlanArguments();
  void PlanFlows();

  // Plans blocks of rows; add_columns(first, count, block) adds the columns of one block. It runs later, on another
  // thread, so it may refer to the Trace but to no local variable.
  template <typename AddColumns>
  void PlanRows(uint32_t table, size_t rows, AddColumns add_columns) {
    for (size_t first = 0; first < rows; first += kMaxRowsPerBlock) {
      const size_t count = std::min(kMaxRowsPerBlock, rows - first);
      blocks_.push_back({.rows = count, .table = table, .make = [=](BlockMaker* maker, FooterBlock*) {
                           maker->table.Restart(table);
                           maker->table.Add(wire::kFirstRow, std::vector<uint64_t>{first}, ColumnEncoding::kPlain);
                           add_columns(first, count, &maker->table);
                           maker->FinishTable();
                         }});
    }
  }

  // Plans a table whose columns are independent of each other.
  template <typename Description>
  void PlanTable(const typename Description::Columns& columns) {
    PlanRows(Description::kNumber, columns.size(), [&columns](size_t first, size_t count, TableBlockWriter* block) {
      Description::ForEach(
          [&](auto column, const auto& values) { PutColumn<Description>(column, values.subspan(first, count), block); },
          columns);
    });
  }

  const Trace& trace_;
  std::vector<PlannedBlock> blocks_;
};

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
  const size_t texts_of_block = std::clamp<size_t>(count / kMaxBlocksOfMany, kFewTexts, kMaxRowsPerBlock);
  for (size_t id = 0; id < count; ++id) {
    bytes += trace_.text(static_cast<StringId>(id)).size();
    if (id + 1 - first < texts_of_block && bytes < kMaxStringBlockBytes) continue;
    plan(first, id + 1);
    first = id + 1;
    bytes = 0;
  }
  if (first < count) plan(first, count);
}

// The columns of a block of argument lists; tensors of a list follow their list.
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
    block->Add(wire::argument::kListSize, list_size, ColumnEncoding::kPlain);
    block->Add(wire::argument::kKind, kind, ColumnEncoding::kPlain);
    block->AddUnless(WireValue(StringId::kEmpty), wire::argument::kDtype, dtype, ColumnEncoding::kPlain);
    block->AddUnless(WireValue(StringId::kEmpty), wire::argument::kValue, value, ColumnEncoding::kPlain);
    block->AddUnless(0, wire::argument::kHasStrides, has_strides, ColumnEncoding::kPlain);
    block->AddUnless(0, wire::argument::kLayout, layout, ColumnEncoding::kPlain);
    block->AddUnless(0, wire::argument::kSizeCount, size_count, ColumnEncoding::kPlain);
    block->AddUnless(0, wire::argument::kStrideCount, stride_count, ColumnEncoding::kPlain);
    block->AddUnless(0, wire::argument::kTensorCount, tensor_count, ColumnEncoding::kPlain);
    if (!sizes.empty()) block->Add(wire::argument::kSizes, sizes, ColumnEncoding::kSigned);
    if (!strides.empty()) block->Add(wire::argument::kStrides, strides, ColumnEncoding::kSigned);
  }
};

// Counts the rows and sizes that ArgumentRows::Add appends for one list.
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
                         maker->table.Add(wire::kFirstRow, std::vector<uint64_t>{first}, ColumnEncoding::kPlain);
                         rows.AddTo(&maker->table);
                         maker->FinishTable();
                       }});
  }
}

// An end of a flow nearly always has the time at which its span starts, so the difference is stored: mostly zero.
void PutTimesInSpans(uint32_t column, std::span<const Timestamp> times, std::span<const SpanId> in_spans,
                     const SpanColumns& spans, TableBlockWriter* block) {
  const std::span<uint64_t> values = block->Scratch(times.size());
  bool all_zero = true;
  for (size_t i = 0; i < times.size(); ++i) {
    const SpanId span = in_spans[i];
    values[i] = WireValue(times[i]) - (span == SpanId::kNone ? 0 : WireValue(spans.start[Row(span)]));
    all_zero &= values[i] == 0;
  }
  if (!all_zero) block->AddScratch(column, times.size(), ColumnEncoding::kSigned);
}

void OpscopePlan::PlanFlows() {
  const FlowColumns& flows = trace_.flows();
  const SpanColumns& spans = trace_.spans();
  PlanRows(FlowDescription::kNumber, flows.size(), [&](size_t first, size_t count, TableBlockWriter* block) {
    FlowDescription::ForEach(
        [&]<typename Column>(Column column, const auto& values) {
          const auto put_times = [&](std::span<const Timestamp> times, std::span<const SpanId> in_spans) {
            PutTimesInSpans(column.kNumber, times.subspan(first, count), in_spans.subspan(first, count), spans, block);
          };
          if constexpr (std::is_same_v<Column, columns::flows::start_time>) {
            put_times(values, flows.start_span);
          } else if constexpr (std::is_same_v<Column, columns::flows::end_time>) {
            put_times(values, flows.end_span);
          } else {
            PutColumn<FlowDescription>(column, values.subspan(first, count), block);
          }
        },
        flows);
  });
}

// A row is written after the rows that it refers to, so that a reader needs one pass.
std::vector<PlannedBlock> OpscopePlan::Plan() {
  PlanInfo();
  PlanStrings();
  PlanTable<ProcessDescription>(trace_.processes());
  PlanTable<TrackDescription>(trace_.tracks());
  PlanTable<FrameDescription>(trace_.frames());
  PlanTable<StackDescription>(trace_.stacks());
  PlanArguments();
  PlanTable<MetadataDescription>(trace_.metadata());
  PlanTable<OperatorDescription>(trace_.operators());
  PlanTable<ProblemDescription>(trace_.problems());
  PlanSpanBlocks(trace_, &blocks_);
  PlanTable<AsyncSpanDescription>(trace_.async_spans());
  PlanTable<InstantDescription>(trace_.instants());
  PlanTable<CounterDescription>(trace_.counters());
  PlanTable<AllocationDescription>(trace_.allocations());
  PlanTable<ReferencedTensorDescription>(trace_.held_tensors());
  PlanTable<TensorLifeDescription>(trace_.tensor_lives());
  PlanFlows();
  PlanTable<TensorDescription>(trace_.tensors());
  PlanTable<StepDescription>(trace_.steps());
  PlanTable<PythonCallDescription>(trace_.python_calls());
  return std::move(blocks_);
}

}  // namespace

std::vector<PlannedBlock> PlanOpscope(const Trace& trace) {
  return OpscopePlan(trace).Plan();
}

}  // namespace opscope
