// State of a Recording: its window, the sources that record into it, and its result.
//
// Thread rule: as said by each member.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "opscope/session.h"
#include "session/shared.h"

namespace opscope {

struct Recording::State {
  struct Started {
    SourceUse use;
    void* session = nullptr;
    uint64_t failures = 0;  // of the source before
  };
  enum class Phase : uint8_t { kNew, kRunning, kStopped, kRead };

  explicit State(RecordingOptions of) : options(std::move(of)) {}

  // Call it before locking the mutex: another thread may have held it at the fork.
  bool is_in_child() const {
    const pid_t by = process.load(std::memory_order_relaxed);
    return by != 0 && by != getpid();
  }
  Status Start() OPSCOPE_REQUIRES(mutex);
  Status StartSources(const std::vector<const char*>& overheads) OPSCOPE_REQUIRES(mutex);
  void StopSources() OPSCOPE_REQUIRES(mutex);
  void DeliverSources() OPSCOPE_REQUIRES(mutex);
  void Stop() OPSCOPE_REQUIRES(mutex);
  void FreeWindow() OPSCOPE_REQUIRES(mutex);
  Status CheckStopped() const OPSCOPE_REQUIRES(mutex);
  // REQUIRES for both: it was stopped.
  Result<SharedTrace> ImportWindow() OPSCOPE_REQUIRES(mutex);
  Result<SharedRecording> Retain() OPSCOPE_REQUIRES(mutex);

  // Constant from the start on.
  const RecordingOptions options;
  std::shared_ptr<Shared> shared;        // null: there is no session
  std::vector<SharedRecording> earlier;  // that it adds up with
  bool adds_up = false;
  std::atomic<pid_t> process{0};  // that has started it; relaxed: read by others only after a fork

  mutable Mutex mutex;
  std::string metadata OPSCOPE_GUARDED_BY(mutex);  // added before the start
  Phase phase OPSCOPE_GUARDED_BY(mutex) = Phase::kNew;
  Window* window OPSCOPE_GUARDED_BY(mutex) = nullptr;
  std::vector<Started> started OPSCOPE_GUARDED_BY(mutex);
  std::vector<Started> delivering OPSCOPE_GUARDED_BY(mutex);  // stopped, `deliver` still due
  uint64_t failures OPSCOPE_GUARDED_BY(mutex) = 0;            // of sources, not yet written into the metadata
  WindowCounts final_counts OPSCOPE_GUARDED_BY(mutex);
  SharedRecording kept OPSCOPE_GUARDED_BY(mutex);
  std::optional<Result<SharedTrace>> trace OPSCOPE_GUARDED_BY(mutex);
  std::optional<Result<SharedTrace>> all OPSCOPE_GUARDED_BY(mutex);
  std::atomic<bool> is_read{false};  // `trace` is complete and stays; read without the mutex in a child
};

}  // namespace opscope
