// Places runtime calls outside of ops, CUPTI's overhead, and event records (CPU events for torch). torch gives all of
// them the thread that stops the profiler, whichever thread made the call, so they nest among the ops and ranges of
// that thread: cudaDeviceSynchronize within a step reduces the step's self time.
//
// The stopping thread is named by the metadata, else it is the main thread of the process. If it has no track, the
// calls nest only among themselves.
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "analysis/torch/function_event_list.h"
#include "analysis/torch/function_event_rules.h"

namespace opscope {
namespace {

// Finds for each process the track of the thread that stopped the profiler; TrackId::kNone if it has none.
class StoppingThreads {
 public:
  explicit StoppingThreads(const Trace& trace)
      : processes_(trace.processes()), of_process_(processes_.size(), TrackId::kNone) {
    const std::string_view text = MetadataText(trace, kStoppingThreadKey);
    int64_t stopping_tid = 0;
    const bool is_known = std::from_chars(text.data(), text.data() + text.size(), stopping_tid).ec == std::errc();
    if (is_known) SetWhereUnset(trace.tracks(), [&](uint32_t) { return stopping_tid; });
    SetWhereUnset(trace.tracks(), [&](uint32_t process) { return processes_.pid[process]; });
    for (uint32_t process = 0; process < of_process_.size(); ++process)
      if (of_process_[process] != TrackId::kNone) of_rank_.try_emplace(processes_.rank[process], of_process_[process]);
  }

  // CUPTI's overhead has a separate process with the same rank; then the first process of the rank with a track counts.
  TrackId Of(ProcessId process) const {
    if (process == ProcessId::kNone) return TrackId::kNone;
    if (of_process_[Row(process)] != TrackId::kNone) return of_process_[Row(process)];
    const auto found = of_rank_.find(processes_.rank[Row(process)]);
    return found == of_rank_.end() ? TrackId::kNone : found->second;
  }

 private:
  // Gives each process without a track the first one of the thread tid_of(process).
  template <typename TidOf>
  void SetWhereUnset(const TrackColumns& tracks, const TidOf& tid_of) {
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      if (tracks.kind[track] != TrackKind::kThread || tracks.process[track] == ProcessId::kNone) continue;
      const uint32_t process = Row(tracks.process[track]);
      if (of_process_[process] == TrackId::kNone && tracks.tid[track] == tid_of(process))
        of_process_[process] = TrackId{track};
    }
  }

  const ProcessColumns processes_;
  std::vector<TrackId> of_process_;
  std::unordered_map<int32_t, TrackId> of_rank_;
};

}  // namespace

void PlaceUnlinkedCalls(const Trace& trace, EventListWork* work) {
  const StoppingThreads threads(trace);
  FunctionEvents& events = work->events;
  for (size_t i = 0; i < events.size(); ++i) {
    if (work->lane[i] + 1 != work->lane_count) continue;
    const TrackId own = trace.spans().track[Row(events.span[i])];
    const TrackId track = own == TrackId::kNone ? own : threads.Of(trace.tracks().process[Row(own)]);
    if (track == TrackId::kNone) continue;
    work->lane[i] = Row(track);
    events.thread[i] = TorchThread(trace.tracks(), Row(track));
  }
}

}  // namespace opscope
