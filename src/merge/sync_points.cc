// SPDX-License-Identifier: Apache-2.0
#include "merge/sync_points.h"

#include <optional>

#include "opscope/analysis/collectives.h"

namespace opscope {

SyncPoints FindSyncPoints(const Trace& trace, std::span<const std::string> names) {
  SyncPoints points;
  const SpanColumns& spans = trace.spans();
  const auto end_of = [&](SpanId span) { return (spans.start[Row(span)] + spans.duration[Row(span)]).ns; };
  const auto is_finished = [&](SpanId span) { return (spans.flags[Row(span)] & span_flags::kUnfinished) == 0; };
  const Collectives collectives = FindCollectives(trace);
  for (const Collective& row : collectives.rows) {
    if (!EndsTogether(row.kind) || !is_finished(row.span)) continue;
    // The other kinds may have parts of different sizes on different ranks.
    const uint64_t elements = row.kind == CollectiveKind::kAllReduce ? row.elements : 0;
    const uint64_t label = (elements << 4) | static_cast<uint64_t>(row.kind);
    points[collectives.groups[row.group]].push_back({end_of(row.span), label});
  }
  for (const std::string& name : names) {
    const std::optional<StringId> id = trace.FindString(name);
    if (!id) continue;
    for (size_t row = 0; row < spans.size(); ++row) {
      const auto span = static_cast<SpanId>(row);
      if (spans.name[row] == *id && is_finished(span)) points["span " + name].push_back({end_of(span), 0});
    }
  }
  return points;
}

}  // namespace opscope
