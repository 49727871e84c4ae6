// Joins begins and ends of flows after all threads were read, because they may be on different threads.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trace/builder.h"

namespace opscope {

class RecordingFlows {
 public:
  explicit RecordingFlows(TraceBuilder* builder) : builder_(builder) {}

  struct End {
    uint64_t id = 0;
    Timestamp time;
    bool is_end = false;
    TrackId track = TrackId::kNone;
    StringId name = StringId::kEmpty;
  };
  void Add(const End& end) { ends_.push_back(end); }
  // A begin is joined to every end of its id that comes after it and before the next begin of that id; the others
  // are counted in a problem.
  void Join();

 private:
  TraceBuilder* builder_;
  std::vector<End> ends_;
};

}  // namespace opscope
