// Reads a finished recording as a Trace. Apart from recording.cc, so that a program that only records links
// no importer.
//
// The first read imports the window's blocks and frees the window; the result, an error included, is kept.
// If recordings add up, their bytes are copied first (retained_recording.h), because a window can be read only
// once.
// SPDX-License-Identifier: Apache-2.0
#include <new>
#include <utility>
#include <vector>

#include "base/catch_bad_alloc.h"
#include "opscope/import.h"
#include "opscope/session.h"
#include "session/recording_state.h"
#include "session/retained_recording.h"

namespace opscope {
namespace {

struct WindowBlocks {
  std::vector<RecordingBlock> blocks;
  bool is_short = false;
};

// The recorder calls it: nothing may be thrown through there.
void AddWindowBlock(void* context, uint16_t type, const void* data, uint64_t bytes) {
  auto* to = static_cast<WindowBlocks*>(context);
  try {
    to->blocks.push_back({type, {static_cast<const std::byte*>(data), static_cast<size_t>(bytes)}});
  } catch (const std::bad_alloc&) {
    to->is_short = true;
  }
}

}  // namespace

Result<Recording::SharedTrace> Recording::ReadTrace() {
  State& state = *state_;
  if (state.is_in_child()) {
    state.mutex.AssertHeld();  // or as good as: what was read stays as it is
    if (state.is_read.load(std::memory_order_acquire) && state.trace) return *state.trace;
    return ParentProcessError();
  }
  return CatchBadAlloc("the recording", [&state]() -> Result<SharedTrace> {
    const MutexLock lock(state.mutex);
    OPSCOPE_TRY(state.CheckStopped());
    if (state.adds_up && !state.trace) OPSCOPE_TRY(state.Retain());  // one that was read cannot be kept any more
    if (!state.trace) {
      state.trace = state.kept != nullptr ? ImportRetained({&state.kept, 1}) : state.ImportWindow();
      state.FreeWindow();
      state.phase = State::Phase::kRead;
      state.is_read.store(true, std::memory_order_release);
    }
    return *state.trace;
  });
}

Result<Recording::SharedTrace> Recording::ReadAll() {
  State& state = *state_;
  if (state.earlier.empty()) return ReadTrace();
  if (state.is_in_child()) return ImportRetained(state.earlier);
  return CatchBadAlloc("the recordings", [&]() -> Result<SharedTrace> {
    {
      const MutexLock lock(state.mutex);
      if (state.all) return *state.all;
    }
    const bool is_whole = is_over();
    const Result<std::vector<SharedRecording>> recordings = RetainAll();
    if (!recordings.ok()) return recordings.error();
    Result<SharedTrace> trace = ImportRetained(recordings.value());
    const MutexLock lock(state.mutex);
    if (is_whole && !state.all) state.all = trace;
    return trace;
  });
}

// Its own bytes among them where it is over.
Result<std::vector<SharedRecording>> Recording::RetainAll() {
  std::vector<SharedRecording> all = state_->earlier;
  if (state_->is_in_child()) return all;
  const MutexLock lock(state_->mutex);
  if (state_->phase == State::Phase::kNew || state_->phase == State::Phase::kRunning) return all;
  Result<SharedRecording> own = state_->Retain();
  if (!own.ok()) return own.error();
  all.push_back(std::move(own).value());
  return all;
}

Result<SharedRecording> Recording::State::Retain() {
  if (kept != nullptr) return kept;
  if (phase == Phase::kRead) return Error{ErrorCode::kInvalidArgument, "the recording was already read"};
  DeliverSources();
  Result<SharedRecording> bytes = RetainWindow(window);
  if (!bytes.ok()) return bytes;
  kept = bytes.value();
  FreeWindow();
  return kept;
}

Result<Recording::SharedTrace> Recording::State::ImportWindow() {
  DeliverSources();
  WindowBlocks read;
  opscope_window_read(window, &AddWindowBlock, &read);
  if (read.is_short || read.blocks.empty()) return Error{ErrorCode::kOutOfMemory, kOutOfMemoryText};
  Result<Trace> imported = ImportRecording(read.blocks);
  if (!imported.ok()) return imported.error();
  return SharedTrace(std::make_shared<Trace>(std::move(imported).value()));
}

}  // namespace opscope
