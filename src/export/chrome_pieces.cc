// Renders the texts that many events share once: escaped names, "pid" and "tid" of tracks, argument lists. A trace of a
// million spans has some thousand names; escaping per event would cost more than all other formatting. A name that
// needs no escape is not copied: the view points into the Trace.
// SPDX-License-Identifier: Apache-2.0
#include "export/chrome_pieces.h"

#include "base/text.h"

namespace opscope {
std::string ChromeIdentity(const Trace& trace, int64_t number, StringId text) {
  std::string out;
  if (text == StringId::kNone) {
    AppendInt(&out, number);
  } else {
    AppendJsonString(&out, trace.text(text));
  }
  return out;
}

ChromePieces::ChromePieces(const Trace& trace) : slot_(trace.string_count(), 0), arguments_(trace) {
  // Mark the used ids first, one store per row. Index 0 stands for kNone.
  std::vector<uint8_t> used(trace.string_count() + 1, 0);
  for (const std::span<const StringId> ids :
       {trace.spans().name, trace.spans().category, trace.spans().overload, trace.instants().name,
        trace.instants().category, trace.counters().name, trace.counters().series, trace.flows().name,
        trace.flows().category, trace.async_spans().name, trace.async_spans().category}) {
    for (const StringId id : ids)
      used[Row(id) + 1] = 1;
  }
  escaped_.push_back({});  // row 0: ""
  for (uint32_t id = Row(StringId::kEmpty) + 1; id < trace.string_count(); ++id) {
    if (used[id + 1] != 0) AddName(trace, StringId{id});
  }
  AddTracks(trace);
}

void ChromePieces::AddName(const Trace& trace, StringId id) {
  slot_[Row(id)] = static_cast<uint32_t>(escaped_.size());
  const std::string_view text = trace.text(id);
  std::string escaped;
  AppendJsonEscaped(&escaped, text);
  escaped_.push_back(escaped == text ? text : std::string_view(owned_.emplace_back(std::move(escaped))));
}

void ChromePieces::AddTracks(const Trace& trace) {
  const TrackColumns& tracks = trace.tracks();
  const ProcessColumns& processes = trace.processes();
  tracks_.resize(tracks.size());
  for (size_t i = 0; i < tracks.size(); ++i) {
    const uint32_t process = Row(tracks.process[i]);
    tracks_[i] = "\"pid\":" + ChromeIdentity(trace, processes.pid[process], processes.pid_text[process]) +
                 ",\"tid\":" + ChromeIdentity(trace, tracks.tid[i], tracks.tid_text[i]);
  }
}

}  // namespace opscope
