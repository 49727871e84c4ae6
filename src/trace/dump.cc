// SPDX-License-Identifier: Apache-2.0
#include "trace/dump.h"

#include <cinttypes>

#include "base/text.h"

namespace opscope {
namespace {

class Dumper {
 public:
  explicit Dumper(const Trace& trace) : trace_(trace) {}

  std::string Run(const DumpOptions& options) {
    if (options.info) DumpInfo();
    DumpProcesses();
    DumpTracks();
    DumpSpans();
    DumpAsyncSpans();
    DumpInstants();
    DumpCounters();
    DumpFlows();
    DumpAllocations();
    DumpTensors();
    DumpSteps();
    DumpPythonCalls();
    DumpMetadata();
    if (options.problems) DumpProblems();
    return std::move(out_);
  }

 private:
  void Begin(const char* table) { out_ += table; }
  void End() { out_ += '\n'; }
  void Key(const char* key) { out_.append(" ").append(key).append("="); }

  void Number(const char* key, int64_t value, int64_t otherwise) {
    if (value == otherwise) return;
    Key(key);
    AppendInt(&out_, value);
  }
  void Unsigned(const char* key, uint64_t value) {
    if (value == 0) return;
    Key(key);
    AppendUint(&out_, value);
  }
  void Bare(int64_t value) {
    out_ += ' ';
    AppendInt(&out_, value);
  }
  void Quoted(std::string_view text) {
    out_ += ' ';
    AppendJsonString(&out_, text);
  }
  void Text(const char* key, StringId id) {
    if (id == StringId::kNone) return;
    Key(key);
    AppendJsonString(&out_, trace_.text(id));
  }
  void SpanRef(const char* key, SpanId span) {
    if (span != SpanId::kNone) Number(key, Row(span), -1);
  }
  void TrackRef(TrackId track) {
    if (track != TrackId::kNone) Number("track", Row(track), -1);
  }

  void DumpInfo() {
    const TraceInfo& info = trace_.info();
    out_.append("info format=").append(info.format).append(" version=").append(info.format_version);
    out_.append(" compressed=").append(info.compressed);
    Unsigned("recorded", info.recorded);
    Unsigned("dropped", info.dropped);
    Number("epoch_ns", info.epoch_ns, 0);
    out_.append(" options=").append(info.options_json);
    End();
  }

  void DumpProcesses() {
    const ProcessColumns& rows = trace_.processes();
    for (size_t i = 0; i < rows.size(); ++i) {
      Begin("process");
      Bare(rows.pid[i]);
      Text("pid_text", rows.pid_text[i]);
      Text("name", rows.name[i]);
      Text("labels", rows.labels[i]);
      Number("sort_index", rows.sort_index[i], INT64_MIN);
      Number("rank", rows.rank[i], -1);
      End();
    }
  }

  void DumpTracks() {
    const TrackColumns& rows = trace_.tracks();
    for (size_t i = 0; i < rows.size(); ++i) {
      Begin("track");
      Bare(static_cast<int64_t>(i));
      Number("process", Row(rows.process[i]), -1);
      Number("kind", static_cast<int64_t>(rows.kind[i]), 0);
      Number("tid", rows.tid[i], 0);
      Text("tid_text", rows.tid_text[i]);
      Text("name", rows.name[i]);
      Number("sort_index", rows.sort_index[i], INT64_MIN);
      Unsigned("logical_thread", rows.logical_thread[i]);
      Number("device", rows.device[i], -1);
      Number("spans", rows.span_count[i], 0);
      End();
    }
  }

  void DumpIntegers(std::span<const int64_t> values) {
    out_ += '[';
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out_ += ',';
      AppendInt(&out_, values[i]);
    }
    out_ += ']';
  }

  void DumpArguments(std::span<const Argument> arguments) {
    static constexpr const char* kKinds[] = {"other", "tensor", "undefined", "tensors", "scalar", "scalars"};
    out_ += '(';
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Argument& argument = arguments[i];
      if (i > 0) out_ += "; ";
      out_ += kKinds[static_cast<size_t>(argument.kind)];
      if (argument.dtype != StringId::kEmpty) Quoted(trace_.text(argument.dtype));
      if (argument.value != StringId::kEmpty) Text("value", argument.value);
      if (argument.kind == ArgumentKind::kTensor || !argument.sizes.empty()) DumpIntegers(argument.sizes);
      if (argument.has_strides) {
        out_ += '/';
        DumpIntegers(argument.strides);
      }
      Number("layout", static_cast<int64_t>(argument.layout), 0);
      if (argument.kind == ArgumentKind::kTensorList) DumpArguments(argument.tensors);
    }
    out_ += ')';
  }

  void DumpStack(StackId stack) {
    if (stack == StackId::kNone) return;
    Key("stack");
    const StackColumns& stacks = trace_.stacks();
    for (const char* separator = ""; stack != StackId::kNone; stack = stacks.caller[Row(stack)], separator = " < ") {
      out_ += separator;
      AppendJsonString(&out_, trace_.text(trace_.frames().text[Row(stacks.frame[Row(stack)])]));
    }
  }

  void DumpSpans() {
    const SpanColumns& rows = trace_.spans();
    for (size_t i = 0; i < rows.size(); ++i) {
      Begin("span");
      Bare(Row(rows.track[i]));
      Bare(rows.start[i].ns);
      out_ += '+';
      AppendInt(&out_, rows.duration[i].ns);
      out_.append(2 * size_t{rows.depth[i]}, ' ');
      Quoted(trace_.text(rows.name[i]));
      Text("overload", rows.overload[i]);
      if (rows.category[i] != StringId::kEmpty) Text("category", rows.category[i]);
      if (trace_.has_own_kinds()) Key("kind"), out_ += SpanKindName(rows.kind[i]);
      SpanRef("parent", rows.parent[i]);
      Number("flags", rows.flags[i], 0);
      Number("scope", static_cast<int64_t>(rows.scope[i]), static_cast<int64_t>(ScopeType::kUnknown));
      Number("sequence", rows.sequence[i], -1);
      Unsigned("forward_thread", rows.forward_thread[i]);
      Unsigned("correlation", rows.correlation[i]);
      Unsigned("external_id", rows.external_id[i]);
      if (rows.args[i] != ArgsId::kNone) {
        Key("args");
        DumpArguments(trace_.arguments(rows.args[i]));
      }
      DumpStack(rows.stack[i]);
      Text("extra", rows.extra[i]);
      End();
    }
  }

  void DumpAsyncSpans() {
    const AsyncSpanColumns& rows = trace_.async_spans();
    for (size_t i = 0; i < rows.size(); ++i) {
      Begin("async_span");
      Bare(rows.start[i].ns);
      out_ += '+';
      AppendInt(&out_, rows.duration[i].ns);
      Quoted(trace_.text(rows.name[i]));
      Text("category", rows.category[i]);
      TrackRef(rows.track[i]);
      Text("id", rows.id[i]);
      Text("extra", rows.extra[i]);
      End();
    }
  }

  void DumpInstants() {
    const InstantColumns& rows = trace_.instants();
    for (size_t i = 0; i < rows.size(); ++i) {
      Begin("instant");
      Bare(rows.time[i].ns);
      Quoted(trace_.text(rows.name[i]));
      Text("category", rows.category[i]);
      TrackRef(rows.track[i]);
      Number("scope", rows.scope[i], 't');
      Text("extra", rows.extra[i]);
      End();
    }
  }

  void DumpCounters() {
    const CounterColumns& rows = trace_.counters();
    for (size_t i = 0; i < rows.size(); ++i) {
      Begin("counter");
      Bare(rows.time[i].ns);
      Quoted(trace_.text(rows.name[i]));
      Text("series", rows.series[i]);
      TrackRef(rows.track[i]);
      Key("value");
      AppendDouble(&out_, rows.value[i]);
      End();
    }
  }

  void DumpFlows() {
    const FlowColumns& rows = trace_.flows();
    for (size_t i = 0; i < rows.size(); ++i) {
      Begin("flow");
      out_ += ' ';
      AppendUint(&out_, rows.id[i]);
      Quoted(trace_.text(rows.name[i]));
      Text("category", rows.category[i]);
      Number("from", rows.start_time[i].ns, INT64_MIN);
      TrackRef(rows.start_track[i]);
      SpanRef("span", rows.start_span[i]);
      Number("to", rows.end_time[i].ns, INT64_MIN);
      TrackRef(rows.end_track[i]);
      SpanRef("span", rows.end_span[i]);
      End();
    }
  }

  void DumpAllocations() {
    const AllocationColumns& rows = trace_.allocations();
    for (size_t i = 0; i < rows.size(); ++i) {
      Begin("allocation");
      Bare(rows.time[i].ns);
      Bare(rows.bytes[i]);
      TrackRef(rows.track[i]);
      out_ += " address=0x";
      AppendHex(&out_, rows.address[i]);
      Number("total_allocated", rows.total_allocated[i], -1);
      Number("total_reserved", rows.total_reserved[i], -1);
      Number("device_type", rows.device_type[i], 0);
      Number("device", rows.device[i], -1);
      DumpStack(rows.stack[i]);
      End();
    }
  }

  void DumpTensors() {
    const TensorColumns& rows = trace_.tensors();
    for (size_t i = 0; i < rows.size(); ++i) {
      Begin("tensor");
      SpanRef("span", rows.span[i]);
      TensorRef(rows.tensor[i], rows.storage[i], rows.device_type[i], rows.device[i]);
      End();
    }
    const HeldTensorColumns& held = trace_.held_tensors();
    for (size_t i = 0; i < held.size(); ++i) {
      Begin("held_tensor");
      Bare(held.time[i].ns);
      TrackRef(held.track[i]);
      out_ += " owner=0x";
      AppendHex(&out_, held.owner[i]);
      Number("as", static_cast<int64_t>(held.held_as[i]), 0);
      TensorRef(held.tensor[i], held.storage[i], held.device_type[i], held.device[i]);
      Number("bytes", held.bytes[i], -1);
      Text("name", held.name[i]);
      End();
    }
    const TensorLifeColumns& lives = trace_.tensor_lives();
    for (size_t i = 0; i < lives.size(); ++i) {
      Begin("tensor_life");
      Bare(lives.produced[i].ns);
      Number("duration", lives.duration[i].ns, -1);
      TrackRef(lives.track[i]);
      Number("tensor", static_cast<int64_t>(lives.tensor[i]), 0);
      Number("op", static_cast<int64_t>(lives.op[i]), 0);
      out_ += " address=0x";
      AppendHex(&out_, lives.address[i]);
      Number("bytes", static_cast<int64_t>(lives.bytes[i]), 0);
      Number("uses", lives.uses[i], 0);
      if (lives.args[i] != ArgsId::kNone) {
        Key("args");
        DumpArguments(trace_.arguments(lives.args[i]));
      }
      Text("name", lives.name[i]);
      End();
    }
    const OperatorColumns& operators = trace_.operators();
    for (size_t i = 0; i < operators.size(); ++i) {
      Begin("operator");
      Quoted(trace_.text(operators.name[i]));
      Text("arguments", operators.arguments[i]);
      End();
    }
  }

  void TensorRef(uint64_t tensor, uint64_t storage, int32_t device_type, int32_t device) {
    out_ += " tensor=";
    AppendUint(&out_, tensor);
    out_ += " storage=0x";
    AppendHex(&out_, storage);
    Number("device_type", device_type, 0);
    Number("device", device, -1);
  }

  void DumpSteps() {
    const StepColumns& rows = trace_.steps();
    for (size_t i = 0; i < rows.size(); ++i) {
      Begin("step");
      Bare(rows.number[i]);
      Quoted(trace_.text(rows.name[i]));
      SpanRef("span", rows.span[i]);
      End();
    }
  }

  void DumpPythonCalls() {
    const PythonCallColumns& rows = trace_.python_calls();
    for (size_t i = 0; i < rows.size(); ++i) {
      Begin("python_call");
      SpanRef("span", rows.span[i]);
      Unsigned("id", rows.id[i]);
      Unsigned("caller", rows.caller[i]);
      Number("module_id", rows.module_id[i], -1);
      Number("thread", rows.thread[i], -1);
      End();
    }
  }

  void DumpMetadata() {
    const MetadataColumns& rows = trace_.metadata();
    for (size_t i = 0; i < rows.size(); ++i) {
      Begin("metadata");
      Quoted(trace_.text(rows.key[i]));
      out_ += ' ';
      out_ += trace_.text(rows.json[i]);
      End();
    }
  }

  void DumpProblems() {
    const ProblemColumns& rows = trace_.problems();
    for (size_t i = 0; i < rows.size(); ++i) {
      Begin("problem ");
      out_ += trace_.text(rows.kind[i]);
      Number("severity", rows.severity[i], 0);
      Unsigned("count", rows.count[i]);
      Number("first_offset", rows.first_offset[i], -1);
      Text("message", rows.message[i]);
      End();
    }
  }

  const Trace& trace_;
  std::string out_;
};

}  // namespace

std::string DumpTrace(const Trace& trace, const DumpOptions& options) {
  return Dumper(trace).Run(options);
}

}  // namespace opscope
