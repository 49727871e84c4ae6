// Traces of small programs with devices for the tests of critical paths: threads, streams, launches, waits.
//
//   PathProgram program;
//   program.Add(program.Thread(0, 1), "cuda_runtime", "cudaLaunchKernel", 2, 4, 5);
//   program.Add(program.Stream(0, 0, 7), "kernel", "gemm", 12, 60, 5);
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/builder.h"

namespace opscope {

class PathProgram {
 public:
  TrackId Thread(int32_t rank, int64_t tid) { return Track(rank, TrackKind::kThread, tid, -1); }
  TrackId Stream(int32_t rank, int32_t device, int64_t number) {
    return Track(rank, TrackKind::kDeviceStream, number, device);
  }
  TrackId Other(int32_t rank) { return Track(rank, TrackKind::kOther, -1, -1); }

  AddedSpan Add(TrackId track, const char* category, const char* name, int64_t begin, int64_t end,
                uint32_t correlation = 0, uint8_t flags = 0) {
    return builder_.AddSpan({.start = {begin},
                             .duration = Timestamp{end} - Timestamp{begin},
                             .name = builder_.Intern(name),
                             .category = builder_.Intern(category),
                             .track = track,
                             .flags = flags,
                             .correlation = correlation});
  }
  void Step(TrackId track, int64_t number, int64_t begin, int64_t end) {
    const std::string name = "ProfilerStep#" + std::to_string(number);
    const AddedSpan span = Add(track, "user_annotation", name.c_str(), begin, end);
    builder_.AddStep(number, builder_.Intern(name), span);
  }
  void Flow(const char* category, TrackId start, int64_t start_time, TrackId end, int64_t end_time) {
    builder_.AddFlow({.category = builder_.Intern(category),
                      .start_time = {start_time},
                      .start_track = start,
                      .end_time = {end_time},
                      .end_track = end});
  }
  void Sync(TrackId track, const char* name, int64_t begin, int64_t end, uint32_t correlation,
            const std::vector<std::pair<const char*, int64_t>>& members) {
    std::string extra;
    for (const auto& [key, value] : members)
      extra += (extra.empty() ? "\"" : ", \"") + std::string(key) + "\": " + std::to_string(value);
    builder_.SetExtra(Add(track, "cuda_sync", name, begin, end, correlation), builder_.Intern(extra));
  }
  Trace Build() { return builder_.Build(); }

 private:
  TrackId Track(int32_t rank, TrackKind kind, int64_t tid, int32_t device) {
    return builder_.AddTrack({.process = builder_.AddProcess({.pid = 100 + rank, .rank = rank}),
                              .kind = kind,
                              .tid = tid,
                              .device = device});
  }

  TraceBuilder builder_;
};

}  // namespace opscope
