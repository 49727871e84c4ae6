// Paddle's recorder has a list per thread, in the order in which events ended: children before their parents, as
// records stand, but without depths. Those follow from the times.
// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/drain.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "opscope/paddle_source.h"
#include "opscope/recorder.h"
#include "sources/paddle/paddle_library.h"
#include "sources/streams/failures.h"

namespace opscope {
namespace {

using paddle_layout::CommonEvent;

constinit std::atomic<bool> runs{false};

void SetLevel(int32_t level) {
  __atomic_store_n(paddle.level, level, __ATOMIC_RELAXED);
}

// How many events of its thread are around each one.
std::vector<uint16_t> DepthsOf(const std::vector<CommonEvent>& events) {
  std::vector<uint32_t> order(events.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&events](uint32_t a, uint32_t b) {
    if (events[a].start_ns != events[b].start_ns) return events[a].start_ns < events[b].start_ns;
    if (events[a].end_ns != events[b].end_ns) return events[a].end_ns > events[b].end_ns;
    return a > b;  // what ended later is around
  });
  std::vector<uint16_t> depths(events.size());
  std::vector<uint64_t> open_ends;
  for (const uint32_t event : order) {
    while (!open_ends.empty() && open_ends.back() < events[event].end_ns)
      open_ends.pop_back();
    depths[event] = static_cast<uint16_t>(std::min<size_t>(open_ends.size(), 0xffff));
    open_ends.push_back(events[event].end_ns);
  }
  return depths;
}

void AppendThread(Window* window, const paddle_layout::ThreadEvents& thread) {
  if (thread.events.empty()) return;
  const TrackOptions options{
      .name = thread.thread_name.c_str(), .os_thread = thread.thread_id, .clock = TrackClock::kUnixNs};
  Stream* track = opscope_track_open(window, &options);
  if (track == nullptr) return CountFailure();
  const std::vector<uint16_t> depths = DepthsOf(thread.events);
  for (size_t i = 0; i < thread.events.size(); ++i) {
    const CommonEvent& event = thread.events[i];
    Record record{.start = event.start_ns,
                  .value = event.end_ns - event.start_ns,
                  .depth = depths[i],
                  .kind = RecordKind::kScope,
                  .source = RecordSource::kPaddle,
                  .scope = static_cast<uint8_t>(event.type)};
    if (event.type == static_cast<uint32_t>(PaddleEventType::kProfileStep)) record.flags = record_flags::kStep;
    AppendNamed(track, record, [&] { return InternText(track, event.name); }, 0, [](char*) {});
  }
  opscope_track_close(track);
}

}  // namespace

const char* StartDrain() {
  if (PaddleProfilerRuns() && !runs.load()) return "Paddle's own profiler runs, and its recorder serves one at a time";
  if (runs.exchange(true)) return "another recording empties Paddle's recorder already";
  try {
    paddle.gather(paddle.recorder);  // what nobody has fetched
  } catch (...) {
    runs.store(false);
    return "Paddle's recorder raised an error";
  }
  SetLevel(paddle.wanted_level != nullptr ? *paddle.wanted_level : 1);
  paddle.enable_recorder();
  return nullptr;
}

void StopDrain(Window* window) {
  paddle.disable_recorder();
  SetLevel(-1);
  try {
    const paddle_layout::HostEvents events = paddle.gather(paddle.recorder);
    for (const paddle_layout::ThreadEvents& thread : events.threads)
      AppendThread(window, thread);
  } catch (...) {
    CountFailure();
  }
  runs.store(false);
}

void LeaveDrain() {
  if (!runs.exchange(false)) return;
  paddle.disable_recorder();
  SetLevel(-1);
}

}  // namespace opscope
