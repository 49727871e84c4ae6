// Records of MegEngine's recorder (RecordKind::kNative), which are replayed after all threads were read.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/megengine/replay.h"
#include "import/recording/clock.h"
#include "import/recording/part.h"
#include "trace/builder.h"

namespace opscope {

class RecordingNative {
 public:
  RecordingNative(TraceBuilder* builder, const TickClock* clock) : builder_(builder), clock_(clock) {}

  // Adds the parts of one window, in order. `parts` outlives Finish.
  void Add(ProcessId process, int64_t pid, std::span<RecordingPart> parts);
  void Finish();

 private:
  struct Window {
    ProcessId process;
    int64_t pid;
    std::span<RecordingPart> parts;
  };
  template <typename Visit>
  void ForEach(const Window& window, bool with_payloads, const Visit& visit);
  // False: damaged.
  bool Read(const RecordingPart& part, const PartEvent& event, bool with_payload, MegEngineRecord* record);
  uint64_t MembersId(std::string_view members);

  TraceBuilder* builder_;
  const TickClock* clock_;
  std::vector<Window> windows_;
  std::unordered_map<std::string_view, uint64_t> members_;
};

// The unix time in nanoseconds at which another recorder began, from the chunk's first record. 0: the chunk has no
// records of another recorder.
[[nodiscard]] int64_t NativeStart(const RecordingChunk& chunk);

}  // namespace opscope
