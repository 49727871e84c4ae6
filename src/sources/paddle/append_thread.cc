// The depth of a range is the number of ranges around it. Sorted by start, and the longer one first among equals, each
// range comes after all that contain it; a stack of the ends of open ranges then gives the depth.
// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/append_thread.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "base/saturating.h"
#include "opscope/recorder.h"
#include "sources/paddle/ranges.h"
#include "sources/streams/block_records.h"
#include "sources/streams/failures.h"

namespace opscope {
namespace {

// The number of ranges of the thread that contain each range.
std::vector<uint16_t> DepthsOf(std::span<const PaddleRange> ranges) {
  std::vector<uint32_t> order(ranges.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [ranges](uint32_t a, uint32_t b) {
    if (ranges[a].start_ns != ranges[b].start_ns) return ranges[a].start_ns < ranges[b].start_ns;
    if (ranges[a].end_ns != ranges[b].end_ns) return ranges[a].end_ns > ranges[b].end_ns;
    return a > b;  // the range that ended later contains the other
  });
  std::vector<uint16_t> depths(ranges.size());
  std::vector<uint64_t> open_ends;
  for (const uint32_t range : order) {
    while (!open_ends.empty() && open_ends.back() < ranges[range].end_ns)
      open_ends.pop_back();
    depths[range] = static_cast<uint16_t>(std::min<size_t>(open_ends.size(), 0xffff));
    open_ends.push_back(ranges[range].end_ns);
  }
  return depths;
}

Record RecordOf(const PaddleRange& range, uint16_t depth) {
  return {.start = range.start_ns,
          .value = range.end_ns - range.start_ns,
          .depth = depth,
          .kind = RecordKind::kScope,
          .flags = FlagsOf(range.event_type),
          .source = RecordSource::kPaddle,
          .scope = static_cast<uint8_t>(range.event_type)};
}

}  // namespace

void AppendPaddleThread(Window* window, const PaddleThreadEvents& thread) {
  if (thread.ranges.empty() && thread.blocks.empty()) return;
  const std::vector<uint16_t> depths = DepthsOf(thread.ranges);
  const TrackOptions options{.name = thread.name, .os_thread = thread.os_thread, .clock = TrackClock::kUnixNs};
  Stream* track = opscope_track_open(window, &options);
  if (track == nullptr) return CountFailure();
  for (size_t i = 0; i < thread.ranges.size(); ++i) {
    const PaddleRange& range = thread.ranges[i];
    AppendNamed(track, RecordOf(range, depths[i]), [&] { return InternText(track, range.name); }, 0, [](char*) {});
  }
  for (const PaddleBlock& block : thread.blocks) {
    const uint8_t flags = block.bytes < 0 ? record_flags::kFreed : uint8_t{0};
    AppendHostBlock(
        track, RecordSource::kPaddle, [&] { return block.time_ns; }, block.address,
        static_cast<uint64_t>(SaturatingAbs(block.bytes)), flags);
  }
  opscope_track_close(track);
}

}  // namespace opscope
