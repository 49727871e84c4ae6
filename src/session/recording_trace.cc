// A recording that is over as a Trace: apart from recording.cc, so that a program that only records has no importer in
// it. SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "opscope/import.h"
#include "opscope/session.h"
#include "session/kept_recording.h"
#include "session/recording_life.h"

namespace opscope {

Result<Recording::SharedTrace> Recording::ReadTrace() {
  if (life_->is_in_child()) {
    if (!life_->is_read.load(std::memory_order_acquire)) return OfTheParent();
    life_->mutex.AssertHeld();  // or as good as: what was read stays as it is
    return *life_->trace;
  }
  const MutexLock lock(life_->mutex);
  if (const Status refused = life_->RefuseUnlessStopped(); !refused.ok()) return refused.error();
  if (life_->adds_up && life_->trace == std::nullopt) {  // a recording that was read cannot be kept any more
    if (Result<SharedRecording> kept = life_->Keep(); !kept.ok()) return kept.error();
  }
  if (!life_->trace) {
    life_->trace = life_->kept != nullptr ? ImportKept({&life_->kept, 1}) : life_->ImportWindow();
    life_->FreeWindow();
    life_->state = Life::State::kRead;
    life_->is_read.store(true, std::memory_order_release);
  }
  return *life_->trace;
}

Result<Recording::SharedTrace> Recording::ReadAll() {
  if (life_->earlier.empty()) return ReadTrace();
  if (life_->is_in_child()) return ImportKept(life_->earlier);
  {
    const MutexLock lock(life_->mutex);
    if (life_->all) return *life_->all;
  }
  const bool is_whole = is_over();
  const Result<std::vector<SharedRecording>> recordings = KeepAll();
  if (!recordings.ok()) return recordings.error();
  Result<SharedTrace> trace = ImportKept(recordings.value());
  const MutexLock lock(life_->mutex);
  if (is_whole && !life_->all) life_->all = trace;
  return trace;
}

// Its own bytes among them where it is over.
Result<std::vector<SharedRecording>> Recording::KeepAll() {
  std::vector<SharedRecording> all = life_->earlier;
  if (life_->is_in_child()) return all;
  const MutexLock lock(life_->mutex);
  if (life_->state == Life::State::kNew || life_->state == Life::State::kRunning) return all;
  Result<SharedRecording> own = life_->Keep();
  if (!own.ok()) return own.error();
  all.push_back(std::move(own).value());
  return all;
}

Result<SharedRecording> Recording::Life::Keep() {
  if (kept != nullptr) return kept;
  if (state == State::kRead) return Error{ErrorCode::kInvalidArgument, "the recording was already read"};
  DeliverSources();
  Result<SharedRecording> bytes = KeepWindow(window);
  if (!bytes.ok()) return bytes;
  kept = bytes.value();
  FreeWindow();
  return kept;
}

Result<Recording::SharedTrace> Recording::Life::ImportWindow() {
  DeliverSources();
  std::vector<RecordingBlock> blocks;
  opscope_window_read(
      window,
      [](void* context, uint16_t type, const void* data, uint64_t bytes) {
        static_cast<std::vector<RecordingBlock>*>(context)->push_back(
            {type, {static_cast<const std::byte*>(data), static_cast<size_t>(bytes)}});
      },
      &blocks);
  if (blocks.empty()) return Error{ErrorCode::kOutOfMemory, "memory is short"};
  Result<Trace> imported = ImportRecording(blocks);
  if (!imported.ok()) return imported.error();
  return SharedTrace(std::make_shared<Trace>(std::move(imported).value()));
}

}  // namespace opscope
