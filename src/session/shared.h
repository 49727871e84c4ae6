// What the recordings of a session share: the flight recorder, and whether the session is started.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <utility>

#include "base/mutex.h"
#include "opscope/session.h"

namespace opscope {

struct Recording::Shared {
  explicit Shared(FlightOptions options) : flight(std::move(options)) {}

  // True if this process has started the session.
  bool is_started() const;
  Status StartFlight() {
    const MutexLock lock(mutex);
    return flight.Start();
  }
  void StopFlight() {
    const MutexLock lock(mutex);
    flight.Stop();
  }

  FlightRecorder flight;
  Mutex mutex;                         // of the flight recorder's start and stop
  std::atomic<pid_t> started_by{0};    // 0: not started
  std::atomic<int64_t> recordings{0};  // that were started
};

// The error of calls in a forked child.
inline Error ParentProcessError() {
  return {ErrorCode::kInvalidArgument, "the recording belongs to the parent process"};
}

}  // namespace opscope
