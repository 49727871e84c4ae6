// Places runtime calls outside of ops, CUPTI's overhead, and event records (CPU events for torch). torch gives all of
// them the thread that stops the profiler, whichever thread made the call, so they nest among the ops and ranges of
// that thread: cudaDeviceSynchronize within a step reduces the step's self time.
//
// The stopping thread is named by the metadata, else it is the main thread of the process. If it has no track, the
// calls nest only among themselves.
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <unordered_map>

#include "analysis/torch/function_event_list.h"
#include "analysis/torch/function_event_rules.h"

namespace opscope {
namespace {

// Finds for each process the track of the thread that stopped the profiler; TrackId::kNone if it has none.
class StoppingThreads {
 public:
  explicit StoppingThreads(const Trace& trace) : tracks_(trace.tracks()), processes_(trace.processes()) {
    const std::string_view text = MetadataText(trace, kStoppingThreadKey);
    std::from_chars(text.data(), text.data() + text.size(), stopping_tid_);
  }

  TrackId Of(ProcessId process) {
    if (process == ProcessId::kNone) return TrackId::kNone;
    const auto [found, is_new] = of_process_.try_emplace(Row(process), TrackId::kNone);
    if (is_new) found->second = Find(process);
    return found->second;
  }

 private:
  // CUPTI's overhead is in a process of its own with the same rank, so processes of the rank are searched too.
  TrackId Find(ProcessId process) const {
    TrackId track = InProcess(process);
    for (uint32_t other = 0; track == TrackId::kNone && other < processes_.size(); ++other) {
      if (processes_.rank[other] == processes_.rank[Row(process)]) track = InProcess(ProcessId{other});
    }
    return track;
  }

  TrackId InProcess(ProcessId process) const {
    const TrackId recorded_thread = TrackOf(process, stopping_tid_);
    return recorded_thread != TrackId::kNone ? recorded_thread : TrackOf(process, processes_.pid[Row(process)]);
  }

  TrackId TrackOf(ProcessId process, int64_t tid) const {
    for (uint32_t track = 0; track < tracks_.size(); ++track) {
      if (tracks_.process[track] != process || tracks_.tid[track] != tid) continue;
      if (tracks_.kind[track] == TrackKind::kThread) return TrackId{track};
    }
    return TrackId::kNone;
  }

  const TrackColumns tracks_;
  const ProcessColumns processes_;
  int64_t stopping_tid_ = -1;  // as the metadata names it; -1: unknown
  std::unordered_map<uint32_t, TrackId> of_process_;
};

}  // namespace

void PlaceUnlinkedCalls(const Trace& trace, EventListWork* work) {
  StoppingThreads threads(trace);
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
