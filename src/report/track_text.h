// The name of a track in results: "PID/TID", as the input spells both.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/trace.h"

namespace opscope {

// The id of a thread or process as the input spells it: its text, or else the number.
[[nodiscard]] inline std::string NumberText(const Trace& trace, int64_t number, StringId text) {
  return text == StringId::kNone ? std::to_string(number) : std::string(trace.text(text));
}

// "" for kNone.
[[nodiscard]] inline std::string TrackText(const Trace& trace, TrackId track) {
  if (track == TrackId::kNone) return "";
  const TrackColumns& tracks = trace.tracks();
  const ProcessId process = tracks.process[Row(track)];
  std::string text;
  if (process != ProcessId::kNone)
    text = NumberText(trace, trace.processes().pid[Row(process)], trace.processes().pid_text[Row(process)]);
  return text + "/" + NumberText(trace, tracks.tid[Row(track)], tracks.tid_text[Row(track)]);
}

}  // namespace opscope
