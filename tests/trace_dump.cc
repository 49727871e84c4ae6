// SPDX-License-Identifier: Apache-2.0
#include "trace_dump.h"

#include <cstdint>

#include "base/text.h"

namespace opscope {
namespace {

class Dump {
 public:
  explicit Dump(const Trace& trace) : trace_(trace) {}

  std::string Write() {
    WriteInfo();
    WriteTracks();
    WriteSpans();
    WriteInstants();
    WriteCounters();
    WriteAsyncSpans();
    WriteFlows();
    WriteAllocations();
    WriteRest();
    return std::move(out_);
  }

 private:
  void Line(std::string_view table) { out_.append(out_.empty() ? "" : "\n").append(table); }
  void Field(std::string_view key, std::string_view value) { out_.append(" ").append(key).append("=").append(value); }
  void Number(std::string_view key, int64_t value) {
    out_.append(" ").append(key).append("=");
    AppendInt(&out_, value);
  }
  void Unsigned(std::string_view key, uint64_t value) {
    out_.append(" ").append(key).append("=");
    AppendUint(&out_, value);
  }
  void Text(std::string_view key, StringId id) {
    if (id == StringId::kNone) return;
    out_.append(" ").append(key).append("=");
    AppendJsonString(&out_, trace_.text(id));
  }
  void Range(Timestamp start, Duration duration) {
    out_ += ' ';
    AppendInt(&out_, start.ns);
    out_ += '+';
    AppendInt(&out_, duration.ns);
  }
  void Track(std::string_view key, TrackId id) {
    const TrackColumns& tracks = trace_.tracks();
    const ProcessColumns& processes = trace_.processes();
    if (Row(id) >= tracks.size()) return Field(key, "none");
    const uint32_t process = Row(tracks.process[Row(id)]);
    std::string value;
    const auto append = [&](int64_t number, StringId text) {
      text == StringId::kNone ? AppendInt(&value, number) : AppendJsonString(&value, trace_.text(text));
    };
    append(processes.pid[process], processes.pid_text[process]);
    value += '/';
    append(tracks.tid[Row(id)], tracks.tid_text[Row(id)]);
    if (tracks.kind[Row(id)] == TrackKind::kDeviceAnnotation) value += "#annotation";
    Field(key, value);
  }

  void WriteInfo() {
    const TraceInfo& info = trace_.info();
    Line("info");
    Field("format", info.format);
    Field("version", info.format_version);
    Unsigned("recorded", info.recorded);
    Number("epoch", info.epoch_ns);
    const MetadataColumns& metadata = trace_.metadata();
    for (size_t i = 0; i < metadata.size(); ++i) {
      Line("metadata");
      Text("key", metadata.key[i]);
      Field("json", trace_.text(metadata.json[i]));
    }
    const ProblemColumns& problems = trace_.problems();
    for (size_t i = 0; i < problems.size(); ++i) {
      Line("problem");
      Field("kind", trace_.text(problems.kind[i]));
      Unsigned("severity", problems.severity[i]);
      Unsigned("count", problems.count[i]);
      Number("offset", problems.first_offset[i]);
    }
    if (trace_.is_partial()) Line("partial");
  }

  void WriteTracks() {
    const ProcessColumns& processes = trace_.processes();
    for (size_t i = 0; i < processes.size(); ++i) {
      Line("process");
      Number("pid", processes.pid[i]);
      Text("pid_text", processes.pid_text[i]);
      Text("name", processes.name[i]);
      Text("labels", processes.labels[i]);
      if (processes.sort_index[i] != INT64_MIN) Number("sort", processes.sort_index[i]);
    }
    static constexpr std::string_view kKinds[] = {"thread", "stream", "annotation", "other"};
    const TrackColumns& tracks = trace_.tracks();
    for (size_t i = 0; i < tracks.size(); ++i) {
      Line("track");
      Track("id", static_cast<TrackId>(i));
      Field("kind", kKinds[static_cast<size_t>(tracks.kind[i])]);
      Text("name", tracks.name[i]);
      if (tracks.sort_index[i] != INT64_MIN) Number("sort", tracks.sort_index[i]);
      if (tracks.device[i] != -1) Number("device", tracks.device[i]);
      Unsigned("spans", tracks.span_count[i]);
    }
  }

  void WriteSpans() {
    const SpanColumns& spans = trace_.spans();
    for (size_t i = 0; i < spans.size(); ++i) {
      Line("span");
      Range(spans.start[i], spans.duration[i]);
      Track("track", spans.track[i]);
      Unsigned("depth", spans.depth[i]);
      if (spans.parent[i] != SpanId::kNone) Text("in", spans.name[Row(spans.parent[i])]);
      Text("name", spans.name[i]);
      Text("overload", spans.overload[i]);
      Text("cat", spans.category[i]);
      if (spans.flags[i] != 0) Unsigned("flags", spans.flags[i]);
      if (spans.sequence[i] >= 0) Number("seq", spans.sequence[i]);
      if (spans.forward_thread[i] != 0) Unsigned("fwd", spans.forward_thread[i]);
      if (spans.correlation[i] != 0) Unsigned("correlation", spans.correlation[i]);
      if (spans.external_id[i] != 0) Unsigned("external", spans.external_id[i]);
      WriteArguments(spans.args[i]);
      WriteStack(spans.stack[i]);
      if (spans.extra[i] != StringId::kNone) Field("extra", "{" + std::string(trace_.text(spans.extra[i])) + "}");
    }
    const StepColumns& steps = trace_.steps();
    for (size_t i = 0; i < steps.size(); ++i) {
      Line("step");
      Number("number", steps.number[i]);
      Text("name", steps.name[i]);
      if (steps.span[i] != SpanId::kNone) Number("start", spans.start[Row(steps.span[i])].ns);
    }
  }

  void WriteSizes(std::span<const int64_t> sizes) {
    out_ += '[';
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (i != 0) out_ += ',';
      AppendInt(&out_, sizes[i]);
    }
    out_ += ']';
  }

  void WriteArgument(const Argument& argument) {
    static constexpr std::string_view kKinds[] = {"other", "tensor", "undefined", "tensors", "scalar", "scalars"};
    out_.append(kKinds[static_cast<size_t>(argument.kind)]);
    if (argument.dtype != StringId::kEmpty) out_.append(":").append(trace_.text(argument.dtype));
    if (argument.kind == ArgumentKind::kTensor) {
      WriteSizes(argument.sizes);
      if (argument.has_strides) WriteSizes(argument.strides);
    }
    if (argument.value != StringId::kEmpty) out_.append("=").append(trace_.text(argument.value));
  }

  void WriteArguments(ArgsId args) {
    if (args == ArgsId::kNone) return;
    out_ += " args=(";
    bool first = true;
    for (const Argument& argument : trace_.arguments(args)) {
      if (!first) out_ += ' ';
      first = false;
      WriteArgument(argument);
      for (const Argument& tensor : argument.tensors) {
        out_ += '+';
        WriteArgument(tensor);
      }
    }
    out_ += ')';
  }

  void WriteStack(StackId stack) {
    if (stack == StackId::kNone) return;
    const StackColumns& stacks = trace_.stacks();
    out_ += " stack=";
    for (; stack != StackId::kNone; stack = stacks.caller[Row(stack)]) {
      out_.append(trace_.text(trace_.frames().text[Row(stacks.frame[Row(stack)])])).append("<");
    }
  }

  void WriteInstants() {
    const InstantColumns& instants = trace_.instants();
    for (size_t i = 0; i < instants.size(); ++i) {
      Line("instant");
      Number("time", instants.time[i].ns);
      Track("track", instants.track[i]);
      out_.append(" scope=").append(1, static_cast<char>(instants.scope[i]));
      Text("name", instants.name[i]);
      Text("cat", instants.category[i]);
      if (instants.extra[i] != StringId::kNone) Field("extra", "{" + std::string(trace_.text(instants.extra[i])) + "}");
    }
  }

  void WriteCounters() {
    const CounterColumns& counters = trace_.counters();
    for (size_t i = 0; i < counters.size(); ++i) {
      Line("counter");
      Number("time", counters.time[i].ns);
      Track("track", counters.track[i]);
      Text("name", counters.name[i]);
      Text("series", counters.series[i]);
      out_ += " value=";
      AppendDouble(&out_, counters.value[i]);
    }
  }

  void WriteAsyncSpans() {
    const AsyncSpanColumns& spans = trace_.async_spans();
    for (size_t i = 0; i < spans.size(); ++i) {
      Line("async");
      Range(spans.start[i], spans.duration[i]);
      Track("track", spans.track[i]);
      Text("name", spans.name[i]);
      Text("cat", spans.category[i]);
      Text("id", spans.id[i]);
      if (spans.extra[i] != StringId::kNone) Field("extra", "{" + std::string(trace_.text(spans.extra[i])) + "}");
    }
  }

  void WriteFlows() {
    const FlowColumns& flows = trace_.flows();
    const auto name_of = [&](SpanId span) {
      return span == SpanId::kNone ? StringId::kNone : trace_.spans().name[Row(span)];
    };
    for (size_t i = 0; i < flows.size(); ++i) {
      Line("flow");
      Unsigned("id", flows.id[i]);
      Text("name", flows.name[i]);
      Text("cat", flows.category[i]);
      Number("start", flows.start_time[i].ns);
      Track("from", flows.start_track[i]);
      Text("leaves", name_of(flows.start_span[i]));
      Number("end", flows.end_time[i].ns);
      Track("to", flows.end_track[i]);
      Text("enters", name_of(flows.end_span[i]));
    }
  }

  void WriteAllocations() {
    const AllocationColumns& allocations = trace_.allocations();
    for (size_t i = 0; i < allocations.size(); ++i) {
      Line("allocation");
      Number("time", allocations.time[i].ns);
      Track("track", allocations.track[i]);
      Unsigned("address", allocations.address[i]);
      Number("bytes", allocations.bytes[i]);
      Number("allocated", allocations.total_allocated[i]);
      Number("reserved", allocations.total_reserved[i]);
      Number("device_type", allocations.device_type[i]);
      Number("device", allocations.device[i]);
    }
  }

  void WriteRest() { out_ += '\n'; }

  const Trace& trace_;
  std::string out_;
};

}  // namespace

std::string DumpTrace(const Trace& trace) {
  return Dump(trace).Write();
}

}  // namespace opscope
