// Writes everything of a Kineto file but its events: the members of the document, the metadata of the Trace, and the
// "M" events that name processes and threads. A recording of opscope also gets the names and the order that Kineto
// gives ("thread 12 (main)", label "CPU"), so that tools built for torch's files group it the same way. Values are
// checked to be JSON, because a foreign file may have stored anything.
// SPDX-License-Identifier: Apache-2.0
#include "export/chrome_head.h"

#include <algorithm>
#include <optional>

#include "base/json_members.h"
#include "base/metadata_keys.h"
#include "base/text.h"
#include "export/chrome_own_members.h"

namespace opscope {
namespace {

std::optional<std::string_view> FindMetadata(const Trace& trace, std::string_view key) {
  const MetadataColumns& metadata = trace.metadata();
  for (size_t i = 0; i < metadata.size(); ++i) {
    if (trace.text(metadata.key[i]) == key) return trace.text(metadata.json[i]);
  }
  return std::nullopt;
}

// A metadata value of a foreign file may not be JSON; it is then written as a string.
void AppendValue(std::string_view json, std::string* out) {
  if (IsJsonValue(json)) {
    out->append(json);
  } else {
    AppendJsonString(out, json);
  }
}

// What torch's files do not have. They identify the machine by its host name alone, so boot id and what is known of the
// clock are left out beside it.
bool IsUnknownToTorch(const Trace& trace, std::string_view key) {
  if (key == kThreadsKey || key == kProcessorsKey || key == kSoftwareKey || key == kOptionsKey) return true;
  return (key == kBootKey || key == kWallClockKey || key == kWallErrorKey) && FindMetadata(trace, kHostKey);
}

void AppendMembers(const Trace& trace, const ChromePlan& plan, const ChromePieces& pieces,
                   const std::vector<std::string>& left_out, std::string* out) {
  out->append("{\n  \"schemaVersion\": ");
  AppendValue(FindMetadata(trace, "schemaVersion").value_or("1"), out);
  out->append(",\n  \"deviceProperties\": ");
  AppendValue(FindMetadata(trace, "deviceProperties").value_or("[]"), out);
  const MetadataColumns& metadata = trace.metadata();
  for (size_t i = 0; i < metadata.size(); ++i) {
    const std::string_view key = trace.text(metadata.key[i]);
    if (key == "schemaVersion" || key == "deviceProperties" || key == "displayTimeUnit" || key == "traceName" ||
        key == "baseTimeNanoseconds" || key == "traceEvents" || key == kOwnTracksKey || IsUnknownToTorch(trace, key) ||
        std::find(left_out.begin(), left_out.end(), key) != left_out.end()) {
      continue;
    }
    out->append(",\n  ");
    AppendJsonString(out, key);
    out->append(": ");
    AppendValue(trace.text(metadata.json[i]), out);
  }
  if (const std::string tracks = OwnTrackMembers(trace, plan, pieces); !tracks.empty())
    out->append(",\n  \"").append(kOwnTracksKey).append("\": ").append(tracks);
  out->append(",\n  \"displayTimeUnit\": ");
  AppendValue(FindMetadata(trace, "displayTimeUnit").value_or("\"ms\""), out);
  if (trace.info().epoch_ns != 0) {
    out->append(",\n  \"baseTimeNanoseconds\": ");
    AppendInt(out, trace.info().epoch_ns);
  }
  out->append(",\n  \"traceEvents\": [\n");
}

class NamingEvents {
 public:
  NamingEvents(Timestamp time, ChromeHead* head) : time_(time), head_(head) {}

  // `value`: JSON.
  void Add(std::string_view what, std::string_view ids, std::string_view key, std::string_view value) {
    std::string& out = head_->text;
    if (head_->has_events) out.append(",\n");
    out.append("{\"ph\":\"M\",\"name\":\"").append(what).append("\",\"ts\":");
    AppendMicros(&out, time_.ns);
    out.append(",").append(ids).append(",\"args\":{\"").append(key).append("\":").append(value).append("}}");
    head_->has_events = true;
  }
  void AddText(std::string_view what, std::string_view ids, std::string_view key, std::string_view text) {
    std::string value;
    AppendJsonString(&value, text);
    Add(what, ids, key, value);
  }
  void AddNumber(std::string_view what, std::string_view ids, std::string_view key, int64_t number) {
    std::string value;
    AppendInt(&value, number);
    Add(what, ids, key, value);
  }

 private:
  Timestamp time_;
  ChromeHead* head_;
};

void NameProcess(const Trace& trace, ProcessId process, bool recorded, NamingEvents* events) {
  const ProcessColumns& processes = trace.processes();
  const uint32_t row = Row(process);
  const std::string ids =
      "\"pid\":" + ChromeIdentity(trace, processes.pid[row], processes.pid_text[row]) + ",\"tid\":0";
  if (processes.name[row] != StringId::kNone) {
    events->AddText("process_name", ids, "name", trace.text(processes.name[row]));
  }
  if (processes.labels[row] != StringId::kNone) {
    events->AddText("process_labels", ids, "labels", trace.text(processes.labels[row]));
  } else if (recorded) {
    events->AddText("process_labels", ids, "labels", "CPU");
  }
  if (ChromePlan::IsSpansProcess(trace, process)) return;  // WriteSpansOrder writes its sort index after its spans
  if (processes.sort_index[row] != INT64_MIN) {
    events->AddNumber("process_sort_index", ids, "sort_index", processes.sort_index[row]);
  } else if (recorded) {
    events->AddNumber("process_sort_index", ids, "sort_index", processes.pid[row]);
  }
}

// `suffix`: of the name, "" for the track's own row; `ids`: of the row.
void NameTrack(const Trace& trace, TrackId track, bool recorded, std::string_view suffix, std::string_view ids,
               NamingEvents* events) {
  const TrackColumns& tracks = trace.tracks();
  const uint32_t row = Row(track);
  std::string name(trace.text(tracks.name[row]));
  const bool is_recorded_thread = recorded && tracks.kind[row] == TrackKind::kThread;
  if (is_recorded_thread && !name.starts_with("thread ")) {
    std::string full = "thread ";
    AppendInt(&full, tracks.tid[row]);
    full.append(" (").append(name).append(")").append(suffix);
    events->AddText("thread_name", ids, "name", full);
  } else if (tracks.name[row] != StringId::kNone) {
    events->AddText("thread_name", ids, "name", name.append(suffix));
  } else if (!suffix.empty()) {  // a row for crossing spans: its own number means nothing to the user
    std::string of_thread = "thread ";
    if (tracks.tid_text[row] == StringId::kNone) {
      AppendInt(&of_thread, tracks.tid[row]);
    } else {
      of_thread.append(trace.text(tracks.tid_text[row]));
    }
    events->AddText("thread_name", ids, "name", of_thread.append(suffix));
  }
  if (tracks.sort_index[row] != INT64_MIN) {
    events->AddNumber("thread_sort_index", ids, "sort_index", tracks.sort_index[row]);
  } else if (is_recorded_thread) {
    events->AddNumber("thread_sort_index", ids, "sort_index", tracks.tid[row]);
  }
}

}  // namespace

ChromeHead MakeChromeHead(const Trace& trace, const ChromePlan& plan, const ChromePieces& pieces,
                          const std::vector<std::string>& left_out) {
  ChromeHead head;
  AppendMembers(trace, plan, pieces, left_out, &head.text);
  NamingEvents events(plan.first_time(), &head);
  const TrackColumns& tracks = trace.tracks();
  const ProcessColumns& processes = trace.processes();
  const auto same_process = [&](uint32_t a, uint32_t b) {
    return processes.pid[a] == processes.pid[b] && processes.pid_text[a] == processes.pid_text[b];
  };
  for (size_t i = 0; i < plan.tracks().size(); ++i) {
    const TrackId track = plan.tracks()[i];
    const ProcessId process = tracks.process[Row(track)];
    if (i == 0 || !same_process(Row(process), Row(tracks.process[Row(plan.tracks()[i - 1])]))) {
      NameProcess(trace, process, plan.recorded(), &events);
    }
    if (i == 0 || !ChromePlan::SameRow(trace, plan.tracks()[i - 1], track)) {
      NameTrack(trace, track, plan.recorded(), "", pieces.track(track), &events);
    }
  }
  for (const ChromeLane& lane : plan.lanes().lanes())
    NameTrack(trace, lane.track, plan.recorded(), ", crossing", pieces.track_with(lane.track, lane.tid), &events);
  return head;
}

std::string MakeChromeTail(const Trace& trace, std::string_view trace_name) {
  std::string tail = "\n  ], \"traceName\": ";
  const auto own_name = FindMetadata(trace, "traceName");
  if (trace_name.empty() && own_name) {
    AppendValue(*own_name, &tail);
  } else {
    AppendJsonString(&tail, trace_name);
  }
  tail.append("}\n");
  return tail;
}

}  // namespace opscope
