// Describes the tracks of the timeline: those of the data document, and all of them for a page that asks a server.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <vector>

#include "base/json_object.h"
#include "opscope/report/timeline_window.h"
#include "report/html/page_parts.h"

namespace opscope {
namespace {

std::string_view TrackKindText(TrackKind kind) {
  return kind == TrackKind::kThread ? "thread" : kind == TrackKind::kDeviceStream ? "stream" : "other";
}

// A name of a track is no longer than what a page shows in a line.
std::string CutTrackText(const std::string& text) {
  constexpr size_t kLongest = 1000;
  return CutText(text, kLongest);
}

}  // namespace

void AppendTrackMembers(const Trace& trace, uint32_t track, const ListedThread& listed, const std::string& id,
                        JsonObject* object) {
  const ProcessId process = trace.tracks().process[track];
  object->Uint("track", track).Text("id", CutTrackText(id));
  object->Text("title", CutTrackText(listed.name));
  object->Text("group", process == ProcessId::kNone ? std::string() : CutTrackText(ProcessText(trace, process)));
  object->Text("kind", TrackKindText(listed.kind)).Int("rank", listed.rank).Uint("spans", listed.spans);
}

std::string TimelineTracksJson(const Trace& trace, const TimelineSpans& spans) {
  const std::vector<ListedThread> listed = ListTracks(trace);
  const std::vector<std::string> ids = DistinctTrackIds(listed);
  std::string out;
  JsonObject whole(&out);
  std::string& list = whole.Key("tracks");
  list += '[';
  bool is_first = true;
  for (uint32_t track = 0; track < trace.tracks().size(); ++track) {
    if (trace.tracks().span_count[track] == 0) continue;
    if (!is_first) list += ',';
    is_first = false;
    JsonObject object(&list);
    AppendTrackMembers(trace, track, listed[track], ids[track], &object);
    object.Uint("rows", spans.RowsOf(track));
    object.Close();
  }
  list += ']';
  whole.Close();
  return out;
}

}  // namespace opscope
