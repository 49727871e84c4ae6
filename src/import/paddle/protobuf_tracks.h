// The processes and tracks of Paddle's protobuf dump, numbered and named as in Paddle's JSON: two tracks per thread,
// one for Python calls and one for all others; a process per device, a track per stream.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/builder.h"

namespace opscope {

// Names of threads by their number in digits, and facts about the run.
using PaddleExtraInfo = std::vector<std::pair<std::string_view, std::string_view>>;

class PaddleTracks {
 public:
  explicit PaddleTracks(TraceBuilder* builder) : builder_(builder) {}

  TrackId TrackOf(uint64_t process, uint64_t thread, bool is_python);
  TrackId DeviceTrackOf(uint64_t device, uint64_t stream);
  // Call once, after the last event: the names are at the end of the file.
  void Name(const PaddleExtraInfo& names);

 private:
  ProcessId ProcessOf(bool is_device, uint64_t number);

  TraceBuilder* builder_;
  std::map<std::pair<bool, uint64_t>, ProcessId> processes_;
  std::map<std::tuple<uint64_t, uint64_t, bool>, TrackId> threads_;
  std::map<std::pair<uint64_t, uint64_t>, TrackId> streams_;
};

}  // namespace opscope
