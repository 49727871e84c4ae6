// Sorted by id and time, the ends of a flow follow its begin:
//
//   id 3: begin 10, end 12, end 15    two arrows from 10
//   id 4: end 20                      unpaired
//
// At one time a begin comes before an end.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/flows.h"

#include <algorithm>

namespace opscope {

void RecordingFlows::Join() {
  std::stable_sort(ends_.begin(), ends_.end(), [](const End& a, const End& b) {
    if (a.id != b.id) return a.id < b.id;
    if (a.time != b.time) return a.time < b.time;
    return a.is_end < b.is_end;
  });
  const StringId category = builder_->Intern("flow");
  uint64_t unpaired = 0;
  const End* begin = nullptr;
  bool begin_used = true;
  for (const End& end : ends_) {
    if (!end.is_end) {
      unpaired += begin_used ? 0 : 1;
      begin = &end;
      begin_used = false;
    } else if (begin == nullptr || begin->id != end.id) {
      ++unpaired;
    } else {
      begin_used = true;
      builder_->AddFlow({.id = end.id,
                         .category = category,
                         .name = begin->name,
                         .start_time = begin->time,
                         .start_track = begin->track,
                         .end_time = end.time,
                         .end_track = end.track});
    }
  }
  unpaired += begin_used ? 0 : 1;
  if (unpaired > 0) builder_->AddProblem("unpaired_flow", -1, unpaired);
}

}  // namespace opscope
