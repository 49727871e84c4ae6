// Writes one span with everything that the trace knows about it. Only what belongs to the span is looked at, but for
// its flows, which are not indexed by span: one pass over them.
// SPDX-License-Identifier: Apache-2.0
#include "view/span_json.h"

#include <vector>

#include "base/json_members.h"
#include "base/json_object.h"
#include "base/text.h"

namespace opscope {
namespace {

constexpr size_t kMostFlows = 1000, kMostFrames = 10'000;

void AppendRow(JsonObject* object, std::string_view key, int64_t row) {
  if (row < 0) {
    object->Json(key, "null");
  } else {
    object->Int(key, row);
  }
}

// Rows of the neighbours in the track, of the parent and of the first child; null: none.
void AppendRelatives(const Trace& trace, uint32_t row, JsonObject* object) {
  const SpanColumns& spans = trace.spans();
  const size_t track = Row(spans.track[row]);
  const uint32_t first = trace.tracks().first_span[track], end = first + trace.tracks().span_count[track];
  const bool has_child = row + 1 < end && spans.parent[row + 1] == SpanId{row};
  AppendRow(object, "parent", spans.parent[row] == SpanId::kNone ? -1 : int64_t{Row(spans.parent[row])});
  AppendRow(object, "first_child", has_child ? int64_t{row} + 1 : -1);
  AppendRow(object, "previous", row > first ? int64_t{row} - 1 : -1);
  AppendRow(object, "next", row + 1 < end ? int64_t{row} + 1 : -1);
}

std::string ShapeText(std::span<const int64_t> sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0) text += ", ";
    AppendInt(&text, sizes[i]);
  }
  return text + "]";
}

void AppendArguments(const Trace& trace, uint32_t row, std::string* out) {
  const SpanColumns& spans = trace.spans();
  JsonObject object(out);
  size_t position = 0;
  for (const Argument& argument : trace.arguments(spans.args[row])) {
    const std::string key = "input " + std::to_string(position++);
    std::string text(trace.text(argument.dtype));
    if (argument.kind == ArgumentKind::kTensor) text += " " + ShapeText(argument.sizes);
    if (const std::string_view value = trace.text(argument.value); !value.empty()) text.append(" ").append(value);
    object.Text(key, text);
  }
  const std::string_view extra = trace.text(spans.extra[row]);
  if (AreJsonMembers(extra)) object.Members(extra);
  object.Close();
}

void AppendStack(const Trace& trace, StackId stack, std::string* out) {
  std::vector<StringId> frames;  // innermost first
  for (; stack != StackId::kNone && frames.size() < kMostFrames; stack = trace.stacks().caller[Row(stack)]) {
    const FrameId frame = trace.stacks().frame[Row(stack)];
    frames.push_back(frame == FrameId::kNone ? StringId::kEmpty : trace.frames().text[Row(frame)]);
  }
  *out += '[';
  for (size_t i = frames.size(); i-- > 0;) {
    AppendJsonString(out, trace.text(frames[i]));
    if (i > 0) *out += ',';
  }
  *out += ']';
}

void AppendFlows(const Trace& trace, uint32_t row, std::string* out) {
  const FlowColumns& flows = trace.flows();
  *out += '[';
  size_t count = 0;
  for (size_t i = 0; i < flows.size() && count < kMostFlows; ++i) {
    const bool leaves = flows.start_span[i] == SpanId{row};
    const SpanId other = leaves ? flows.end_span[i] : flows.start_span[i];
    if ((!leaves && flows.end_span[i] != SpanId{row}) || other == SpanId::kNone) continue;
    if (count++ > 0) *out += ',';
    JsonObject object(out);
    object.Text("category", trace.text(flows.category[i])).Text("direction", leaves ? "out" : "in");
    AppendSpanJson(trace, Row(other), &object.Key("span"));
    object.Close();
  }
  *out += ']';
}

void AppendMembers(const Trace& trace, uint32_t row, JsonObject* object) {
  const SpanColumns& spans = trace.spans();
  object->Uint("row", row).Uint("track", Row(spans.track[row]));
  AppendExactInteger(&object->Key("start"), spans.start[row].ns);
  AppendExactInteger(&object->Key("duration"), spans.duration[row].ns);
  object->Text("name", trace.text(spans.name[row]));
}

}  // namespace

void AppendExactInteger(std::string* out, int64_t value) {
  constexpr int64_t kExact = int64_t{1} << 53;
  const bool is_text = value > kExact || value < -kExact;
  if (is_text) *out += '"';
  AppendInt(out, value);
  if (is_text) *out += '"';
}

void AppendSpanJson(const Trace& trace, uint32_t row, std::string* out) {
  JsonObject object(out);
  AppendMembers(trace, row, &object);
  object.Close();
}

void AppendSpanDetails(const Trace& trace, uint32_t row, int64_t self_ns, std::string* out) {
  const SpanColumns& spans = trace.spans();
  JsonObject object(out);
  AppendMembers(trace, row, &object);
  AppendExactInteger(&object.Key("self"), self_ns);
  object.Text("category", trace.text(spans.category[row]));
  AppendRelatives(trace, row, &object);
  AppendArguments(trace, row, &object.Key("arguments"));
  AppendStack(trace, spans.stack[row], &object.Key("stack"));
  AppendFlows(trace, row, &object.Key("flows"));
  object.Close();
}

}  // namespace opscope
