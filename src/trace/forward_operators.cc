// Numbers the threads of forward passes, then lets ForwardMatch join the spans.
//
// A recording has torch's number of each thread (logical_thread). A Kineto file has torch's number at backward
// functions only, and threads have the numbers of the operating system; there the fwdbwd arrows give the thread of a
// number. Threads without such an arrow share one number.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/forward_operators.h"

#include <tsl/robin_map.h>

#include <cstdint>

#include "base/column.h"
#include "base/hash.h"
#include "trace/forward_match.h"

namespace opscope {
namespace {

class ForwardThreads {
 public:
  explicit ForwardThreads(const Trace& trace) : tracks_(trace.tracks()), spans_(trace.spans()) {
    thread_of_track_.assign(tracks_.logical_thread.begin(), tracks_.logical_thread.end());
    has_numbers_.assign(trace.processes().size(), 0);
    for (size_t track = 0; track < tracks_.size(); ++track) {
      if (tracks_.logical_thread[track] != 0) has_numbers_[Row(tracks_.process[track])] = 1;
    }
    const FlowColumns& flows = trace.flows();
    const std::optional<StringId> fwdbwd = trace.FindString("fwdbwd");
    for (size_t i = 0; fwdbwd && i < flows.size(); ++i) {
      if (flows.category[i] == *fwdbwd && flows.end_span[i] != SpanId::kNone) LearnFrom(flows, i);
    }
  }

  // Number of the span's own thread; threads of different processes get different numbers.
  uint64_t OfForward(uint32_t span) {
    const TrackId track = spans_.track[span];
    return NumberOf(tracks_.process[Row(track)], thread_of_track_[Row(track)]);
  }
  // Number of the thread of the forward pass of a backward function.
  uint64_t OfBackward(uint32_t span) {
    const ProcessId process = tracks_.process[Row(spans_.track[span])];
    const uint64_t thread = spans_.forward_thread[span];
    const bool is_known = has_numbers_[Row(process)] != 0 || learned_.contains(KeyOf(process, thread));
    return NumberOf(process, is_known ? thread : 0);
  }

 private:
  static uint64_t KeyOf(ProcessId process, uint64_t thread) { return uint64_t{Row(process)} << 48 ^ thread; }

  void LearnFrom(const FlowColumns& flows, size_t arrow) {
    const TrackId track = flows.start_track[arrow];
    if (track == TrackId::kNone) return;  // a damaged file
    const uint64_t thread = spans_.forward_thread[Row(flows.end_span[arrow])];
    const ProcessId process = tracks_.process[Row(track)];
    if (thread == 0 || has_numbers_[Row(process)] != 0) return;
    thread_of_track_[Row(track)] = thread;
    learned_.try_emplace(KeyOf(process, thread), 0u);
  }

  uint64_t NumberOf(ProcessId process, uint64_t thread) {
    return numbers_.try_emplace(KeyOf(process, thread), static_cast<uint32_t>(numbers_.size())).first->second;
  }

  const TrackColumns& tracks_;
  const SpanColumns& spans_;
  std::vector<uint64_t> thread_of_track_;  // torch's number, 0: not known
  std::vector<uint8_t> has_numbers_;       // by process: its tracks have torch's numbers
  tsl::robin_map<uint64_t, uint32_t, MixedHash> learned_, numbers_;
};

}  // namespace

std::vector<SpanId> FindForwardOperators(const Trace& trace) {
  const SpanColumns& spans = trace.spans();
  std::vector<SpanId> found(spans.size(), SpanId::kNone);
  Column<SequencedSpan> sequenced;
  for (uint32_t row = 0; row < spans.size(); ++row) {
    if (spans.sequence[row] >= 0) sequenced.push_back({spans.start[row] + spans.duration[row], row, 0});
  }
  if (sequenced.size() == 0) return found;
  SortByEnd(&sequenced);
  ForwardThreads threads(trace);
  ForwardMatch match;
  for (const SequencedSpan& span : sequenced.view()) {
    const uint32_t row = span.span;
    if (spans.forward_thread[row] == 0) {
      match.AddForward(ForwardMatch::KeyOf(threads.OfForward(row), spans.sequence[row]), spans.start[row], row);
    } else {
      const uint64_t key = ForwardMatch::KeyOf(threads.OfBackward(row), spans.sequence[row]);
      const ForwardMatch::Found forward = match.Take(key);
      if (forward.span != ForwardMatch::kNone) found[row] = SpanId{forward.span};
    }
  }
  return found;
}

}  // namespace opscope
