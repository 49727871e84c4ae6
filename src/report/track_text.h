// The name of a track in results: "PID/TID", as the input spells both.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/trace.h"

namespace opscope {

// "" for kNone.
[[nodiscard]] inline std::string TrackText(const Trace& trace, TrackId track) {
  if (track == TrackId::kNone) return "";
  const auto id = [&](StringId text, int64_t number) {
    return text == StringId::kNone ? std::to_string(number) : std::string(trace.text(text));
  };
  const TrackColumns& tracks = trace.tracks();
  const ProcessId process = tracks.process[Row(track)];
  std::string text;
  if (process != ProcessId::kNone)
    text = id(trace.processes().pid_text[Row(process)], trace.processes().pid[Row(process)]);
  return text + "/" + id(tracks.tid_text[Row(track)], tracks.tid[Row(track)]);
}

}  // namespace opscope
