// A recording that is over as a Trace: apart from recording.cc, so that a program that only records has no importer in
// it. SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "opscope/import.h"
#include "opscope/session.h"
#include "session/kept_recording.h"
#include "session/shared.h"

namespace opscope {

Result<Recording::SharedTrace> Recording::ReadTrace() {
  if (is_in_child() && is_read_.load(std::memory_order_acquire)) return *trace_;
  if (is_in_child()) return OfTheParent();
  const std::lock_guard lock(mutex_);
  if (const Status refused = RefuseUnlessStopped(); !refused.ok()) return refused.error();
  if (adds_up_ && trace_ == std::nullopt) {  // a recording that was read cannot be kept any more
    if (Result<SharedRecording> kept = KeepLocked(); !kept.ok()) return kept.error();
  }
  if (!trace_) {
    trace_ = kept_ != nullptr ? ImportKept({&kept_, 1}) : ImportWindow();
    FreeWindow();
    state_ = State::kRead;
    is_read_.store(true, std::memory_order_release);
  }
  return *trace_;
}

Result<Recording::SharedTrace> Recording::ReadAll() {
  if (earlier_.empty()) return ReadTrace();
  if (is_in_child()) return ImportKept(earlier_);
  {
    const std::lock_guard lock(mutex_);
    if (all_) return *all_;
  }
  const bool is_whole = is_over();
  const Result<std::vector<SharedRecording>> recordings = KeepAll();
  if (!recordings.ok()) return recordings.error();
  Result<SharedTrace> trace = ImportKept(recordings.value());
  const std::lock_guard lock(mutex_);
  if (is_whole && !all_) all_ = trace;
  return trace;
}

// Its own bytes among them where it is over.
Result<std::vector<SharedRecording>> Recording::KeepAll() {
  std::vector<SharedRecording> all = earlier_;
  if (is_in_child()) return all;
  const std::lock_guard lock(mutex_);
  if (state_ == State::kNew || state_ == State::kRunning) return all;
  Result<SharedRecording> own = KeepLocked();
  if (!own.ok()) return own.error();
  all.push_back(std::move(own).value());
  return all;
}

// REQUIRES: it was stopped, and the mutex is held.
Result<SharedRecording> Recording::KeepLocked() {
  if (kept_ != nullptr) return kept_;
  if (state_ == State::kRead) return Error{ErrorCode::kInvalidArgument, "the recording was already read"};
  DeliverSources();
  Result<SharedRecording> kept = KeepWindow(window_);
  if (!kept.ok()) return kept;
  kept_ = kept.value();
  FreeWindow();
  return kept_;
}

Result<Recording::SharedTrace> Recording::ImportWindow() {
  DeliverSources();
  std::vector<RecordingBlock> blocks;
  opscope_window_read(
      window_,
      [](void* context, uint16_t type, const void* data, uint64_t bytes) {
        static_cast<std::vector<RecordingBlock>*>(context)->push_back(
            {type, {static_cast<const std::byte*>(data), static_cast<size_t>(bytes)}});
      },
      &blocks);
  if (blocks.empty()) return Error{ErrorCode::kOutOfMemory, "memory is short"};
  Result<Trace> trace = ImportRecording(blocks);
  if (!trace.ok()) return trace.error();
  return SharedTrace(std::make_shared<Trace>(std::move(trace).value()));
}

}  // namespace opscope
