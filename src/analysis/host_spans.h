// Host spans: what threads did, without the spans of steps and of the recording itself. Device annotations,
// synchronization spans of devices and profiler overhead lie on other tracks. docs/reference/analyses.md, "Words of the
// analyses", has the definitions.
//
//   HostSpans host(trace);
//   for (uint32_t track = 0; track < trace.tracks().size(); ++track)
//     host.ForEach(track, [&](uint32_t span) { if (host.IsCall(span)) ...; });
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/name_predicate.h"
#include "opscope/trace.h"

namespace opscope {

class HostSpans {
 public:
  // O(steps).
  explicit HostSpans(const Trace& trace);

  // Calls use(span) for each host span of the track, in the order of rows; a track that is no thread has none.
  template <typename Use>
  void ForEach(uint32_t track, Use use) const {
    const TrackColumns& tracks = trace_.tracks();
    if (tracks.kind[track] != TrackKind::kThread) return;
    const SpanColumns& spans = trace_.spans();
    const uint32_t first = tracks.first_span[track], end = first + tracks.span_count[track];
    auto step = std::lower_bound(steps_.begin(), steps_.end(), first);
    for (uint32_t span = first; span < end; ++span) {
      const bool is_step = step != steps_.end() && *step == span;
      if (is_step) ++step;
      if (is_step || (spans.flags[span] & span_flags::kAsync) != 0 || spans.category[span] == recording_) continue;
      use(span);
    }
  }

  // The following REQUIRE a host span.
  // An operator, a call of a library or a runtime: neither a range of the program nor a function of Python.
  bool IsCall(uint32_t span) const {
    const StringId category = trace_.spans().category[span];
    return category != annotation_ && category != python_function_;
  }
  // Waits for input data.
  bool IsInput(uint32_t span) {
    return trace_.spans().category[span] == data_loader_ || is_input_(trace_.spans().name[span]);
  }
  // May wait for a device: cudaDeviceSynchronize, cudaMemcpy, ...
  bool IsBlockingCall(uint32_t span) { return is_blocking_(trace_.spans().name[span]); }
  // A call of a process group: c10d::..., gloo:..., nccl:... Takes asynchronous spans of threads, too.
  bool IsCommunication(uint32_t span) { return is_communication_(trace_.spans().name[span]); }

 private:
  const Trace& trace_;
  std::vector<uint32_t> steps_;  // spans of steps, sorted
  // Categories; the value is one that no span has if the trace lacks the text.
  std::optional<StringId> recording_, annotation_, python_function_, data_loader_;
  NamePredicate is_input_, is_blocking_, is_communication_;
};

}  // namespace opscope
