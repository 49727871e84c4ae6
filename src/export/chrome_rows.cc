// Formats instants, counters, async spans, allocations and free flow ends as Kineto's events, one per line; complete
// spans, the bulk of a file, are in chrome_spans.cc. Members are written in the order and spacing in which the importer
// keeps unknown members as one text, so that a second round trip changes no byte.
// SPDX-License-Identifier: Apache-2.0
#include "export/chrome_rows.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/json_members.h"
#include "base/saturating.h"
#include "base/scoped_id.h"
#include "base/text.h"
#include "export/span_lanes.h"

namespace opscope {
namespace {

// Distance of the window's end behind the last event. Readers add ts + dur in doubles of microseconds, whose precision
// for today's unix time is a quarter of a microsecond.
constexpr Duration kBehindLastEnd{1'000};

// Writes the members of "args" with their separators, spaced as the importer spaces the members that it keeps as one
// text.
class ChromeArgsWriter {
 public:
  explicit ChromeArgsWriter(ChromeBuffer* out) : out_(out) {}
  ~ChromeArgsWriter() {
    if (any_) out_->Put("}");
  }
  ChromeArgsWriter(const ChromeArgsWriter&) = delete;
  ChromeArgsWriter& operator=(const ChromeArgsWriter&) = delete;

  // Writes the separator before the next member.
  void Next() {
    out_->Put(any_ ? ", " : ",\"args\":{");
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
  out->Put("\"cat\":\"");
  out->Put(escaped);
  out->Put("\",");
}

}  // namespace

ChromeRowWriter::ChromeRowWriter(const Trace& trace, const ChromePlan& plan, const ChromePieces& pieces,
                                 const std::optional<std::vector<std::string>>& only_categories)
    : trace_(trace),
      plan_(plan),
      pieces_(pieces),
      step_numbers_(trace),
      framework_members_(MegEngineMembersBesideKineto(trace)),
      writes_all_(!only_categories) {
  if (writes_all_) return;
  for (const std::string& category : *only_categories) {
    if (const std::optional<StringId> id = trace.FindString(category)) written_.push_back(*id);
  }
}

bool ChromeRowWriter::IsWritten(StringId category) const {
  return writes_all_ || std::find(written_.begin(), written_.end(), category) != written_.end();
}

void ChromeRowWriter::WriteBlock(const ChromeBlock& block, bool follows, ChromeBuffer* out) const {
  const size_t start = out->size();
  switch (block.section) {
    case ChromeSection::kSpans:
      WriteSpans(block, out);
      break;
    case ChromeSection::kTraceSpan:
      WriteTraceSpan(out);
      break;
    case ChromeSection::kSpansOrder:
      WriteSpansOrder(out);
      break;
    case ChromeSection::kWindowInstants:
      WriteWindowInstants(out);
      break;
    case ChromeSection::kCounters:
      WriteCounters(out);
      break;
    case ChromeSection::kAllocations: {
      if (!IsWritten(trace_.FindString("cpu_instant_event").value_or(StringId::kNone))) break;
      SpanFrame frame;
      for (size_t i = block.begin; i < block.end; ++i)
        WriteAllocation(i, &frame, out);
      break;
    }
    case ChromeSection::kInstants:
      for (size_t i = block.begin; i < block.end; ++i) {
        if (IsWritten(trace_.instants().category[plan_.instants()[i]])) WriteInstant(plan_.instants()[i], out);
      }
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

// Extra members of a foreign file may be any bytes; what is not JSON is written as one string member "extra".
std::string_view ChromeRowWriter::Extra(StringId extra, std::string* scratch) const {
  const std::string_view members = trace_.text(extra);
  if (members.empty() || AreJsonMembers(members)) return members;
  scratch->assign("\"extra\": ");
  AppendJsonString(scratch, members);
  return *scratch;
}

std::string ChromeRowWriter::IdMembers(uint32_t flow) const {
  const FlowColumns& flows = trace_.flows();
  ScopedId id = ParseScopedId(trace_.text(flows.id_scope[flow]));
  if (id.json_id != "\"\"") id = {};  // a foreign writer's id, which has no such form
  return id.MembersOf(flows.id[flow]);
}

void ChromeRowWriter::WriteFlowEnd(const ChromeFlowEnd& end, ChromeBuffer* out) const {
  const FlowColumns& flows = trace_.flows();
  const std::string_view name = pieces_.name(flows.name[end.flow]);
  const std::string_view category = pieces_.name(flows.category[end.flow]);
  const TrackId at = end.arrives ? flows.end_track[end.flow] : flows.start_track[end.flow];
  const ChromeLane* lane = end.span == UINT32_MAX ? nullptr : plan_.lanes().LaneOf(plan_.spans()[end.span]);
  const std::string of_lane = lane == nullptr ? std::string() : pieces_.track_with(at, lane->tid);
  const std::string_view track = lane == nullptr ? pieces_.track(at) : std::string_view(of_lane);
  const bool has_scope = flows.id_scope[end.flow] != StringId::kNone;
  const std::string id = has_scope ? IdMembers(end.flow) : std::string();
  out->Reserve(kFixedRoom + name.size() + category.size() + track.size() + id.size());
  out->Put(kNext);
  out->Put(end.arrives ? "{\"ph\":\"f\",\"bp\":\"e\"," : "{\"ph\":\"s\",");
  out->Put(track);
  out->Put(",\"cat\":\"");
  out->Put(category);
  out->Put("\",\"name\":\"");
  out->Put(name);
  if (has_scope) {
    out->Put("\",");
    out->Put(id);
  } else {
    out->Put("\",\"id\":");
    out->PutUint(flows.id[end.flow]);
  }
  out->Put(",\"ts\":");
  out->PutMicros((end.arrives ? flows.end_time[end.flow] : flows.start_time[end.flow]).ns);
  out->Put("}");
}

void ChromeRowWriter::WriteAllocation(size_t row, SpanFrame* frame, ChromeBuffer* out) const {
  const AllocationColumns& allocations = trace_.allocations();
  const uint32_t instant = plan_.memory_instant(row);
  const std::string_view track = pieces_.track(allocations.track[row]);
  out->Reserve(kFixedRoom + track.size());
  out->Put(kNext);
  out->Put("{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",");
  out->Put(track);
  {
    ChromeArgsWriter members(out);
    members.Signed("\"Device Id\": ", allocations.device[row]);
    members.Signed("\"Device Type\": ", allocations.device_type[row]);
    if (allocations.total_reserved[row] >= 0) members.Signed("\"Total Reserved\": ", allocations.total_reserved[row]);
    if (allocations.total_allocated[row] >= 0)
      members.Signed("\"Total Allocated\": ", allocations.total_allocated[row]);
    members.Signed("\"Bytes\": ", allocations.bytes[row]);
    members.Unsigned("\"Addr\": ", allocations.address[row]);
    const std::string_view stack = CallStack(allocations.stack[row], frame);
    if (!stack.empty()) members.Text(stack);
    const std::string_view extra =
        instant == UINT32_MAX ? std::string_view() : Extra(trace_.instants().extra[instant], &frame->extra_text);
    if (!extra.empty()) members.Text(extra);
    if (plan_.recorded() && !HasMember(extra, "\"Ev Idx\""))
      members.Unsigned("\"Ev Idx\": ", plan_.spans().size() + row);
  }
  out->Put(",\"ts\":");
  out->PutMicros(allocations.time[row].ns);
  out->Put("}");
}

void ChromeRowWriter::WriteInstant(uint32_t row, ChromeBuffer* out) const {
  const InstantColumns& instants = trace_.instants();
  const std::string_view name = pieces_.name(instants.name[row]);
  const std::string_view category = pieces_.name(instants.category[row]);
  const std::string_view track = pieces_.track(instants.track[row]);
  out->Reserve(kFixedRoom + name.size() + category.size() + track.size());
  out->Put(kNext);
  out->Put("{\"ph\":\"i\",");
  PutCategory(category, out);
  const char scope =
      instants.scope[row] == 'p' || instants.scope[row] == 'g' ? static_cast<char>(instants.scope[row]) : 't';
  out->Put("\"s\":\"");
  out->Put({&scope, 1});
  out->Put("\",\"name\":\"");
  out->Put(name);
  out->Put("\",");
  out->Put(track);
  out->Put(",\"ts\":");
  out->PutMicros(instants.time[row].ns);
  {
    ChromeArgsWriter members(out);
    std::string scratch;
    const std::string_view extra = Extra(instants.extra[row], &scratch);
    if (!extra.empty()) members.Text(extra);
    const std::optional<size_t> refused = plan_.out_of_memory(row);
    if (refused && !HasMember(extra, "\"Ev Idx\""))
      members.Unsigned("\"Ev Idx\": ", plan_.spans().size() + trace_.allocations().size() + *refused);
  }
  out->Put("}");
}

// Adjacent rows with the same time, name and track are the series of one sample and share an event.
void ChromeRowWriter::WriteCounters(ChromeBuffer* out) const {
  const CounterColumns& counters = trace_.counters();
  // By series: 1 + first row of the last sample that has it. Place 0 is that of kNone.
  std::vector<uint64_t> last_sample(trace_.string_count() + 1, 0);
  std::string value;
  for (size_t row = 0; row < counters.size();) {
    const std::string_view name = pieces_.name(counters.name[row]);
    const std::string_view track = pieces_.track(counters.track[row]);
    out->Reserve(kFixedRoom + name.size() + track.size());
    out->Put(kNext);
    out->Put("{\"ph\":\"C\",\"name\":\"");
    out->Put(name);
    out->Put("\",");
    out->Put(track);
    out->Put(",\"ts\":");
    out->PutMicros(counters.time[row].ns);
    out->Put(",\"args\":{");
    const size_t first = row;
    const auto is_new_series = [&] {
      uint64_t& last = last_sample[Row(counters.series[row]) + 1];
      return std::exchange(last, first + 1) != first + 1;
    };
    bool any = false;
    for (;
         row < counters.size() && counters.time[row] == counters.time[first] &&
         counters.name[row] == counters.name[first] && counters.track[row] == counters.track[first] && is_new_series();
         ++row) {
      if (!std::isfinite(counters.value[row])) continue;  // JSON has no NaN or infinity
      value.clear();
      AppendDouble(&value, counters.value[row]);
      const std::string_view series = pieces_.name(counters.series[row]);
      out->Reserve(kFixedRoom + series.size());
      out->Put(any ? ",\"" : "\"");
      out->Put(series);
      out->Put("\":");
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
  std::string scratch;
  const std::string_view extra = Extra(spans.extra[row], &scratch);
  const std::string id = ParseScopedId(trace_.text(spans.id[row])).Members();
  for (const bool begins : {true, false}) {
    out->Reserve(kFixedRoom + name.size() + category.size() + track.size() + id.size());
    out->Put(kNext);
    out->Put(begins ? "{\"ph\":\"b\",\"cat\":\"" : "{\"ph\":\"e\",\"cat\":\"");
    out->Put(category);
    out->Put("\",\"name\":\"");
    out->Put(name);
    out->Put("\",");
    out->Put(id);
    out->Put(",");
    out->Put(track);
    out->Put(",\"ts\":");
    out->PutMicros((begins ? spans.start[row] : EndOf(spans, row)).ns);
    {
      ChromeArgsWriter members(out);
      if (begins && !extra.empty()) members.Text(extra);
    }
    out->Put("}");
  }
}

void ChromeRowWriter::WriteTraceSpan(ChromeBuffer* out) const {
  out->Reserve(kFixedRoom);
  out->Put(kNext);
  out->Put(
      "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"PyTorch Profiler (0)\",\"pid\":\"Spans\","
      "\"tid\":\"PyTorch Profiler\",\"args\":{\"Op count\": 0},\"ts\":");
  out->PutMicros(plan_.first_time().ns);
  out->Put(",\"dur\":");
  out->PutMicros(SaturatingSubtract(plan_.last_time().ns, plan_.first_time().ns));
  out->Put("}");
}

void ChromeRowWriter::WriteSpansOrder(ChromeBuffer* out) const {
  out->Reserve(kFixedRoom);
  out->Put(kNext);
  out->Put("{\"ph\":\"M\",\"name\":\"process_sort_index\",\"ts\":");
  out->PutMicros(plan_.first_time().ns);
  out->Put(",\"pid\":\"Spans\",\"tid\":0,\"args\":{\"sort_index\":");
  out->PutInt(plan_.spans_order().value_or(0));
  out->Put("}}");
}

void ChromeRowWriter::WriteWindowInstants(ChromeBuffer* out) const {
  out->Reserve(kFixedRoom);
  out->Put(kNext);
  out->Put(
      "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"Iteration Start: PyTorch Profiler\",\"pid\":\"Traces\","
      "\"tid\":\"Trace PyTorch Profiler\",\"ts\":");
  out->PutMicros(plan_.first_time().ns);
  out->Put("},\n{\"ph\":\"i\",\"s\":\"g\",\"name\":\"Record Window End\",\"pid\":\"\",\"tid\":\"\",\"ts\":");
  out->PutMicros(SaturatingAdd(plan_.last_time().ns, kBehindLastEnd.ns));
  out->Put("}");
}

}  // namespace opscope
