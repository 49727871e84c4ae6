// SPDX-License-Identifier: Apache-2.0
#include "merge/sync_points.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "opscope/analysis/collectives.h"

namespace opscope {

namespace {

// By group and rank: each rank of a merged trace has seen a collective once.
using PointsOfRanks = std::map<std::string, std::map<int32_t, std::vector<SyncPoint>>>;

int32_t RankOf(const Trace& trace, SpanId span) {
  return trace.processes().rank[Row(trace.tracks().process[Row(trace.spans().track[Row(span)])])];
}

// Of each group those of the rank that has most.
SyncPoints OfOneRankEach(PointsOfRanks* all) {
  SyncPoints points;
  for (auto& [group, of_ranks] : *all) {
    const auto fewer = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
    points[group] = std::move(std::max_element(of_ranks.begin(), of_ranks.end(), fewer)->second);
  }
  return points;
}

}  // namespace

SyncPoints FindSyncPoints(const Trace& trace, std::span<const std::string> names) {
  PointsOfRanks points;
  const SpanColumns& spans = trace.spans();
  const auto end_of = [&](SpanId span) { return (spans.start[Row(span)] + spans.duration[Row(span)]).ns; };
  const auto is_finished = [&](SpanId span) { return (spans.flags[Row(span)] & span_flags::kUnfinished) == 0; };
  const Collectives collectives = FindCollectives(trace);
  for (const Collective& row : collectives.rows) {
    if (!EndsTogether(row.kind) || !is_finished(row.span)) continue;
    // The other kinds may have parts of different sizes on different ranks.
    const uint64_t elements = row.kind == CollectiveKind::kAllReduce ? row.elements : 0;
    const uint64_t label = (elements << 4) | static_cast<uint64_t>(row.kind);
    points[collectives.groups[row.group]][RankOf(trace, row.span)].push_back({end_of(row.span), label});
  }
  for (const std::string& name : names) {
    const std::optional<StringId> id = trace.FindString(name);
    if (!id) continue;
    for (size_t row = 0; row < spans.size(); ++row) {
      const auto span = static_cast<SpanId>(row);
      if (spans.name[row] == *id && is_finished(span))
        points["span " + name][RankOf(trace, span)].push_back({end_of(span), 0});
    }
  }
  return OfOneRankEach(&points);
}

}  // namespace opscope
