// Writes one span with everything that the trace knows about it. Flows are not indexed by span: ListFlows finds those
// that the input lacks, too, and is kept, and each span takes one pass over its result.
// SPDX-License-Identifier: Apache-2.0
#include "view/span_details.h"

#include <utility>

#include "base/saturating.h"
#include "base/text.h"
#include "view/span_json.h"

namespace opscope {
namespace {

constexpr size_t kMaxFlows = 1000, kMaxFrames = 10'000;
constexpr std::string_view kFlowKindTexts[] = {"launch", "fwdbwd", "async", "other"};  // by TimelineFlowKind

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

void AppendStack(const Trace& trace, StackId stack, std::string* out) {
  std::vector<StringId> frames;  // innermost first
  for (; stack != StackId::kNone && frames.size() < kMaxFrames; stack = trace.stacks().caller[Row(stack)]) {
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

}  // namespace

SpanDetails::SpanDetails(const Trace& trace, MakeArguments make_arguments)
    : trace_(trace), timeline_(trace), make_arguments_(std::move(make_arguments)) {
}

void SpanDetails::Append(uint32_t row, std::string* out) {
  const SpanColumns& spans = trace_.spans();
  JsonObject object(out);
  AppendSpanMembers(trace_, row, &object);
  object.Uint("depth", timeline_.RowOf(row));
  AppendExactInteger(&object.Key("self"), SaturatingSubtract(spans.duration[row].ns, timeline_.CoveredOf(row)));
  object.Text("category", trace_.text(spans.category[row]));
  AppendRelatives(trace_, row, &object);
  AppendArgumentsOf(row, &object.Key("arguments"));
  AppendStack(trace_, spans.stack[row], &object.Key("stack"));
  AppendFlowsOf(row, &object.Key("flows"));
  object.Close();
}

void SpanDetails::AppendArgumentsOf(uint32_t row, std::string* out) {
  std::string members;
  if (make_arguments_) {
    const MutexLock lock(mutex_);
    if (!arguments_) arguments_ = make_arguments_(trace_);
    arguments_(row, &members);
  }
  out->append("{").append(members).append("}");
}

void SpanDetails::AppendFlowsOf(uint32_t row, std::string* out) {
  const MutexLock lock(mutex_);
  if (!flows_) flows_ = ListFlows(trace_);
  *out += '[';
  size_t count = 0;
  for (const TimelineFlow& flow : *flows_) {
    if ((flow.from != row && flow.to != row) || count == kMaxFlows) continue;
    if (count++ > 0) *out += ',';
    JsonObject object(out);
    object.Text("kind", kFlowKindTexts[static_cast<size_t>(flow.kind)]);
    object.Text("direction", flow.from == row ? "out" : "in");
    const uint32_t other = flow.from == row ? flow.to : flow.from;
    JsonObject end(&object.Key("span"));
    AppendSpanMembers(trace_, other, &end);
    end.Uint("depth", timeline_.RowOf(other));
    end.Close();
    object.Close();
  }
  *out += ']';
}

}  // namespace opscope
