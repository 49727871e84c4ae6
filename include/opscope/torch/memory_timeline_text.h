// The memory timeline as the files that torch.profiler writes.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opscope/torch/memory_timeline.h"

namespace opscope {

// torch's files: [times in us, [0, bytes by category in the order of MemoryCategory] by time].
[[nodiscard]] std::string MemoryTimelineJson(const MemoryByCategory& sums);
// And [time in ns or -1, action, bytes gained, category] by event; a write loses in one category and gains in another.
[[nodiscard]] std::string MemoryTimelineRawJson(const MemoryTimeline& timeline, MemoryDevice device, int64_t epoch_ns);
// A page with the stacked areas as SVG, in torch's colours, and a table; it needs no other file.
[[nodiscard]] std::string MemoryTimelineHtml(const MemoryByCategory& sums, std::string_view title);

}  // namespace opscope
