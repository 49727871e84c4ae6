// A window of the timeline (opscope/analysis/timeline_window.h) as JSON: the members "tracks", "kept" and "folded" of
// the data document, with the strings that they refer to (docs/reference/view_server.md).
//
//   std::string json = TimelineWindowJson(trace, TimelineWindow(trace, spans, range));
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/analysis/timeline_levels.h"
#include "opscope/trace.h"

namespace opscope {

// {"pixel_ns": ..., "strings": [...], "timeline": {"tracks": [...], "kept": {...}, "folded": {...}}}. `kept` has a
// column more than the data document, "row": rows of trace.spans(). Throws std::bad_alloc.
[[nodiscard]] std::string TimelineWindowJson(const Trace& trace, const TimelineLevels& levels);

// {"tracks": [...]}: all tracks with spans, with the members of the data document's tracks but "kept". `rows` counts
// the lines of all spans. O(spans). Throws std::bad_alloc.
[[nodiscard]] std::string TimelineTracksJson(const Trace& trace, const TimelineSpans& spans);

}  // namespace opscope
