// Reads a finished recording as a Trace. Apart from recording.cc, so that a program that only records links
// no importer.
//
// The first read imports the window's blocks and frees the window; the result, an error included, is kept.
// If recordings add up, their bytes are copied first (kept_recording.h), because a window can be read only
// once.
// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "opscope/import.h"
#include "opscope/session.h"
#include "session/kept_recording.h"
#include "session/recording_life.h"

namespace opscope {

Result<Recording::SharedTrace> Recording::ReadTrace() {
  Life& life = *life_;
  if (life.is_in_child()) {
    life.mutex.AssertHeld();  // or as good as: what was read stays as it is
    if (life.is_read.load(std::memory_order_acquire) && life.trace) return *life.trace;
    return OfTheParent();
  }
  const MutexLock lock(life.mutex);
  if (const Status refused = life.RefuseUnlessStopped(); !refused.ok()) return refused.error();
  if (life.adds_up && !life.trace) {  // a recording that was read cannot be kept any more
    if (Result<SharedRecording> kept = life.Keep(); !kept.ok()) return kept.error();
  }
  if (!life.trace) {
    life.trace = life.kept != nullptr ? ImportKept({&life.kept, 1}) : life.ImportWindow();
    life.FreeWindow();
    life.state = Life::State::kRead;
    life.is_read.store(true, std::memory_order_release);
  }
  return *life.trace;
}

Result<Recording::SharedTrace> Recording::ReadAll() {
  Life& life = *life_;
  if (life.earlier.empty()) return ReadTrace();
  if (life.is_in_child()) return ImportKept(life.earlier);
  {
    const MutexLock lock(life.mutex);
    if (life.all) return *life.all;
  }
  const bool is_whole = is_over();
  const Result<std::vector<SharedRecording>> recordings = KeepAll();
  if (!recordings.ok()) return recordings.error();
  Result<SharedTrace> trace = ImportKept(recordings.value());
  const MutexLock lock(life.mutex);
  if (is_whole && !life.all) life.all = trace;
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
