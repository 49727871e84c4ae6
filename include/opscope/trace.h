// A Trace: the recorded data as immutable columns. trace_tables.def lists its
// tables and columns; a table is a struct with one std::span per column, all of one
// length. Texts are interned: a column holds StringIds.
//
//   opscope::Result<opscope::Trace> imported = opscope::ImportFile("run.json");
//   const opscope::Trace& trace = imported.value();
//   const opscope::SpanColumns& spans = trace.spans();
//   for (size_t row = 0; row < spans.size(); ++row)
//     Print(trace.text(spans.name[row]), spans.duration[row].ns);
//
// Spans are ordered by track, and within a track in pre-order (a parent before its
// children, siblings by start). So each track and each subtree is one contiguous
// range of rows. The asynchronous spans of a track follow its nested ones.
//
// Ownership: the Trace owns everything; columns and texts live as long as it.
//
// Thread rule: immutable, any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/span_kind.h"
#include "opscope/trace_tables.h"
#include "opscope/types.h"

namespace opscope {

// One argument of an operator. ArgumentText (src/export) derives the texts that
// Chrome traces show.
struct Argument {
  ArgumentKind kind = ArgumentKind::kOther;
  // "float", "long int", "Scalar", "ScalarList", "TensorList"; "" if unknown.
  StringId dtype = StringId::kEmpty;
  // Concrete value as its framework prints it: "[64, 32]", "False", "1."; "" if not
  // recorded.
  StringId value = StringId::kEmpty;
  // kTensor: false for layouts without strides, and if the input does not say them.
  bool has_strides = false;
  TensorLayout layout = TensorLayout::kStrided;
  // kTensor: one value per dimension.
  std::span<const int64_t> sizes;
  // kTensor: as long as sizes if has_strides, else empty.
  std::span<const int64_t> strides;
  // kTensorList: its tensors.
  std::span<const Argument> tensors;
};

// Owns the columns (src/trace).
class TraceStorage;

// Time that the program waited for the recording of one event, in nanoseconds, as
// the recorder measured it on the recording machine.
struct EventCost {
  // Around the begin of the event.
  double begin_ns = 0;
  // Around its end.
  double end_ns = 0;
  // The part of both between the event's own two times; the rest lengthens the
  // event around it.
  double inside_ns = 0;
  // The part that empty callbacks of the framework would cost too.
  double floor_ns = 0;
  double whole_ns() const { return begin_ns + end_ns; }
  double outside_ns() const { return begin_ns + end_ns - inside_ns; }
};

// Measured cost of one event of a source and kind. docs/reference/overhead.md defines each
// number.
struct OverheadRow {
  // MeasuredOverheads::kProgram, MeasuredOverheads::kPython, or a framework's name.
  std::string source;
  // Kind of the spans. kOther of kProgram: counters, instants, and either end of a
  // flow.
  SpanKind kind = SpanKind::kOther;
  // Of an operator without its arguments.
  EventCost cost;
  // Of each additional argument, if arguments are recorded.
  EventCost argument;
  // Of kProgram: replaces cost.end_ns for a scope that crosses others.
  double async_end_ns = 0;
};

// All measured costs of one recording.
struct MeasuredOverheads {
  // Source of OPSCOPE_SCOPE and the other annotations of scope.h.
  static constexpr std::string_view kProgram = "program";
  // Source of calls of Python functions, C functions and modules.
  static constexpr std::string_view kPython = "python";

  // At most one row per source and kind.
  std::vector<OverheadRow> rows;

  // nullptr: not measured.
  const OverheadRow* Find(std::string_view source, SpanKind kind) const;
  // The row of the framework that was recorded, whichever it is; nullptr: not
  // measured.
  const OverheadRow* FindOfFramework(SpanKind kind) const;
};

// Facts about the input as a whole (`opscope info`).
struct TraceInfo {
  // "opscope", "chrome-json", ...: one of ImportFormatNames().
  std::string format;
  std::string format_version;
  // "none", "gzip", "zstd".
  std::string compressed = "none";
  // Events of the input that the Trace keeps.
  uint64_t recorded = 0;
  // Events that the recorder dropped.
  uint64_t dropped = 0;
  // Ranks of the distributed job, from the metadata; 0: unknown.
  uint32_t world_size = 0;
  // Unix time of Timestamp 0 in nanoseconds; 0: the input has no absolute time.
  int64_t epoch_ns = 0;
  // Options of the recording, a JSON object.
  std::string options_json = "{}";
  // nullopt: the input says nothing about the cost of recording it.
  std::optional<MeasuredOverheads> overheads;
};

// Movable, not copyable. Importers, MergeTraces and CutTrace make one.
class Trace {
 public:
  // An empty trace.
  Trace();
  // For src/trace: takes over built storage.
  explicit Trace(std::unique_ptr<const TraceStorage> storage);
  Trace(Trace&&) noexcept;
  Trace& operator=(Trace&&) noexcept;
  ~Trace();

  // Facts about the input.
  const TraceInfo& info() const;
  // The text of an id. kNone and ids of other traces that are out of range give "".
  // O(1).
  std::string_view text(StringId id) const;
  // The id of a text, nullopt if the trace does not contain it. O(1).
  std::optional<StringId> FindString(std::string_view text) const;
  // Number of distinct texts; StringIds are below it.
  size_t string_count() const;

  // The tables: processes(), tracks(), spans(), ... O(1), but for the first call of
  // arguments(): O(arguments).
#define OPSCOPE_TABLE(Name, name, number, documentation) const Name##Columns& name() const;
#include "opscope/trace_tables.def"

  // Number of distinct argument lists; ArgsIds are below it.
  size_t argument_list_count() const;
  // The arguments of one call. kNone gives an empty list. O(1).
  std::span<const Argument> arguments(ArgsId id) const;

  // True if a Problem row says that input was lost (severity kDataLoss or kError).
  // The command line then exits with 3.
  bool is_partial() const;
  // True if some span has a kind that does not follow from its category, name and
  // flags.
  bool has_explicit_kinds() const;
  // Bytes that columns and strings hold.
  uint64_t memory_bytes() const;

 private:
  std::unique_ptr<const TraceStorage> storage_;
};

}  // namespace opscope
