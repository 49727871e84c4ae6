// Chunk k of a thread contains the number of records before it. If that is more than the records read up to chunk k-1,
// the thread went on writing into k-1 after it was read: the records in between are missing, and everything from k on
// is newer than the snapshot.
//
//   chunk 4: read with 50 records     chunk 5: "300 before me", read up to 4: 250     -> cut before 5
//
// If old chunks are recycled, there may also be a gap at the front; then the longest run without a gap is kept.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/trim_to_snapshot.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "import/recording/window_index.h"

namespace opscope {
namespace {

// True if the thread wrote more into `chunk` before `next` than was read of it.
bool WasReadEarlier(const RecordingChunk& chunk, const RecordingChunk& next) {
  return next.sequence() == chunk.sequence() + 1 &&
         next.recorded_before() != chunk.recorded_before() + chunk.record_count();
}

// Everything behind a chunk that was read too early is newer than the snapshot.
std::span<const RecordingChunk> UpToAGap(std::span<const RecordingChunk> chunks, bool damaged) {
  if (!damaged && !chunks.empty() && chunks.front().sequence() != 0) return {};
  for (size_t i = 0; i + 1 < chunks.size(); ++i) {
    const bool is_missing = !damaged && chunks[i + 1].sequence() > chunks[i].sequence() + 1;
    if (is_missing || WasReadEarlier(chunks[i], chunks[i + 1])) return chunks.first(i + 1);
  }
  return chunks;
}

// If the oldest chunks are recycled, the remaining old ones are before the gap and the new ones behind it.
std::span<const RecordingChunk> LongestRun(std::span<const RecordingChunk> chunks) {
  std::span<const RecordingChunk> longest;
  uint64_t most = 0;
  for (size_t begin = 0, end = 0; begin < chunks.size(); begin = end) {
    uint64_t records = chunks[begin].record_count();
    for (end = begin + 1; end < chunks.size(); ++end) {
      if (chunks[end].sequence() > chunks[end - 1].sequence() + 1 || WasReadEarlier(chunks[end - 1], chunks[end]))
        break;
      records += chunks[end].record_count();
    }
    if (!longest.empty() && records < most) continue;
    longest = chunks.subspan(begin, end - begin);
    most = records;
  }
  return longest;
}

}  // namespace

uint64_t TrimToSnapshot(const std::vector<WindowInfo>& windows, bool damaged, std::vector<RecordingChunk>* chunks) {
  if (std::none_of(windows.begin(), windows.end(), [](const WindowInfo& window) { return window.is_live; })) return 0;
  const WindowIndex index(windows);
  std::vector<RecordingChunk> kept;
  kept.reserve(chunks->size());
  for (size_t begin = 0, end = 0; begin < chunks->size(); begin = end) {
    end = begin + 1;
    while (end < chunks->size() && AreOfOneStream((*chunks)[begin], (*chunks)[end]))
      ++end;
    const auto all = std::span<const RecordingChunk>(*chunks).subspan(begin, end - begin);
    const WindowInfo* window = index.Window(all.front());
    const bool is_live = window != nullptr && window->is_live;
    const auto good = !is_live ? all : window->keeps_newest ? LongestRun(all) : UpToAGap(all, damaged);
    kept.insert(kept.end(), good.begin(), good.end());
  }
  const uint64_t left_out = chunks->size() - kept.size();
  *chunks = std::move(kept);
  return left_out;
}

}  // namespace opscope
