// Paddle's recorder is enabled without its profiler, so that Paddle collects events in its own memory, and is emptied
// when the recording stops. A thread that is inside an event at that moment still writes it: hence the grace period.
// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/drain.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "opscope/paddle_source.h"
#include "sources/paddle/append_thread.h"
#include "sources/paddle/paddle_library.h"
#include "sources/streams/failures.h"

namespace opscope {
namespace {

using paddle_layout::CommonEvent;

// A thread that is in RecordEvent::End when the recorder is switched off still writes its event into the block that
// gathering frees. It has this long to do so, which covers a few time slices of other threads.
constexpr std::chrono::milliseconds kGrace{10};

constinit std::atomic<bool> runs{false};

void SetLevel(int32_t level) {
  __atomic_store_n(paddle.level, level, __ATOMIC_RELAXED);
}

void AppendThread(Window* window, const paddle_layout::ThreadEvents& thread) {
  std::vector<PaddleRange> ranges;
  ranges.reserve(thread.events.size());
  for (const CommonEvent& event : thread.events)
    ranges.push_back({event.name, event.start_ns, event.end_ns, event.type});
  AppendPaddleThread(window, {thread.thread_name.c_str(), thread.thread_id, ranges, {}});
}

}  // namespace

const char* StartDrain() {
  if (PaddleProfilerRuns() && !runs.load()) return "Paddle's own profiler runs, and its recorder serves one at a time";
  if (runs.exchange(true)) return "another recording empties Paddle's recorder already";
  try {
    paddle.gather(paddle.recorder);  // discards earlier events
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
  std::this_thread::sleep_for(kGrace);
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
