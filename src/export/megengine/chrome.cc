// Writes MegEngine's chrome_timeline.json: the same events with the same members in the same order. Values that the
// original computes wrong are correct here; docs/reference/megengine.md lists both. Blocks of events are formatted in
// parallel.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_members.h"
#include "base/text.h"
#include "export/chrome_buffer.h"
#include "export/escaped_names.h"
#include "export/megengine/events.h"
#include "export/megengine/facts.h"
#include "export/megengine/span_members.h"
#include "export/row_blocks.h"
#include "export/writers.h"

namespace opscope {
namespace {

using What = MegEngineEventKind;
using Role = MegEngineRole;

constexpr size_t kEventsPerBlock = 2048;
constexpr size_t kFixedRoom = 512;  // of an event beside its texts

// MegEngine's format of counter values: shortest digits that round-trip, with a decimal point.
std::string NumberText(double value) {
  if (!std::isfinite(value)) return "null";
  std::string number;
  AppendDouble(&number, value);
  if (number.find_first_of(".e") == std::string::npos) number += ".0";
  return number;
}

// The constant members of a track's events: `"pid":7,"tid":0`.
struct Place {
  Place(int64_t pid_number, int64_t tid) : pid(std::to_string(pid_number)) {
    text = "\"pid\":" + pid + ",\"tid\":" + std::to_string(tid);
  }
  std::string pid, text;
};

class EventWriter {
 public:
  EventWriter(const Trace& trace, const MegEngineFacts& facts)
      : trace_(trace),
        spans_(trace.spans()),
        facts_(facts),
        names_(trace),
        categories_(trace),
        members_(trace, facts) {}

  void Write(const MegEngineMark& event, const Place& place, ChromeBuffer* out) {
    switch (event.what) {
      case What::kBegin:
        return Span(event, place, 'B', out);
      case What::kEnd:
        return Span(event, place, 'E', out);
      case What::kComplete:
        return Span(event, place, 'X', out);
      case What::kDispatchStart:
        return Flow(event, place, "OpDispatch", 's', spans_.external_id[event.row], out);
      case What::kDispatchStep:
        return Flow(event, place, "OpDispatch", 't', spans_.external_id[event.row], out);
      case What::kKernelStart:
        return Flow(event, place, "KernelLaunch", 's', spans_.correlation[event.row], out);
      case What::kKernelFinish:
        return Flow(event, place, "KernelLaunch", 'f', spans_.correlation[event.row], out);
      case What::kUse:
        return Flow(event, place, "TensorLink", 't', spans_.external_id[event.row], out);
      case What::kLinkStart:
        return Flow(event, place, "TensorLink", 's', trace_.tensor_lives().tensor[event.row], out);
      case What::kLinkStep:
        return Flow(event, place, "TensorLink", 't', trace_.tensor_lives().tensor[event.row], out);
      case What::kLinkFinish:
        return Flow(event, place, "TensorLink", 'f', trace_.tensor_lives().tensor[event.row], out);
      case What::kFlowStart:
        return StoredFlow(event, place, 's', out);
      case What::kFlowStep:
        return StoredFlow(event, place, 't', out);
      case What::kFlowFinish:
        return StoredFlow(event, place, 'f', out);
      case What::kInstant:
        return Instant(event, place, out);
      case What::kCounter:
        return StoredCounter(event, place, out);
      case What::kPending:
        return Counter(event, place, "nr_op_pending", out);
      case What::kAlive:
        return Counter(event, place, "nr_alive_tensor", out);
      case What::kRedundant:
        Counter(event, place, "nr_redunant_tensor", out);
        return Counter(event, place, "nr_redundant_tensor", out);
      case What::kAhead:
        return Counter(event, place, "device_ahead_ms", out);
    }
  }

 private:
  static void PutPlace(const MegEngineMark& event, const Place& place, ChromeCursor* at) {
    at->Put(place.text);
    at->Put(",\"ts\":");
    at->PutMicros(event.time);
  }

  void Span(const MegEngineMark& event, const Place& place, char phase, ChromeBuffer* out) {
    const uint32_t row = event.row;
    const Role role = facts_.RoleOf(row);
    const bool has_number = role == Role::kInput || role == Role::kOutput || role == Role::kCommand;
    const bool has_members = phase != 'B' || role == Role::kInput || role == Role::kOutput;
    const MegEngineMembers members = has_members ? members_.Find(event) : MegEngineMembers{};
    const std::string_view name = names_.Of(spans_.name[row]);
    const std::string_view category = CategoryOf(row, role);
    ChromeCursor at = out->Begin(kFixedRoom + members.bytes() + name.size() + category.size());
    at.Put(members.is_empty() ? ",{" : ",{\"args\":{");
    if (!members.is_empty()) {
      PutMembers(members, &at);
      at.Put("},");
    }
    if (!category.empty()) {
      at.Put("\"cat\":\"");
      at.Put(category);
      at.Put("\",");
    }
    if (phase == 'X') {
      at.Put("\"dur\":");
      if (spans_.duration[row].ns == 0) {
        at.Put("0");
      } else {
        at.PutMicros(spans_.duration[row].ns);
      }
      at.Put(",");
    }
    at.Put("\"name\":\"");
    at.Put(name);
    if (has_number) {
      at.Put(" ");
      at.PutUint(spans_.external_id[row]);
    }
    at.Put("\",\"ph\":\"");
    at.Put(std::string_view(&phase, 1));
    at.Put("\",");
    PutPlace(event, place, &at);
    at.Put("}");
    out->End(at);
  }

  // MegEngine writes a category for kernels only. A timeline that was imported keeps the categories of its file.
  std::string_view CategoryOf(uint32_t row, Role role) {
    if (role == Role::kKernel) return "Kernel";
    return facts_.is_of_timeline() && spans_.category[row] != StringId::kNone ? categories_.Of(spans_.category[row])
                                                                              : std::string_view();
  }

  void Flow(const MegEngineMark& event, const Place& place, std::string_view category, char phase, uint64_t id,
            ChromeBuffer* out) {
    ChromeCursor at = out->Begin(kFixedRoom + 2 * place.pid.size() + category.size());
    at.Put(phase == 'f' ? R"(,{"bp":"e","cat":")" : R"(,{"cat":")");
    at.Put(category);
    at.Put("\",\"id\":");
    at.PutUint(id);
    at.Put(",\"name\":\"");
    at.Put(place.pid);
    at.Put("\",\"ph\":\"");
    at.Put(std::string_view(&phase, 1));
    at.Put("\",\"scope\":\"");
    at.Put(place.pid);
    at.Put("\",");
    PutPlace(event, place, &at);
    at.Put("}");
    out->End(at);
  }
  void StoredFlow(const MegEngineMark& event, const Place& place, char phase, ChromeBuffer* out) {
    const FlowColumns& flows = trace_.flows();
    Flow(event, place, names_.Of(flows.category[event.row]), phase, flows.id[event.row], out);
  }

  void Instant(const MegEngineMark& event, const Place& place, ChromeBuffer* out) {
    const std::string_view name = names_.Of(trace_.instants().name[event.row]);
    const StringId extra = trace_.instants().extra[event.row];
    std::string_view own = extra == StringId::kNone ? std::string_view() : trace_.text(extra);
    if (!AreJsonMembers(own)) own = {};
    ChromeCursor at = out->Begin(kFixedRoom + name.size() + own.size());
    at.Put(",{");
    if (!own.empty()) {
      at.Put("\"args\":{");
      at.Put(own);
      at.Put("},");
    }
    at.Put("\"name\":\"");
    at.Put(name);
    at.Put("\",\"ph\":\"i\",");
    PutPlace(event, place, &at);
    at.Put("}");
    out->End(at);
  }

  void Counter(const MegEngineMark& event, const Place& place, std::string_view name, ChromeBuffer* out) {
    ChromeCursor at = out->Begin(kFixedRoom);
    at.Put(",{\"args\":{\"value\":");
    at.PutInt(static_cast<int32_t>(event.row));
    at.Put(".0},\"name\":\"");
    at.Put(name);
    at.Put("\",\"ph\":\"C\",");
    PutPlace(event, place, &at);
    at.Put("}");
    out->End(at);
  }

  void StoredCounter(const MegEngineMark& event, const Place& place, ChromeBuffer* out) {
    const CounterColumns& counters = trace_.counters();
    const std::string series(names_.Of(counters.series[event.row]));
    const std::string_view name = names_.Of(counters.name[event.row]);
    ChromeCursor at = out->Begin(kFixedRoom + series.size() + name.size());
    at.Put(",{\"args\":{\"");
    at.Put(series);
    at.Put("\":");
    at.Put(NumberText(counters.value[event.row]));
    at.Put("},\"name\":\"");
    at.Put(name);
    at.Put("\",\"ph\":\"C\",");
    PutPlace(event, place, &at);
    at.Put("}");
    out->End(at);
  }

  const Trace& trace_;
  const SpanColumns& spans_;
  const MegEngineFacts& facts_;
  EscapedNames names_, categories_;  // two caches: a view is valid until the next call of the same one
  MegEngineMemberFinder members_;
};

// The ratio counters of a process, once at time 0 and once at the end of the last kernel or of thread 0, whichever is
// later.
struct Ratios {
  std::string before, behind;
};

Ratios WriteRatios(const MegEngineRatios& ratios, int64_t end, int64_t pid) {
  const Place place(pid, 0);
  const auto write = [&](std::string_view name, double value, int64_t time, std::string* out) {
    char text[40];
    ChromeCursor at(text);
    at.PutMicros(time);
    out->append(",{\"args\":{\"value\":").append(NumberText(value)).append("},\"name\":\"").append(name);
    out->append("\",\"ph\":\"C\",").append(place.text).append(",\"ts\":");
    out->append(text, static_cast<size_t>(at.at() - text)).append("}");
  };
  Ratios result;
  write("train_time_ratio", ratios.steps, 0, &result.before);
  for (const char* name : {"gpu_usgae_ratio", "gpu_usage_ratio"}) {
    write(name, ratios.device, 0, &result.before);
    write(name, ratios.device, end, &result.behind);
  }
  write("train_time_ratio", ratios.steps, end, &result.behind);
  return result;
}

std::string ThreadNames(const Trace& trace, const MegEngineFacts& facts) {
  std::string text;
  const TrackColumns& tracks = trace.tracks();
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (!facts.IsShown(static_cast<TrackId>(track)) || tracks.name[track] == StringId::kNone) continue;
    text += ",{\"args\":{\"name\":";
    AppendJsonString(&text, trace.text(tracks.name[track]));
    text += R"(},"name":"thread_name","ph":"M",)";
    text += Place(trace.processes().pid[Row(tracks.process[track])], tracks.tid[track]).text + "}";
  }
  return text;
}

// Spans of steps that a reader of the file makes again from the StopStep instants of the process.
uint64_t CountRestoredSteps(const Trace& trace, const MegEngineFacts& facts) {
  const InstantColumns& instants = trace.instants();
  std::vector<uint64_t> stops(trace.tracks().size()), stops_of_process(trace.processes().size());
  for (size_t i = 0; i < instants.size(); ++i) {
    const TrackId track = instants.track[i];
    if (track == TrackId::kNone || !facts.IsShown(track) || trace.text(instants.name[i]) != "StopStep") continue;
    uint64_t& of_process = stops_of_process[Row(trace.tracks().process[Row(track)])];
    of_process = std::max(of_process, ++stops[Row(track)]);
  }
  uint64_t restored = 0;
  for (const SpanId step : trace.steps().span) {
    if (step == SpanId::kNone) continue;
    const TrackId track = trace.spans().track[Row(step)];
    uint64_t& left = stops_of_process[Row(trace.tracks().process[Row(track)])];
    if (facts.IsShown(track) || left == 0) continue;
    --left, ++restored;
  }
  return restored;
}

void LeaveOutOfMegEngine(const Trace& trace, const MegEngineFacts& facts, ExportOutput* out) {
  uint64_t hidden_spans = 0;
  for (uint32_t track = 0; track < trace.tracks().size(); ++track)
    hidden_spans += facts.IsShown(TrackId{track}) ? 0 : trace.tracks().span_count[track];
  const auto count_hidden = [&](std::span<const TrackId> tracks) {
    const auto is_hidden = [&](TrackId track) { return track == TrackId::kNone || !facts.IsShown(track); };
    return static_cast<uint64_t>(std::count_if(tracks.begin(), tracks.end(), is_hidden));
  };
  out->CountOmitted("spans of CUDA, which this format has not", facts.spans_of_cuda());
  hidden_spans -= facts.spans_of_cuda();
  hidden_spans -= std::min(hidden_spans, CountRestoredSteps(trace, facts));
  out->CountOmitted("spans of tracks that are not threads or streams", hidden_spans);
  out->CountOmitted("asynchronous spans", trace.async_spans().size());
  out->CountOmitted("instants of tracks that are left out", count_hidden(trace.instants().track));
  out->CountOmitted("counter samples of tracks that are left out", count_hidden(trace.counters().track));
  out->CountOmitted("allocations", trace.allocations().size());
}

}  // namespace

void WriteMegEngineChrome(const Trace& trace, const ExportOptions&, ExportOutput* out) {
  const MegEngineFacts facts(trace);
  const std::vector<std::vector<MegEngineMark>> events = ListMegEngineMarks(trace, facts);
  const TrackColumns& tracks = trace.tracks();
  const std::vector<MegEngineRatios> ratios = ComputeMegEngineRatios(trace, facts);
  std::vector<int64_t> ends;  // by process
  ends.reserve(ratios.size());
  for (const MegEngineRatios& of_process : ratios)
    ends.push_back(of_process.end);
  std::vector<RowBlock> blocks;  // RowBlock::list: the track
  std::vector<Place> places;
  for (size_t track = 0; track < events.size(); ++track) {
    places.emplace_back(facts.Pid(static_cast<TrackId>(track)), tracks.tid[track]);
    AppendRowBlocks(track, 0, events[track].size(), kEventsPerBlock, &blocks);
    int64_t& end = ends[Row(tracks.process[track])];
    if (tracks.tid[track] == 0 && !events[track].empty()) end = std::max(end, events[track].back().time);
  }
  std::string head, tail;
  for (uint32_t process = 0; process < ratios.size(); ++process) {
    if (!facts.IsShown(ProcessId{process})) continue;
    const Ratios written = WriteRatios(ratios[process], ends[process], trace.processes().pid[process]);
    head += written.before, tail += written.behind;
  }
  tail += ThreadNames(trace, facts);
  out->Write("{\"traceEvents\":[" + (head.empty() ? head : head.substr(1)));
  out->WriteBlocks<ChromeBuffer>(blocks.size(), [&](size_t number, ChromeBuffer* text) {
    const RowBlock& block = blocks[number];
    EventWriter writer(trace, facts);
    for (size_t i = block.begin; i < block.end; ++i)
      writer.Write(events[block.list][i], places[block.list], text);
  });
  out->Write(tail + "],\"metadata\":{\"localTime\":\"" + std::to_string(trace.info().epoch_ns) + "\"}}");
  LeaveOutOfMegEngine(trace, facts, out);
}

}  // namespace opscope
