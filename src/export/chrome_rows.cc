// SPDX-License-Identifier: Apache-2.0
#include "export/chrome_rows.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/text.h"

namespace opscope {
namespace {

// Every event begins with a separator; the first of a file drops its comma.
constexpr std::string_view kNext = ",\n";
// More than the fixed text and the numbers of any event.
constexpr size_t kFixedRoom = 640;

// Members of "args", with the commas between them.
class MemberWriter {
 public:
  explicit MemberWriter(ChromeBuffer* out) : out_(out) {}
  ~MemberWriter() {
    if (any_) out_->Put("}");
  }
  MemberWriter(const MemberWriter&) = delete;
  MemberWriter& operator=(const MemberWriter&) = delete;

  // What stands before the next member.
  void Next() {
    out_->Put(any_ ? ", " : ", \"args\": {");
    any_ = true;
  }
  void Unsigned(std::string_view quoted_key, uint64_t value) {
    Next();
    out_->Put(quoted_key);
    out_->PutUint(value);
  }
  void Signed(std::string_view quoted_key, int64_t value) {
    Next();
    out_->Put(quoted_key);
    out_->PutInt(value);
  }
  void Text(std::string_view members) {
    out_->Reserve(members.size() + kFixedRoom);
    Next();
    out_->Put(members);
  }

 private:
  ChromeBuffer* out_;
  bool any_ = false;
};

void PutCategory(std::string_view escaped, ChromeBuffer* out) {
  if (escaped.empty()) return;
  out->Put("\"cat\": \"");
  out->Put(escaped);
  out->Put("\", ");
}

bool HasMember(std::string_view members, std::string_view quoted_key) {
  return !members.empty() && members.find(quoted_key) != std::string_view::npos;
}

}  // namespace

void ChromeRowWriter::WriteBlock(const ChromeBlock& block, bool follows, ChromeBuffer* out) const {
  const size_t start = out->size();
  switch (block.section) {
    case ChromeSection::kSpans:
      WriteSpans(block, out);
      break;
    case ChromeSection::kTraceSpan:
      WriteTraceSpan(out);
      break;
    case ChromeSection::kWindowInstants:
      WriteWindowInstants(out);
      break;
    case ChromeSection::kCounters:
      WriteCounters(out);
      break;
    case ChromeSection::kAllocations:
      for (size_t i = block.begin; i < block.end; ++i)
        WriteAllocation(i, out);
      break;
    case ChromeSection::kInstants:
      for (size_t i = block.begin; i < block.end; ++i)
        WriteInstant(plan_.instants()[i], out);
      break;
    case ChromeSection::kAsyncSpans:
      for (size_t i = block.begin; i < block.end; ++i)
        WriteAsyncSpan(i, out);
      break;
    case ChromeSection::kFlows:
      for (size_t i = block.begin; i < block.end; ++i)
        WriteFlowEnd(plan_.flow_ends()[i], out);
      break;
  }
  if (!follows && out->size() > start) out->Blank(start);
}

void ChromeRowWriter::WriteSpans(const ChromeBlock& block, ChromeBuffer* out) const {
  const auto& ends = plan_.flow_ends();
  auto flow = std::lower_bound(ends.begin(), ends.end(), block.begin,
                               [](const ChromeFlowEnd& end, size_t place) { return end.span < place; });
  SpanFrame frame;
  for (size_t place = block.begin; place < block.end; ++place) {
    WriteSpan(place, &frame, out);
    for (; flow != ends.end() && flow->span == place; ++flow)
      WriteFlowEnd(*flow, out);
  }
}

void ChromeRowWriter::SetFrame(StringId category, TrackId track, SpanFrame* frame) const {
  const std::string_view escaped = pieces_.name(category);
  frame->before_name.assign(kNext).append("{\"ph\": \"X\", ");
  if (!escaped.empty()) frame->before_name.append("\"cat\": \"").append(escaped).append("\", ");
  frame->before_name.append("\"name\": \"");
  frame->before_start.assign("\", ").append(pieces_.track(track)).append(", \"ts\": ");
  frame->category = category, frame->track = track;
  frame->is_set = true;
}

void ChromeRowWriter::WriteSpan(size_t place, SpanFrame* frame, ChromeBuffer* out) const {
  const SpanColumns& spans = trace_.spans();
  const uint32_t span = plan_.spans()[place];
  if (!frame->is_set || frame->category != spans.category[span] || frame->track != spans.track[span]) {
    SetFrame(spans.category[span], spans.track[span], frame);
  }
  const std::string_view name = pieces_.name(spans.name[span]);
  const std::string_view overload = pieces_.name(spans.overload[span]);
  const std::string_view extra = trace_.text(spans.extra[span]);
  const ArgsId args = spans.args[span];
  const std::string_view values = args == ArgsId::kNone ? std::string_view() : pieces_.values_types_strides(args);
  const std::string_view dims = args == ArgsId::kNone ? std::string_view() : pieces_.dims(args);
  const std::string stack = spans.stack[span] == StackId::kNone ? std::string() : CallStack(spans.stack[span]);
  ChromeCursor at = out->Begin(kFixedRoom + frame->before_name.size() + name.size() + overload.size() +
                               frame->before_start.size() + values.size() + stack.size() + dims.size() + extra.size());
  at.Put(frame->before_name);
  at.Put(name);
  if (!overload.empty()) {
    at.Put(".");
    at.Put(overload);
  }
  at.Put(frame->before_start);
  at.PutMicros(spans.start[span].ns);
  at.Put(", \"dur\": ");
  at.PutMicros(spans.duration[span].ns);

  // torch's own order varies; this one puts what every span has first and what is different each time last.
  bool any = false;
  const auto next = [&at, &any](std::string_view member) {
    at.Put(any ? ", " : ", \"args\": {");
    at.Put(member);
    any = true;
  };
  const bool generated = plan_.recorded() && spans.scope[span] != ScopeType::kUnknown;
  if (const uint32_t id = spans.external_id[span]; id != 0 || generated) {
    next("\"External id\": ");
    at.PutUint(id != 0 ? id : place + 1);
  }
  if (spans.sequence[span] >= 0) {
    next("\"Sequence number\": ");
    at.PutInt(spans.sequence[span]);
    next("\"Fwd thread id\": ");
    at.PutUint(spans.forward_thread[span]);
  }
  if (spans.correlation[span] != 0) {
    next("\"correlation\": ");
    at.PutUint(spans.correlation[span]);
  }
  if (!values.empty()) next(values);
  if (!stack.empty()) next(stack);
  if (!dims.empty()) next(dims);
  if ((spans.flags[span] & span_flags::kUnfinished) != 0) next("\"finished\": false");
  if (generated && !HasMember(extra, "\"Record function id\"")) next("\"Record function id\": 0");
  if (!extra.empty()) next(extra);
  if (generated && !HasMember(extra, "\"Ev Idx\"")) {
    next("\"Ev Idx\": ");
    at.PutUint(place);
  }
  at.Put(any ? "}}" : "}");
  out->End(at);
}

std::string ChromeRowWriter::CallStack(StackId stack) const {
  std::string text = "\"Call stack\": \"";
  const StackColumns& stacks = trace_.stacks();
  for (; stack != StackId::kNone; stack = stacks.caller[Row(stack)]) {
    AppendJsonEscaped(&text, trace_.text(trace_.frames().text[Row(stacks.frame[Row(stack)])]));
    text += ';';
  }
  text += '"';
  return text;
}

void ChromeRowWriter::WriteFlowEnd(const ChromeFlowEnd& end, ChromeBuffer* out) const {
  const FlowColumns& flows = trace_.flows();
  const std::string_view name = pieces_.name(flows.name[end.flow]);
  const std::string_view category = pieces_.name(flows.category[end.flow]);
  const std::string_view track = pieces_.track(end.arrives ? flows.end_track[end.flow] : flows.start_track[end.flow]);
  out->Reserve(kFixedRoom + name.size() + category.size() + track.size());
  out->Put(kNext);
  out->Put(end.arrives ? "{\"ph\": \"f\", \"id\": " : "{\"ph\": \"s\", \"id\": ");
  out->PutUint(flows.id[end.flow]);
  out->Put(", ");
  out->Put(track);
  out->Put(", \"ts\": ");
  out->PutMicros((end.arrives ? flows.end_time[end.flow] : flows.start_time[end.flow]).ns);
  out->Put(", \"cat\": \"");
  out->Put(category);
  out->Put("\", \"name\": \"");
  out->Put(name);
  out->Put(end.arrives ? "\", \"bp\": \"e\"}" : "\"}");
}

void ChromeRowWriter::WriteAllocation(size_t row, ChromeBuffer* out) const {
  const AllocationColumns& allocations = trace_.allocations();
  const uint32_t instant = plan_.memory_instant(row);
  const std::string_view track = pieces_.track(allocations.track[row]);
  out->Reserve(kFixedRoom + track.size());
  out->Put(kNext);
  out->Put("{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\", ");
  out->Put(track);
  out->Put(", \"ts\": ");
  out->PutMicros(allocations.time[row].ns);
  {
    MemberWriter members(out);
    if (allocations.total_reserved[row] >= 0) members.Signed("\"Total Reserved\": ", allocations.total_reserved[row]);
    if (allocations.total_allocated[row] >= 0)
      members.Signed("\"Total Allocated\": ", allocations.total_allocated[row]);
    members.Signed("\"Bytes\": ", allocations.bytes[row]);
    members.Signed("\"Device Id\": ", allocations.device[row]);
    members.Signed("\"Device Type\": ", allocations.device_type[row]);
    members.Unsigned("\"Addr\": ", allocations.address[row]);
    const std::string_view extra =
        instant == UINT32_MAX ? std::string_view() : trace_.text(trace_.instants().extra[instant]);
    if (!extra.empty()) members.Text(extra);
    if (plan_.recorded() && !HasMember(extra, "\"Ev Idx\""))
      members.Unsigned("\"Ev Idx\": ", plan_.spans().size() + row);
  }
  out->Put("}");
}

void ChromeRowWriter::WriteInstant(uint32_t row, ChromeBuffer* out) const {
  const InstantColumns& instants = trace_.instants();
  const std::string_view name = pieces_.name(instants.name[row]);
  const std::string_view category = pieces_.name(instants.category[row]);
  const std::string_view track = pieces_.track(instants.track[row]);
  out->Reserve(kFixedRoom + name.size() + category.size() + track.size());
  out->Put(kNext);
  out->Put("{\"ph\": \"i\", ");
  PutCategory(category, out);
  const char scope =
      instants.scope[row] == 'p' || instants.scope[row] == 'g' ? static_cast<char>(instants.scope[row]) : 't';
  out->Put("\"s\": \"");
  out->Put({&scope, 1});
  out->Put("\", \"name\": \"");
  out->Put(name);
  out->Put("\", ");
  out->Put(track);
  out->Put(", \"ts\": ");
  out->PutMicros(instants.time[row].ns);
  {
    MemberWriter members(out);
    const std::string_view extra = trace_.text(instants.extra[row]);
    if (!extra.empty()) members.Text(extra);
  }
  out->Put("}");
}

// Neighbours with the same time, name and track are the series of one sample.
void ChromeRowWriter::WriteCounters(ChromeBuffer* out) const {
  const CounterColumns& counters = trace_.counters();
  std::string value;
  for (size_t row = 0; row < counters.size();) {
    const std::string_view name = pieces_.name(counters.name[row]);
    const std::string_view track = pieces_.track(counters.track[row]);
    out->Reserve(kFixedRoom + name.size() + track.size());
    out->Put(kNext);
    out->Put("{\"ph\": \"C\", \"name\": \"");
    out->Put(name);
    out->Put("\", ");
    out->Put(track);
    out->Put(", \"ts\": ");
    out->PutMicros(counters.time[row].ns);
    out->Put(", \"args\": {");
    const size_t first = row;
    const auto is_new_series = [&] {
      for (size_t i = first; i < row; ++i) {
        if (counters.series[i] == counters.series[row]) return false;
      }
      return true;
    };
    bool any = false;
    for (;
         row < counters.size() && counters.time[row] == counters.time[first] &&
         counters.name[row] == counters.name[first] && counters.track[row] == counters.track[first] && is_new_series();
         ++row) {
      if (!std::isfinite(counters.value[row])) continue;  // JSON has no spelling for it
      value.clear();
      AppendDouble(&value, counters.value[row]);
      const std::string_view series = pieces_.name(counters.series[row]);
      out->Reserve(kFixedRoom + series.size());
      out->Put(any ? ", \"" : "\"");
      out->Put(series);
      out->Put("\": ");
      out->Put(value);
      any = true;
    }
    out->Put("}}");
  }
}

void ChromeRowWriter::WriteAsyncSpan(size_t row, ChromeBuffer* out) const {
  const AsyncSpanColumns& spans = trace_.async_spans();
  const std::string_view name = pieces_.name(spans.name[row]);
  const std::string_view category = pieces_.name(spans.category[row]);
  const std::string_view track = pieces_.track(spans.track[row]);
  const std::string_view extra = trace_.text(spans.extra[row]);
  std::string id;
  AppendJsonString(&id, trace_.text(spans.id[row]));
  for (const bool begins : {true, false}) {
    out->Reserve(kFixedRoom + name.size() + category.size() + track.size() + id.size());
    out->Put(kNext);
    out->Put(begins ? "{\"ph\": \"b\", \"cat\": \"" : "{\"ph\": \"e\", \"cat\": \"");
    out->Put(category);
    out->Put("\", \"name\": \"");
    out->Put(name);
    out->Put("\", \"id\": ");
    out->Put(id);
    out->Put(", ");
    out->Put(track);
    out->Put(", \"ts\": ");
    out->PutMicros((begins ? spans.start[row] : spans.start[row] + spans.duration[row]).ns);
    {
      MemberWriter members(out);
      if (begins && !extra.empty()) members.Text(extra);
    }
    out->Put("}");
  }
}

void ChromeRowWriter::WriteTraceSpan(ChromeBuffer* out) const {
  out->Reserve(kFixedRoom);
  out->Put(kNext);
  out->Put(
      "{\"ph\": \"X\", \"cat\": \"Trace\", \"name\": \"PyTorch Profiler (0)\", \"pid\": \"Spans\", "
      "\"tid\": \"PyTorch Profiler\", \"ts\": ");
  out->PutMicros(plan_.first_time().ns);
  out->Put(", \"dur\": ");
  out->PutMicros((plan_.last_time() - plan_.first_time()).ns);
  out->Put(", \"args\": {\"Op count\": 0}}");
}

void ChromeRowWriter::WriteWindowInstants(ChromeBuffer* out) const {
  out->Reserve(kFixedRoom);
  out->Put(kNext);
  out->Put(
      "{\"ph\": \"i\", \"s\": \"g\", \"name\": \"Iteration Start: PyTorch Profiler\", \"pid\": \"Traces\", "
      "\"tid\": \"Trace PyTorch Profiler\", \"ts\": ");
  out->PutMicros(plan_.first_time().ns);
  out->Put("},\n{\"ph\": \"i\", \"s\": \"g\", \"name\": \"Record Window End\", \"pid\": \"\", \"tid\": \"\", \"ts\": ");
  out->PutMicros(plan_.last_time().ns);
  out->Put("}");
}

}  // namespace opscope
