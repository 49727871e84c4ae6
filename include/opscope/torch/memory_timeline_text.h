// The memory timeline in the files that torch.profiler's export_memory_timeline
// writes.
//
//   const MemoryTimeline timeline = BuildMemoryTimeline(trace);
//   const MemoryByCategory sums = SumByCategory(timeline, {.type = 0}, trace.info().epoch_ns);
//   OPSCOPE_TRY(WriteText("memory.html", MemoryTimelineHtml(sums, "ResNet")));
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opscope/torch/memory_timeline.h"

namespace opscope {

// torch's `.json`: [times in us, [0, bytes by category in the order of
// MemoryCategory] by time].
[[nodiscard]] std::string MemoryTimelineJson(const MemoryByCategory& sums);
// torch's `.raw.json.gz` before compression: [time in ns or -1, action, bytes
// gained, category] by event. A write that changes the category loses bytes in one
// and gains them in the other.
[[nodiscard]] std::string MemoryTimelineRawJson(const MemoryTimeline& timeline, MemoryDevice device, int64_t epoch_ns);
// A self-contained page with the stacked areas as SVG, in torch's colours, and a
// table.
[[nodiscard]] std::string MemoryTimelineHtml(const MemoryByCategory& sums, std::string_view title);

}  // namespace opscope
