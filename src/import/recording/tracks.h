// Creates processes, and tracks for threads and device streams, when they first occur.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "import/recording/chunk.h"
#include "import/recording/window.h"
#include "trace/builder.h"

namespace opscope {

class RecordingTracks {
 public:
  explicit RecordingTracks(TraceBuilder* builder) : builder_(builder) {}

  void NameProcess(int64_t pid, std::string_view name);
  ProcessId Process(int64_t pid);
  TrackId OfThread(int64_t pid, uint32_t thread_index);
  TrackId OfDevice(const Payload& payload);
  // The track of a thread, described by its chunks and by the window's facts, which may be null.
  void NameThread(std::span<const RecordingChunk> chunks, const WindowThread* facts, TrackId track);

 private:
  TraceBuilder* builder_;
  std::map<int64_t, ProcessId> processes_;
  std::map<int32_t, ProcessId> devices_;  // apart from processes_: process 1 is not device 1
  std::map<std::pair<int64_t, uint32_t>, TrackId> threads_;
  std::map<std::pair<int32_t, int32_t>, TrackId> streams_;
};

}  // namespace opscope
