// The fake Paddle's libpaddle.so: what gathers the recorder's events (paddle_core.cc).
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "fakes/paddle_core.h"

namespace fake_paddle {

HostEvents Gather(Recorder* recorder) __asm__("_ZN3phi17HostEventRecorderINS_11CommonEventEE12GatherEventsEv");

__attribute__((visibility("default"))) HostEvents Gather(Recorder* recorder) {
  recorder->gathered_ns = SteadyNs();
  HostEvents host{.name = "main", .id = 1, .threads = {}};
  host.threads.push_back({.name = "worker", .id = 77, .events = std::exchange(recorder->events, {})});
  return host;
}

}  // namespace fake_paddle
