// Sync points are the ends of collectives that hold every rank until all have arrived (EndsTogether,
// opscope/analysis/collectives.h), and the ends of spans that the user names. Only finished spans count: an end that
// the close of the window cut off is no common moment. An all-reduce has its element count in its label; the other
// kinds may differ in size between ranks and have the kind alone.
// SPDX-License-Identifier: Apache-2.0
#include "merge/sync_points.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "opscope/analysis/collectives.h"

namespace opscope {

namespace {

// By group, then rank: in a merged trace every rank has its own span of one collective.
using PointsOfRanks = std::map<std::string, std::map<int32_t, std::vector<SyncPoint>>>;

int32_t RankOf(const Trace& trace, SpanId span) {
  return trace.processes().rank[Row(trace.tracks().process[Row(trace.spans().track[Row(span)])])];
}

// For each group the points of the rank with the most points.
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
    // Ranks may pass different sizes to the other kinds, and labels must be equal on all ranks.
    const uint64_t elements = row.kind == CollectiveKind::kAllReduce ? row.elements : 0;
    const uint64_t label = (elements << 4) | static_cast<uint64_t>(row.kind);
    points[collectives.groups[row.group]][RankOf(trace, row.span)].push_back({end_of(row.span), label, row.number});
  }
  for (const std::string& name : names) {
    const std::optional<StringId> id = trace.FindString(name);
    if (!id) continue;
    for (size_t row = 0; row < spans.size(); ++row) {
      const auto span = static_cast<SpanId>(row);
      if (spans.name[row] == *id && is_finished(span))
        points["span " + name][RankOf(trace, span)].push_back({end_of(span), 0, std::nullopt});
    }
  }
  return OfOneRankEach(&points);
}

}  // namespace opscope
