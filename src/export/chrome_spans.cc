// Writes the complete events ("X") of spans, each followed by the ends of its flows. This loop makes nearly all bytes
// of a file, so the text around the name is cached per category and track (SpanFrame), argument lists are copied from
// ChromePieces, and one reservation per event replaces all bounds checks.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "export/chrome_rows.h"
#include "export/python_call.h"

namespace opscope {

void ChromeRowWriter::WriteSpans(const ChromeBlock& block, ChromeBuffer* out) const {
  const auto& ends = plan_.flow_ends();
  auto flow = std::lower_bound(ends.begin(), ends.end(), block.begin,
                               [](const ChromeFlowEnd& end, size_t place) { return end.span < place; });
  SpanFrame frame;
  for (size_t place = block.begin; place < block.end; ++place) {
    const bool is_written = IsWritten(trace_.spans().category[plan_.spans()[place]]);
    if (is_written) WriteSpan(place, &frame, out);
    for (; flow != ends.end() && flow->span == place; ++flow) {
      if (is_written) WriteFlowEnd(*flow, out);
    }
  }
}

void ChromeRowWriter::SetFrame(StringId category, TrackId track, const ChromeLane* lane, SpanFrame* frame) const {
  const std::string_view escaped = pieces_.name(category);
  frame->before_name.assign(kNext).append("{\"ph\":\"X\",");
  if (!escaped.empty()) frame->before_name.append("\"cat\":\"").append(escaped).append("\",");
  frame->before_name.append("\"name\":\"");
  frame->after_name.assign("\",");
  if (lane == nullptr) {
    frame->after_name.append(pieces_.track(track));
  } else {
    frame->after_name.append(pieces_.track_with(track, lane->tid));
  }
  frame->category = category, frame->track = track, frame->lane = lane;
  frame->is_python = trace_.text(category) == "python_function";
  frame->is_set = true;
}

void ChromeRowWriter::WriteSpan(size_t place, SpanFrame* frame, ChromeBuffer* out) const {
  const SpanColumns& spans = trace_.spans();
  const uint32_t span = plan_.spans()[place];
  const ChromeLane* lane = plan_.lanes().LaneOf(span);
  if (!frame->is_set || frame->category != spans.category[span] || frame->track != spans.track[span] ||
      frame->lane != lane) {
    SetFrame(spans.category[span], spans.track[span], lane, frame);
  }
  const std::string_view name = pieces_.name(spans.name[span]);
  const std::string_view overload = pieces_.name(spans.overload[span]);
  const std::string_view extra = Extra(spans.extra[span], &frame->extra_text);
  const ArgsId args = spans.args[span];
  const std::string_view values = args == ArgsId::kNone ? std::string_view() : pieces_.values_types_strides(args);
  const std::string_view dims = args == ArgsId::kNone ? std::string_view() : pieces_.dims(args);
  const std::string_view stack = CallStack(spans.stack[span], frame);
  const std::string_view own = OwnMembers(span, overload, frame);
  ChromeCursor at = out->Begin(kFixedRoom + frame->before_name.size() + name.size() + overload.size() + own.size() +
                               frame->after_name.size() + values.size() + stack.size() + dims.size() + extra.size());
  at.Put(frame->before_name);
  at.Put(name);
  if (!overload.empty()) {
    at.Put(".");
    at.Put(overload);
  }
  at.Put(frame->after_name);
  WriteArguments(place, {values, stack, dims, own, extra}, frame, &at);
  at.Put(",\"ts\":");
  at.PutMicros(spans.start[span].ns);
  at.Put(",\"dur\":");
  at.PutMicros(spans.duration[span].ns);
  at.Put("}");
  out->End(at);
}

// torch's own order of members varies between releases. Here members that many spans share come first and members that
// always differ come last, before the times: a compressor then needs fewer matches per row, and .json.gz files are a
// quarter to a third smaller.
void ChromeRowWriter::WriteArguments(size_t place, const SpanTexts& texts, SpanFrame* frame, ChromeCursor* at) const {
  const SpanColumns& spans = trace_.spans();
  const uint32_t span = plan_.spans()[place];
  bool any = false;
  const auto put = [at, &any](std::string_view separator, std::string_view member) {
    at->Put(any ? separator : ",\"args\":{");
    at->Put(member);
    any = true;
  };
  const auto next = [&put](std::string_view member) { put(",", member); };
  // Members that the importer keeps as one text, adjacent and spaced as it spaces them, so that a re-export gives the
  // same bytes.
  bool is_kept = false;
  const auto kept = [&put, &is_kept](std::string_view member) {
    put(std::exchange(is_kept, true) ? ", " : ",", member);
  };
  const bool is_op = plan_.recorded() && spans.scope[span] != ScopeType::kUnknown && !frame->is_python;
  const bool is_numbered = is_op || (plan_.recorded() && frame->is_python);
  for (const std::string_view text : {texts.values, texts.stack, texts.dims}) {
    if (!text.empty()) next(text);
  }
  // Python functions are usually still open at the end of a window, so "finished" is not written for them.
  if ((spans.flags[span] & span_flags::kUnfinished) != 0 && !frame->is_python) next("\"finished\":false");
  if (is_op && !HasMember(texts.extra, "\"Record function id\"")) kept("\"Record function id\": 0");
  for (const std::string_view text : {texts.own, texts.extra}) {
    if (!text.empty()) kept(text);
  }
  if (is_numbered && !HasMember(texts.extra, "\"Ev Idx\"")) {
    kept("\"Ev Idx\": ");
    at->PutUint(place);
  }
  const PythonCallColumns& calls = trace_.python_calls();
  const size_t call = frame->is_python ? FindPythonCall(calls, SpanId{span}, &frame->next_call) : calls.size();
  if (call < calls.size()) {
    if (calls.thread[call] >= 0) {
      next("\"Python thread\":");
      at->PutInt(calls.thread[call]);
    }
    if (calls.module_id[call] >= 0) {
      next("\"Python module id\":");
      at->PutInt(calls.module_id[call]);
    }
    if (calls.caller[call] != 0) {
      next("\"Python parent id\":");
      at->PutUint(calls.caller[call]);
    } else if (!HasMember(texts.extra, "\"CallFrom\"")) {  // torch 2.14 writes "CallFrom" in place of the null
      next("\"Python parent id\":null");
    }
    next("\"Python id\":");
    at->PutUint(calls.id[call]);
  }
  if (spans.sequence[span] >= 0) {
    next("\"Fwd thread id\":");
    at->PutUint(spans.forward_thread[span]);
    next("\"Sequence number\":");
    at->PutInt(spans.sequence[span]);
  }
  if (spans.correlation[span] != 0) {
    next("\"correlation\":");
    at->PutUint(spans.correlation[span]);
  }
  if (const uint32_t id = spans.external_id[span]; id != 0 || is_op) {
    next("\"External id\":");
    at->PutUint(id != 0 ? id : place + 1);
  }
  if (any) at->Put("}");
}

std::string_view ChromeRowWriter::OwnMembers(uint32_t span, std::string_view overload, SpanFrame* frame) const {
  const uint8_t flags = trace_.spans().flags[span];
  const bool is_step = (flags & span_flags::kStep) != 0;
  const bool is_async = (flags & span_flags::kAsync) != 0;
  if (overload.empty() && !is_step && !is_async && !framework_members_) return {};
  std::string& text = frame->own_members;
  text.clear();
  const auto next = [&text](std::string_view quoted_key) -> std::string& {
    return text.append(text.empty() ? "" : ", ").append(quoted_key);
  };
  if (!overload.empty()) next("\"opscope.overload\": \"").append(overload).append("\"");
  if (const auto number = is_step ? step_numbers_.Of(span) : std::nullopt)
    AppendInt(&next("\"opscope.step\": "), *number);
  if (is_async) next("\"opscope.async\": \"").append(AsyncReason(flags)).append("\"");
  if (framework_members_) {
    if (!frame->append_members) frame->append_members = framework_members_();
    frame->append_members(span, &text);
  }
  return text;
}

std::string_view ChromeRowWriter::CallStack(StackId stack, SpanFrame* frame) const {
  if (stack == StackId::kNone) return {};
  if (stack == frame->stack) return frame->call_stack;
  frame->stack = stack;
  std::string& text = frame->call_stack;
  text.assign("\"Call stack\":\"");
  const StackColumns& stacks = trace_.stacks();
  for (; stack != StackId::kNone; stack = stacks.caller[Row(stack)]) {
    AppendJsonEscaped(&text, trace_.text(trace_.frames().text[Row(stacks.frame[Row(stack)])]));
    text += ';';
  }
  text += '"';
  return text;
}

}  // namespace opscope
