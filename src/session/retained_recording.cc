// Copies a window's blocks, so that its chunks go back to the pool before the next cycle records. Importing
// each cycle at once would be simpler, but the program would wait for it between two steps. When the copies
// reach half of max_bytes under keep_newest, the oldest recordings shrink to a few bytes of window
// information that counts their events as dropped.
// SPDX-License-Identifier: Apache-2.0
#include "session/retained_recording.h"

#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/catch_bad_alloc.h"
#include "opscope/import.h"
#include "opscope/record.h"

namespace opscope {
namespace {

constexpr uint64_t kMinBytes = uint64_t{1} << 16;  // for a recording when those before it have used all up

struct Copying {
  RetainedRecording* kept;
  bool is_short = false;
};

// The recorder calls it: nothing may be thrown through there.
void RetainBlock(void* context, uint16_t type, const void* data, uint64_t bytes) {
  auto& copying = *static_cast<Copying*>(context);
  try {
    copying.kept->blocks.push_back({type, std::string(static_cast<const char*>(data), static_cast<size_t>(bytes))});
    copying.kept->bytes += bytes;
  } catch (const std::bad_alloc&) {
    copying.is_short = true;
  }
}

// Replaces a recording without room by the count of its events, as dropped.
SharedRecording WithoutEvents(const RetainedRecording& recording) {
  auto left = std::make_shared<RetainedRecording>();
  left->dropped = recording.recorded + recording.dropped;
  std::string info = "{\"generation\":0,\"pid\":" + std::to_string(getpid()) +
                     ",\"threads\":[{\"index\":0,\"recorded\":0,\"dropped\":" + std::to_string(left->dropped) + "}]}";
  left->bytes = info.size();
  left->blocks.push_back({block_types::kWindowInfo, std::move(info)});
  return left;
}

}  // namespace

Result<SharedRecording> RetainWindow(const Window* window) {
  auto kept = std::make_shared<RetainedRecording>();
  Copying copying{kept.get()};
  opscope_window_read(window, &RetainBlock, &copying);
  if (copying.is_short || kept->blocks.empty()) return Error{ErrorCode::kOutOfMemory, kOutOfMemoryText};
  const WindowCounts counts = opscope_window_counts(window);
  kept->recorded = counts.recorded;
  kept->dropped = counts.dropped;
  return SharedRecording(std::move(kept));
}

uint64_t MakeRoom(uint64_t max_bytes, AtCap at_cap, std::vector<SharedRecording>* earlier) {
  uint64_t held = 0;
  for (const SharedRecording& each : *earlier)
    held += each->bytes;
  if (at_cap == AtCap::kKeepNewest) {
    for (SharedRecording& oldest : *earlier) {
      if (held <= max_bytes / 2) break;
      held -= oldest->bytes;
      oldest = WithoutEvents(*oldest);
      held += oldest->bytes;
    }
  }
  const uint64_t taken = std::min(held, max_bytes);
  return std::max(max_bytes - taken, std::min(kMinBytes, max_bytes));
}

Result<std::shared_ptr<const Trace>> ImportRetained(std::span<const SharedRecording> recordings) {
  std::vector<RecordingBlock> blocks;
  for (const SharedRecording& recording : recordings) {
    for (const RetainedRecording::Block& block : recording->blocks)
      blocks.push_back({block.type, std::as_bytes(std::span(block.bytes))});
  }
  Result<Trace> trace = ImportRecording(blocks);
  if (!trace.ok()) return trace.error();
  return std::shared_ptr<const Trace>(std::make_shared<Trace>(std::move(trace).value()));
}

}  // namespace opscope
