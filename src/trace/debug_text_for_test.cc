// SPDX-License-Identifier: Apache-2.0
#include "trace/debug_text_for_test.h"

#include <algorithm>
#include <initializer_list>
#include <type_traits>

#include "base/text.h"

namespace opscope {
namespace {

// Whether a column has one of these names.
bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class DebugTextWriter {
 public:
  explicit DebugTextWriter(const Trace& trace) : trace_(trace) {}

  std::string Run(const DebugTextOptions& options) {
    if (options.info) WriteInfo();
    Rows<ProcessDescription>("process", trace_.processes(), {"pid"}, [&](size_t i) { Int(trace_.processes().pid[i]); });
    WriteTracks();
    WriteSpans();
    const AsyncSpanColumns& async = trace_.async_spans();
    Rows<AsyncSpanDescription>("async_span", async, {"start", "duration", "name"}, [&](size_t i) {
      Range(async.start[i], async.duration[i]);
      Quoted(async.name[i]);
    });
    const InstantColumns& instants = trace_.instants();
    Rows<InstantDescription>("instant", instants, {"time", "name"}, [&](size_t i) {
      Int(instants.time[i].ns);
      Quoted(instants.name[i]);
    });
    WriteCounters();
    WriteFlows();
    const AllocationColumns& allocations = trace_.allocations();
    Rows<AllocationDescription>("allocation", allocations, {"time", "bytes"}, [&](size_t i) {
      Int(allocations.time[i].ns);
      Int(allocations.bytes[i]);
    });
    Rows<TensorDescription>("tensor", trace_.tensors(), {}, [](size_t) {});
    WriteHeldTensors();
    const TensorLifeColumns& lives = trace_.tensor_lives();
    Rows<TensorLifeDescription>("tensor_life", lives, {"produced"}, [&](size_t i) { Int(lives.produced[i].ns); });
    const OperatorColumns& operators = trace_.operators();
    Rows<OperatorDescription>("operator", operators, {"name"}, [&](size_t i) { Quoted(operators.name[i]); });
    const StepColumns& steps = trace_.steps();
    Rows<StepDescription>("step", steps, {"number", "name"}, [&](size_t i) {
      Int(steps.number[i]);
      Quoted(steps.name[i]);
    });
    Rows<PythonCallDescription>("python_call", trace_.python_calls(), {}, [](size_t) {});
    const MetadataColumns& metadata = trace_.metadata();
    Rows<MetadataDescription>("metadata", metadata, {"key", "json"}, [&](size_t i) {
      Quoted(metadata.key[i]);
      out_.append(" ").append(trace_.text(metadata.json[i]));
    });
    const ProblemColumns& problems = trace_.problems();
    if (options.problems) {
      Rows<ProblemDescription>("problem", problems, {"kind"},
                               [&](size_t i) { out_.append(" ").append(trace_.text(problems.kind[i])); });
    }
    return std::move(out_);
  }

 private:
  using Names = std::initializer_list<std::string_view>;

  // A line per row: what `head` writes, then " column=value" for the columns that differ from their default and are
  // not among those of the head.
  template <typename Description, typename Head>
  void Rows(std::string_view name, const typename Description::Columns& columns, Names in_head, Head head) {
    for (size_t row = 0; row < columns.size(); ++row) {
      out_ += name;
      head(row);
      OtherColumns<Description>(columns, row, in_head);
      out_ += '\n';
    }
  }
  template <typename Description>
  void OtherColumns(const typename Description::Columns& columns, size_t row, Names in_head) {
    Description::ForEach(
        [&](auto column, const auto& values) {
          if (!IsOneOf(column.kName, in_head)) Value(column, values[row]);
        },
        columns);
  }

  void Key(std::string_view key) { out_.append(" ").append(key).append("="); }
  void Int(int64_t value) {
    out_ += ' ';
    AppendInt(&out_, value);
  }
  void Range(Timestamp start, Duration duration) {
    Int(start.ns);
    out_ += '+';
    AppendInt(&out_, duration.ns);
  }
  void Quoted(StringId id) {
    out_ += ' ';
    AppendJsonString(&out_, trace_.text(id));
  }

  template <typename Column, typename T>
  void Value(Column column, T value) {
    if constexpr (std::is_same_v<T, StringId>) {
      if (value == StringId::kNone) return;
      Key(column.kName);
      AppendJsonString(&out_, trace_.text(value));
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      const bool is_address = IsOneOf(column.kName, {"address", "storage", "owner"});
      if (!is_address && value == column.kDefault) return;
      Key(column.kName);
      is_address ? AppendHex(&(out_ += "0x"), value) : AppendUint(&out_, value);
    } else if (value != column.kDefault) {
      Key(column.kName);
      if constexpr (std::is_same_v<T, ArgsId>) {
        WriteArguments(trace_.arguments(value));
      } else if constexpr (std::is_same_v<T, StackId>) {
        WriteStack(value);
      } else if constexpr (requires { value.ns; }) {
        AppendInt(&out_, value.ns);
      } else {
        AppendInt(&out_, static_cast<int64_t>(value));
      }
    }
  }

  void WriteInfo() {
    const TraceInfo& info = trace_.info();
    out_.append("info format=").append(info.format).append(" version=").append(info.format_version);
    out_.append(" compressed=").append(info.compressed);
    const auto number = [&](std::string_view key, int64_t value) {
      if (value == 0) return;
      Key(key);
      AppendInt(&out_, value);
    };
    number("recorded", static_cast<int64_t>(info.recorded));
    number("dropped", static_cast<int64_t>(info.dropped));
    number("epoch_ns", info.epoch_ns);
    out_.append(" options=").append(info.options_json).append("\n");
  }

  void WriteTracks() {
    const TrackColumns& tracks = trace_.tracks();
    for (size_t i = 0; i < tracks.size(); ++i) {
      out_ += "track";
      Int(static_cast<int64_t>(i));
      OtherColumns<TrackDescription>(tracks, i, {"first_span", "span_count"});
      if (tracks.span_count[i] != 0) {
        Key("spans");
        AppendUint(&out_, tracks.span_count[i]);
      }
      out_ += '\n';
    }
  }

  void WriteIntegers(std::span<const int64_t> values) {
    out_ += '[';
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out_ += ',';
      AppendInt(&out_, values[i]);
    }
    out_ += ']';
  }

  void WriteArguments(std::span<const Argument> arguments) {
    static constexpr const char* kKinds[] = {"other", "tensor", "undefined", "tensors", "scalar", "scalars"};
    out_ += '(';
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Argument& argument = arguments[i];
      if (i > 0) out_ += "; ";
      out_ += kKinds[static_cast<size_t>(argument.kind)];
      if (argument.dtype != StringId::kEmpty) Quoted(argument.dtype);
      Value(columns::arguments::value{}, argument.value == StringId::kEmpty ? StringId::kNone : argument.value);
      if (argument.kind == ArgumentKind::kTensor || !argument.sizes.empty()) WriteIntegers(argument.sizes);
      if (argument.has_strides) {
        out_ += '/';
        WriteIntegers(argument.strides);
      }
      Value(columns::arguments::layout{}, argument.layout);
      if (argument.kind == ArgumentKind::kTensorList) WriteArguments(argument.tensors);
    }
    out_ += ')';
  }

  void WriteStack(StackId stack) {
    const StackColumns& stacks = trace_.stacks();
    for (const char* separator = ""; stack != StackId::kNone; stack = stacks.caller[Row(stack)], separator = " < ") {
      out_ += separator;
      AppendJsonString(&out_, trace_.text(trace_.frames().text[Row(stacks.frame[Row(stack)])]));
    }
  }

  void WriteSpans() {
    namespace column = columns::spans;
    const SpanColumns& spans = trace_.spans();
    const Names in_head = {"start", "duration", "name", "overload", "category", "track", "parent", "depth", "kind"};
    Rows<SpanDescription>("span", spans, in_head, [&](size_t i) {
      Int(Row(spans.track[i]));
      Range(spans.start[i], spans.duration[i]);
      out_.append(2 * size_t{spans.depth[i]}, ' ');
      Quoted(spans.name[i]);
      Value(column::overload{}, spans.overload[i]);
      if (spans.category[i] != StringId::kEmpty) Value(column::category{}, spans.category[i]);
      if (trace_.has_explicit_kinds()) Key("kind"), out_ += SpanKindName(spans.kind[i]);
      Value(column::parent{}, spans.parent[i]);
    });
  }

  void WriteCounters() {
    const CounterColumns& counters = trace_.counters();
    for (size_t i = 0; i < counters.size(); ++i) {
      out_ += "counter";
      Int(counters.time[i].ns);
      Quoted(counters.name[i]);
      OtherColumns<CounterDescription>(counters, i, {"time", "name", "value"});
      Key("value");
      AppendDouble(&out_, counters.value[i]);
      out_ += '\n';
    }
  }

  void WriteFlows() {
    const FlowColumns& flows = trace_.flows();
    const auto end = [&](std::string_view key, Timestamp time, TrackId track, SpanId span) {
      Key(key);
      AppendInt(&out_, time.ns);
      Value(columns::instants::track{}, track);
      Value(columns::steps::span{}, span);
    };
    for (size_t i = 0; i < flows.size(); ++i) {
      out_ += "flow ";
      AppendUint(&out_, flows.id[i]);
      Quoted(flows.name[i]);
      Value(columns::flows::category{}, flows.category[i]);
      end("from", flows.start_time[i], flows.start_track[i], flows.start_span[i]);
      end("to", flows.end_time[i], flows.end_track[i], flows.end_span[i]);
      Value(columns::flows::id_scope{}, flows.id_scope[i]);
      out_ += '\n';
    }
  }

  void WriteHeldTensors() {
    const ReferencedTensorColumns& held = trace_.held_tensors();
    Rows<ReferencedTensorDescription>("held_tensor", held, {"time", "track", "owner", "held_as"}, [&](size_t i) {
      namespace column = columns::held_tensors;
      Int(held.time[i].ns);
      Value(column::track{}, held.track[i]);
      Value(column::owner{}, held.owner[i]);
      if (held.held_as[i] != StoredAs::kParameter) {
        Key("as");
        AppendInt(&out_, static_cast<int64_t>(held.held_as[i]));
      }
    });
  }

  const Trace& trace_;
  std::string out_;
};

}  // namespace

std::string ToDebugText(const Trace& trace, const DebugTextOptions& options) {
  return DebugTextWriter(trace).Run(options);
}

}  // namespace opscope
