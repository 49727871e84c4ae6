// Recognizes the span "PyTorch Profiler (0)", which Kineto writes over the whole recording. It is no work of the
// program, so tables and flame graphs leave it out. It has the category "Trace", and its pid and tid are texts. O(1)
// per span.
//
// Thread rule: immutable, any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

class RecordingWindow {
 public:
  explicit RecordingWindow(const Trace& trace) : spans_(trace.spans()), category_(trace.FindString("Trace")) {
    const TrackColumns& tracks = trace.tracks();
    for (size_t track = 0; category_ && track < tracks.size(); ++track) {
      const ProcessId process = tracks.process[track];
      const bool has_texts = tracks.tid_text[track] != StringId::kNone && process != ProcessId::kNone &&
                             trace.processes().pid_text[Row(process)] != StringId::kNone;
      has_texts_.push_back(has_texts ? 1 : 0);
    }
  }

  bool Is(size_t span) const {
    return category_ && has_texts_[Row(spans_.track[span])] != 0 && spans_.category[span] == *category_;
  }

 private:
  const SpanColumns& spans_;
  std::optional<StringId> category_;
  std::vector<uint8_t> has_texts_;  // by track
};

}  // namespace opscope
