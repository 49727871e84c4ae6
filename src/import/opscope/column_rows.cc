// One function reads each table: it decodes the columns listed in trace_tables.def, makes a Row of each row (references
// to texts and rows become ids of the builder), and passes it on, usually to the builder.
// SPDX-License-Identifier: Apache-2.0
#include "import/opscope/column_rows.h"

#include <algorithm>
#include <bit>
#include <span>
#include <type_traits>
#include <vector>

#include "import/opscope/column_reader.h"
#include "wire/schema.h"
#include "wire/wire_values.h"

namespace opscope {
namespace {

// The number of enumerators in this version; a file of a newer version may have more.
template <typename T>
constexpr T LastOf() {
  if constexpr (std::is_same_v<T, TrackKind>) return TrackKind::kOther;
  if constexpr (std::is_same_v<T, StoredAs>) return StoredAs::kOptimizerState;
  if constexpr (std::is_same_v<T, ProblemSeverity>) return ProblemSeverity::kError;
}

template <typename T>
T FromStored(uint64_t stored, ColumnIds* ids) {
  if constexpr (std::is_same_v<T, StringId>) {
    return ids->String(stored);
  } else if constexpr (std::is_same_v<T, ProcessId>) {
    return ids->Process(stored);
  } else if constexpr (std::is_same_v<T, TrackId>) {
    return ids->Track(stored);
  } else if constexpr (std::is_same_v<T, AddedSpan>) {
    return ids->Span(stored);
  } else if constexpr (std::is_same_v<T, FrameId>) {
    return ids->Frame(stored);
  } else if constexpr (std::is_same_v<T, StackId>) {
    return ids->Stack(stored);
  } else if constexpr (std::is_same_v<T, ArgsId>) {
    return ids->Arguments(stored);
  } else if constexpr (std::is_same_v<T, Timestamp> || std::is_same_v<T, Duration>) {
    return {Signed(stored)};
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(stored);
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(std::min(stored, static_cast<uint64_t>(LastOf<T>())));
  } else {
    return static_cast<T>(stored);
  }
}

class TableRows {
 public:
  TableRows(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder)
      : block_(block), ids_(ids), builder_(builder) {}

  bool Add() {
    switch (block_.table()) {
      case ProcessDescription::kNumber:
        return AddNumbered<ProcessDescription>([&](const ProcessRow& row) { return builder_->AddProcess(row); });
      case TrackDescription::kNumber:
        return AddNumbered<TrackDescription>([&](TrackRow row) {
          if (row.process == ProcessId::kNone) row.process = builder_->AddProcess({});
          return builder_->AddTrack(row);
        });
      case FrameDescription::kNumber:
        return AddNumbered<FrameDescription>([&](const FrameRow& row) { return builder_->AddFrame(row.text); });
      case StackDescription::kNumber:
        // A caller comes before its callees, so a stack cannot have a cycle.
        return AddNumbered<StackDescription>([&](const StackRow& row) {
          return row.frame == FrameId::kNone ? row.caller : builder_->AddStack(row.frame, row.caller);
        });
      case wire::kArguments:
        return AddArgumentLists(block_, ids_, builder_);
      case AsyncSpanDescription::kNumber:
        return AddEach<AsyncSpanDescription>([&](const AsyncSpanRow& row) { builder_->AddAsyncSpan(row); });
      case InstantDescription::kNumber:
        return AddEach<InstantDescription>([&](const InstantRow& row) { builder_->AddInstant(row); });
      case CounterDescription::kNumber:
        return AddEach<CounterDescription>([&](const CounterRow& row) { builder_->AddCounter(row); });
      case FlowDescription::kNumber:
        return AddFlows();
      case AllocationDescription::kNumber:
        return AddEach<AllocationDescription>([&](const AllocationRow& row) { builder_->AddAllocation(row); });
      case StepDescription::kNumber:
        return AddEach<StepDescription>([&](const StepRow& row) { builder_->AddStep(row.number, row.name, row.span); });
      case PythonCallDescription::kNumber:
        return AddEach<PythonCallDescription>([&](const PythonCallRow& row) {
          if (row.span != AddedSpan::kNone) builder_->AddPythonCall(row);
        });
      case TensorDescription::kNumber:
        return AddEach<TensorDescription>([&](const TensorRow& row) {
          if (row.span != AddedSpan::kNone) builder_->AddTensor(row);
        });
      case ReferencedTensorDescription::kNumber:
        return AddEach<ReferencedTensorDescription>(
            [&](const ReferencedTensorRow& row) { builder_->AddHeldTensor(row); });
      case TensorLifeDescription::kNumber:
        return AddEach<TensorLifeDescription>([&](const TensorLifeRow& row) { builder_->AddTensorLife(row); });
      case OperatorDescription::kNumber:
        return AddEach<OperatorDescription>([&](const OperatorRow& row) {
          if (row.name != StringId::kNone && row.arguments != StringId::kNone)
            builder_->AddOperator(row.name, row.arguments);
        });
      case MetadataDescription::kNumber:
        return AddEach<MetadataDescription>([&](const MetadataRow& row) {
          if (row.key != StringId::kNone && row.json != StringId::kNone)
            builder_->AddMetadata(builder_->text(row.key), builder_->text(row.json));
        });
      case ProblemDescription::kNumber:
        return AddEach<ProblemDescription>([&](const ProblemRow& row) {
          builder_->RestoreProblem(builder_->text(row.kind), row.severity, row.count, row.first_offset,
                                   builder_->text(row.message), builder_->text(row.ranks));
        });
      default:
        return true;
    }
  }

 private:
  // The stored columns of the block, in the order of the description. False if they are inconsistent.
  template <typename Description>
  bool ReadColumns(ColumnReader* reader, std::vector<ColumnValues>* columns) {
    Description::ForEach([&]<typename Column>(Column column) {
      if constexpr (column.kNumber != 0) columns->push_back(reader->Read(column.kNumber, AbsentValue<Column>()));
    });
    return reader->ok();
  }
  template <typename Description, typename Row>
  void FillRow(const std::vector<ColumnValues>& columns, size_t i, Row* row) {
    size_t next = 0;
    Description::ForEach(
        [&](auto column, auto& value) {
          if constexpr (column.kNumber != 0)
            value = FromStored<std::remove_reference_t<decltype(value)>>(columns[next++][i], ids_);
        },
        *row);
  }

  // Calls add(row) for each row.
  template <typename Description, typename Add>
  bool AddEach(Add add) {
    ColumnReader reader(block_, Description::ForRows::kNumber);
    std::vector<ColumnValues> columns;
    if (!ReadColumns<Description>(&reader, &columns)) return false;
    for (size_t i = 0; i < reader.rows(); ++i) {
      typename RowStruct<Description>::Type row;
      FillRow<Description>(columns, i, &row);
      add(row);
    }
    return true;
  }
  // The same for a table whose rows are referred to by number: add(row) returns the id.
  template <typename Description, typename Add>
  bool AddNumbered(Add add) {
    ColumnReader reader(block_, Description::ForRows::kNumber);
    uint64_t number = reader.FirstRow();
    if (!reader.ok()) return false;
    bool is_placed = true;
    const bool is_sound =
        AddEach<Description>([&](const auto& row) { is_placed = is_placed && ids_->Place(number++, add(row)); });
    return is_sound && is_placed;
  }

  // Times are stored relative to the start of the span at the arrow's end. The arrow of a lost span is lost.
  bool AddFlows() {
    const std::span<const Timestamp> starts = builder_->added_spans().start;
    const auto in_span = [&](Timestamp stored, AddedSpan span) {
      return span == AddedSpan::kNone ? stored : starts[static_cast<size_t>(span)] + Duration{stored.ns};
    };
    uint64_t lost = 0, lost_ends = ids_->lost_spans();
    const bool is_sound = AddEach<FlowDescription>([&](FlowRow row) {
      if (ids_->lost_spans() > lost_ends) {
        lost_ends = ids_->lost_spans();
        ++lost;
        return;
      }
      row.start_time = in_span(row.start_time, row.start_span);
      row.end_time = in_span(row.end_time, row.end_span);
      builder_->AddFlow(row);
    });
    if (lost > 0) builder_->AddProblem("unpaired_flow", -1, lost);
    return is_sound;
  }

  const TableBlock& block_;
  ColumnIds* ids_;
  TraceBuilder* builder_;
};

}  // namespace

bool AddTableRows(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder) {
  return TableRows(block, ids, builder).Add();
}

}  // namespace opscope
