// A Trace: what was recorded, as immutable columns. trace_tables.def lists its tables and columns; a table is a struct
// with one std::span per column, all of one length. Texts are interned: a column holds StringIds.
//
//   const Trace trace = ImportFile("run.json").value();
//   const SpanColumns& spans = trace.spans();
//   for (size_t row = 0; row < spans.size(); ++row)
//     Print(trace.text(spans.name[row]), spans.duration[row].ns);
//
// Spans stand by track, and within a track in pre-order (a parent before its children, siblings by start), so each
// track and each subtree is one contiguous range of rows. The asynchronous spans of a track stand behind its nested
// ones.
//
// Thread rule: immutable, any thread. Columns and texts live as long as the Trace.
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

// One argument of an operator. The texts that Chrome traces have of arguments are derived by ArgumentText (src/export),
// not stored.
struct Argument {
  ArgumentKind kind = ArgumentKind::kOther;
  StringId dtype = StringId::kEmpty;  // "float", "long int", "Scalar", "ScalarList", "TensorList", ""
  StringId value = StringId::kEmpty;  // concrete value as its framework prints it ("[64, 32]", "False", "1."), else ""
  bool has_strides = false;           // kTensor: false for layouts without strides, and where nobody told them
  TensorLayout layout = TensorLayout::kStrided;
  std::span<const int64_t> sizes;     // kTensor
  std::span<const int64_t> strides;   // kTensor, as long as sizes when has_strides
  std::span<const Argument> tensors;  // kTensorList
};

class TraceStorage;  // src/trace: owns the columns

// What the program waited for one event of a kind to be recorded, in nanoseconds, as the recorder measured it on the
// machine where it recorded: around the begin and around the end. `inside` is the part of both that lies between the
// event's own two times; the rest lengthens what is around it. `floor` is the part that empty callbacks would cost too.
struct EventCost {
  double begin_ns = 0;
  double end_ns = 0;
  double inside_ns = 0;
  double floor_ns = 0;
  double whole_ns() const { return begin_ns + end_ns; }
  double outside_ns() const { return begin_ns + end_ns - inside_ns; }
};

// What one event of a source and kind cost, where that was measured. docs/analyses.md says what is in each number.
struct OwnCostRow {
  std::string source;                // OwnCosts::kProgram, kPython, or a framework's name
  SpanKind kind = SpanKind::kOther;  // of the spans; kOther: of the program's counters, instants, either end of a flow
  EventCost cost;                    // of an operator without its arguments
  EventCost argument;                // each argument more, when arguments are recorded
  double async_end_ns = 0;  // of the program's scopes: the end of one that crosses others, in place of cost.end_ns
};

struct OwnCosts {
  static constexpr std::string_view kProgram = "program";  // OPSCOPE_SCOPE and the like
  static constexpr std::string_view kPython = "python";    // calls of Python functions, C functions and modules

  std::vector<OwnCostRow> rows;  // at most one of a source and kind

  // nullptr: it was not measured.
  const OwnCostRow* Find(std::string_view source, SpanKind kind) const;
  // Of the framework that the recording is of.
  const OwnCostRow* FindOfFramework(SpanKind kind) const;
};

// Facts about the input as a whole (`opscope info`).
struct TraceInfo {
  std::string format;  // "opscope", "chrome-json", ...
  std::string format_version;
  std::string compressed = "none";    // "none", "gzip", "zstd"
  uint64_t recorded = 0;              // events of the input that were kept
  uint64_t dropped = 0;               // events that the recorder could not keep
  uint32_t world_size = 0;            // ranks of the distributed job, from the metadata; 0: not told
  int64_t epoch_ns = 0;               // unix time of Timestamp 0; 0: the input has no absolute time
  std::string options_json = "{}";    // recording options
  std::optional<OwnCosts> own_costs;  // nullopt: the input says nothing about what recording it cost
};

class Trace {
 public:
  Trace();  // empty
  explicit Trace(std::unique_ptr<const TraceStorage> storage);
  Trace(Trace&&) noexcept;
  Trace& operator=(Trace&&) noexcept;
  ~Trace();

  const TraceInfo& info() const;
  // REQUIRES: id is of this trace. kNone gives "".
  std::string_view text(StringId id) const;
  // The id of a string that the trace contains, or nullopt. O(1).
  std::optional<StringId> FindString(std::string_view text) const;
  size_t string_count() const;

  // The tables: processes(), tracks(), spans(), ... O(1), but for the first call of arguments(): O(arguments).
#define OPSCOPE_TABLE(Name, name, number, documentation) const Name##Columns& name() const;
#include "opscope/trace_tables.def"

  size_t argument_list_count() const;
  // The arguments of one call. kNone gives an empty list.
  std::span<const Argument> arguments(ArgsId id) const;

  // True when a Problem row says that input was lost (severity kDataLoss or kError): exit code 3.
  bool is_partial() const;
  // True when some span has a kind that its category, name and flags do not tell.
  bool has_own_kinds() const;
  uint64_t memory_bytes() const;  // bytes that the columns and strings hold

 private:
  std::unique_ptr<const TraceStorage> storage_;
};

}  // namespace opscope
