// Writes events as TrackEvent packets. A span is two packets, begin and end, so their framing decides the speed: the
// lengths of all parts are known beforehand, and the packet is appended in one pass. A writer of nested messages would
// reserve a length, write, and move the bytes once the length is known. Names, categories, argument lists and stacks
// are numbers of interned texts (perfetto_plan.h).
// SPDX-License-Identifier: Apache-2.0
#include "export/perfetto_events.h"

#include <protozero/varint.hpp>

#include "base/json_members.h"
#include "base/parse_whole.h"
#include "export/perfetto_fields.h"
#include "export/perfetto_head.h"
#include "export/plain_text.h"
#include "export/python_call.h"

namespace opscope {
namespace {

using namespace perfetto;  // NOLINT: names of fields alone
using protozero::pbf_writer;

// A field number with its wire type.
constexpr uint32_t Tag(uint32_t field, protozero::pbf_wire_type type) {
  return field << 3 | static_cast<uint32_t>(type);
}
// The constant fields of a packet between its time and its event, ending with the tag of the event.
std::string MakeMiddle() {
  std::string middle;
  pbf_writer packet(middle);
  packet.add_uint32(TracePacket::kSequenceId, kPerfettoSequence);
  packet.add_uint32(TracePacket::kSequenceFlags, TracePacket::kNeedsState);
  protozero::add_varint_to_buffer(&middle, Tag(TracePacket::kTrackEvent, protozero::pbf_wire_type::length_delimited));
  return middle;
}

// Appends one packet. All lengths are known beforehand, so no bytes are moved.
void AddPacket(uint64_t time, std::string_view event, std::string* out) {
  static const std::string middle = MakeMiddle();
  const auto event_length = static_cast<size_t>(protozero::length_of_varint(event.size()));
  const size_t length =
      1 + static_cast<size_t>(protozero::length_of_varint(time)) + middle.size() + event_length + event.size();
  static_assert(Tag(TracePacket::kTimestamp, protozero::pbf_wire_type::varint) < 128, "one byte");
  protozero::add_varint_to_buffer(out, Tag(TraceFile::kPacket, protozero::pbf_wire_type::length_delimited));
  protozero::add_varint_to_buffer(out, length);
  protozero::add_varint_to_buffer(out, Tag(TracePacket::kTimestamp, protozero::pbf_wire_type::varint));
  protozero::add_varint_to_buffer(out, time);
  out->append(middle);
  protozero::add_varint_to_buffer(out, event.size());
  out->append(event);
}

// Appends a packet whose event fill(pbf_writer* event) completes. `scratch` is reused memory.
template <typename Fill>
void AddEvent(uint64_t time, int32_t type, uint64_t track, std::string* scratch, std::string* out, const Fill& fill) {
  scratch->clear();
  pbf_writer event(*scratch);
  event.add_enum(TrackEvent::kType, type);
  event.add_uint64(TrackEvent::kTrackUuid, track);
  fill(&event);
  AddPacket(time, *scratch, out);
}

std::string EndEvent(uint64_t track) {
  std::string bytes;
  pbf_writer event(bytes);
  event.add_enum(TrackEvent::kType, TrackEvent::kSliceEnd);
  event.add_uint64(TrackEvent::kTrackUuid, track);
  return bytes;
}

template <typename Fill>
void Annotate(KnownAnnotation known, pbf_writer* event, const Fill& fill) {
  pbf_writer annotation(*event, TrackEvent::kAnnotations);
  annotation.add_uint64(DebugAnnotation::kNameIid, PerfettoPlan::Annotation(known));
  fill(&annotation);
}
void AddUint(KnownAnnotation known, uint64_t value, pbf_writer* event) {
  Annotate(known, event, [&](pbf_writer* to) { to->add_uint64(DebugAnnotation::kUint, value); });
}
void AddInt(KnownAnnotation known, int64_t value, pbf_writer* event) {
  Annotate(known, event, [&](pbf_writer* to) { to->add_int64(DebugAnnotation::kInt, value); });
}
void AddInterned(KnownAnnotation known, uint64_t iid, pbf_writer* event) {
  Annotate(known, event, [&](pbf_writer* to) { to->add_uint64(DebugAnnotation::kStringIid, iid); });
}

}  // namespace

PerfettoEvents::PerfettoEvents(const Trace& trace, const PerfettoPlan& plan) : trace_(trace), plan_(plan) {
  for (const uint32_t id : plan.arguments().ids()) {
    pbf_writer event(arguments_.emplace_back());
    for (const KnownAnnotation which : {KnownAnnotation::kConcreteInputs, KnownAnnotation::kInputTypes,
                                        KnownAnnotation::kInputStrides, KnownAnnotation::kInputDims}) {
      AddInterned(which, plan.ArgumentText(ArgsId{id}, which), &event);
    }
  }
}

void PerfettoEvents::WriteSpans(size_t lane, size_t first, size_t last, std::string* out) const {
  const uint64_t track = plan_.OfLane(lane);
  const std::string end = EndEvent(track);
  SpanScratch scratch;
  plan_.lanes().ForEachEdge(
      plan_.lanes().lanes()[lane], first, last, [&](uint32_t span) { WriteBegin(span, track, &scratch, out); },
      [&](uint32_t span) { AddPacket(plan_.times().At(EndOf(trace_.spans(), span)), end, out); });
}

void PerfettoEvents::WriteBegin(uint32_t span, uint64_t track, SpanScratch* scratch, std::string* out) const {
  const SpanColumns& spans = trace_.spans();
  AddEvent(plan_.times().At(spans.start[span]), TrackEvent::kSliceBegin, track, &scratch->event, out,
           [&](pbf_writer* event) {
             event->add_uint64(TrackEvent::kNameIid, plan_.NameOf(span));
             if (!trace_.text(spans.category[span]).empty()) {
               event->add_uint64(TrackEvent::kCategoryIids, plan_.Category(spans.category[span]));
             }
             const auto [flow, last_flow] = plan_.FlowEndsOf(span);
             for (size_t i = flow; i < last_flow; ++i) {
               const PerfettoFlowEnd& end = plan_.flow_ends()[i];
               event->add_fixed64(end.arrives ? TrackEvent::kTerminatingFlowIds : TrackEvent::kFlowIds, end.id);
             }
             if (spans.external_id[span] != 0) AddUint(KnownAnnotation::kExternalId, spans.external_id[span], event);
             if (spans.sequence[span] >= 0) {
               AddInt(KnownAnnotation::kSequence, spans.sequence[span], event);
               AddUint(KnownAnnotation::kForwardThread, spans.forward_thread[span], event);
             }
             if (spans.correlation[span] != 0) AddUint(KnownAnnotation::kCorrelation, spans.correlation[span], event);
             if (trace_.python_calls().size() != 0) AddPythonCall(span, &scratch->next_call, event);
             // The four annotations are rendered once per argument list and copied here; the event's writer appends to
             // the same string.
             if (spans.args[span] != ArgsId::kNone)
               scratch->event.append(arguments_[plan_.arguments().Of(Row(spans.args[span])) - 1]);
             if (const StackId stack = spans.stack[span]; stack != StackId::kNone) {
               AddInterned(KnownAnnotation::kCallStack, plan_.StackText(stack), event);
             }
             if ((spans.flags[span] & span_flags::kUnfinished) != 0) {
               Annotate(KnownAnnotation::kFinished, event,
                        [](pbf_writer* to) { to->add_bool(DebugAnnotation::kBool, false); });
             }
             AddExtra(spans.extra[span], event);
           });
}

void PerfettoEvents::AddPythonCall(uint32_t span, size_t* next_call, pbf_writer* event) const {
  const PythonCallColumns& calls = trace_.python_calls();
  const size_t call = FindPythonCall(calls, SpanId{span}, next_call);
  if (call == calls.size()) return;
  if (calls.thread[call] >= 0) AddInt(KnownAnnotation::kPythonThread, calls.thread[call], event);
  if (calls.caller[call] != 0) AddUint(KnownAnnotation::kPythonCaller, calls.caller[call], event);
  AddUint(KnownAnnotation::kPythonId, calls.id[call], event);
  if (calls.module_id[call] >= 0) AddInt(KnownAnnotation::kPythonModule, calls.module_id[call], event);
}

void PerfettoEvents::AddExtra(StringId extra, pbf_writer* event) const {
  if (extra == StringId::kNone) return;
  ForEachJsonMember(trace_.text(extra), [&](std::string_view key, std::string_view value) {
    AddMember(key, value, event);
    return true;
  });
}

// Numbers, booleans and strings without escapes keep their type; other values are stored as JSON, which readers parse.
void PerfettoEvents::AddMember(std::string_view key, std::string_view value, pbf_writer* event) const {
  pbf_writer annotation(*event, TrackEvent::kAnnotations);
  annotation.add_uint64(DebugAnnotation::kNameIid, plan_.MemberName(key));
  if (value == "true" || value == "false") {
    annotation.add_bool(DebugAnnotation::kBool, value == "true");
  } else if (value.size() >= 2 && value.front() == '"' && value.find('\\') == std::string_view::npos) {
    annotation.add_string(DebugAnnotation::kString, PlainText(value.substr(1, value.size() - 2)));
  } else if (const auto number = ParseWhole<int64_t>(value); number) {
    annotation.add_int64(DebugAnnotation::kInt, *number);
  } else if (const auto unsigned_number = ParseWhole<uint64_t>(value); unsigned_number) {
    annotation.add_uint64(DebugAnnotation::kUint, *unsigned_number);
  } else if (const auto real = ParseWhole<double>(value); real) {
    annotation.add_double(DebugAnnotation::kDouble, *real);
  } else if (value == "null" || value.empty()) {
    annotation.add_string(DebugAnnotation::kString, PlainText(value));
  } else {
    annotation.add_string(DebugAnnotation::kJson, PlainText(value));
  }
}

void PerfettoEvents::WriteAsyncLane(size_t lane, std::string* out) const {
  const AsyncSpanColumns& spans = trace_.async_spans();
  const uint64_t track = plan_.OfAsyncLane(lane);
  const std::string end = EndEvent(track);
  std::string scratch;
  for (const uint32_t row : plan_.async_lanes()[lane].rows) {
    AddEvent(plan_.times().At(spans.start[row]), TrackEvent::kSliceBegin, track, &scratch, out, [&](pbf_writer* event) {
      event->add_uint64(TrackEvent::kNameIid, plan_.Name(spans.name[row]));
      if (!trace_.text(spans.category[row]).empty()) {
        event->add_uint64(TrackEvent::kCategoryIids, plan_.Category(spans.category[row]));
      }
      const std::string_view id = trace_.text(spans.id[row]);
      Annotate(KnownAnnotation::kAsyncId, event,
               [&](pbf_writer* to) { to->add_string(DebugAnnotation::kString, PlainText(id)); });
      AddExtra(spans.extra[row], event);
    });
    AddPacket(plan_.times().At(EndOf(spans, row)), end, out);
  }
}

void PerfettoEvents::WriteAllocation(size_t row, std::string* out) const {
  const AllocationColumns& allocations = trace_.allocations();
  if (!plan_.times().Holds(allocations.time[row])) return;
  std::string scratch;
  AddEvent(plan_.times().At(allocations.time[row]), TrackEvent::kInstant, plan_.OfTrack(allocations.track[row]),
           &scratch, out, [&](pbf_writer* event) {
             event->add_uint64(TrackEvent::kNameIid, plan_.MemoryName());
             AddInt(KnownAnnotation::kBytes, allocations.bytes[row], event);
             AddUint(KnownAnnotation::kAddress, allocations.address[row], event);
             AddInt(KnownAnnotation::kDeviceType, allocations.device_type[row], event);
             AddInt(KnownAnnotation::kDeviceId, allocations.device[row], event);
             if (allocations.total_allocated[row] >= 0) {
               AddInt(KnownAnnotation::kTotalAllocated, allocations.total_allocated[row], event);
             }
             if (allocations.total_reserved[row] >= 0) {
               AddInt(KnownAnnotation::kTotalReserved, allocations.total_reserved[row], event);
             }
             if (const StackId stack = allocations.stack[row]; stack != StackId::kNone)
               AddInterned(KnownAnnotation::kCallStack, plan_.StackText(stack), event);
             const uint32_t instant = plan_.instants().OfAllocation(row);
             if (instant != UINT32_MAX) AddExtra(trace_.instants().extra[instant], event);
           });
}

void PerfettoEvents::WriteInstant(uint32_t row, std::string* out) const {
  const InstantColumns& instants = trace_.instants();
  if (!plan_.times().Holds(instants.time[row])) return;
  std::string scratch;
  const TrackId track = instants.track[row];
  uint64_t where = plan_.GlobalTrack();
  if (track != TrackId::kNone && instants.scope[row] != 'g') {
    where = instants.scope[row] == 'p' ? plan_.OfProcess(trace_.tracks().process[Row(track)]) : plan_.OfTrack(track);
  }
  AddEvent(plan_.times().At(instants.time[row]), TrackEvent::kInstant, where, &scratch, out, [&](pbf_writer* event) {
    event->add_uint64(TrackEvent::kNameIid, plan_.Name(instants.name[row]));
    if (!trace_.text(instants.category[row]).empty()) {
      event->add_uint64(TrackEvent::kCategoryIids, plan_.Category(instants.category[row]));
    }
    AddExtra(instants.extra[row], event);
  });
}

void PerfettoEvents::WriteCounter(size_t row, std::string* out) const {
  const CounterColumns& counters = trace_.counters();
  if (!plan_.times().Holds(counters.time[row])) return;
  std::string scratch;
  AddEvent(plan_.times().At(counters.time[row]), TrackEvent::kCounter, plan_.OfCounterRow(row), &scratch, out,
           [&](pbf_writer* event) { event->add_double(TrackEvent::kDoubleCounterValue, counters.value[row]); });
}

}  // namespace opscope
