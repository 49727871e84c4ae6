// Collects the works of a rank stream by stream, which are sorted runs, and merges the runs. The order by begin, then
// by end, is that of each stream too, so the work before another one on its stream has a lower index.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/critical_path_works.h"

#include <algorithm>
#include <utility>

#include "base/saturating.h"
#include "base/sort_runs.h"

namespace opscope {

PathWorks::PathWorks(const std::vector<uint32_t>& streams, const std::vector<uint8_t>* selected,
                     DeviceAnalysisState* state)
    : columns_(state->trace.spans()) {
  const TrackColumns& tracks = state->trace.tracks();
  for (const uint32_t track : streams) {
    const uint32_t first = tracks.first_span[track], end = first + tracks.span_count[track];
    for (uint32_t span = first; span < end; ++span) {
      if (selected != nullptr && (*selected)[span] == 0) continue;
      if (state->finder.ClassOf(span)) spans_.push_back(span);
    }
  }
  SortRuns(&spans_, [&](uint32_t a, uint32_t b) {
    if (columns_.start[a] != columns_.start[b]) return columns_.start[a] < columns_.start[b];
    return columns_.duration[a] != columns_.duration[b] ? columns_.duration[a] < columns_.duration[b] : a < b;
  });
  launches_.resize(spans_.size(), kNoPathNode);
  before_.resize(spans_.size(), kNoPathNode);
  std::vector<uint32_t> last(streams.size(), kNoPathNode);  // work of each stream
  for (uint32_t work = 0; work < spans_.size(); ++work) {
    const SpanId launch = state->calls.LaunchOf(spans_[work]);
    if (launch != SpanId::kNone && (selected == nullptr || (*selected)[Row(launch)] != 0))
      launches_[work] = Row(launch);
    const auto stream = std::lower_bound(streams.begin(), streams.end(), Row(columns_.track[spans_[work]]));
    before_[work] = std::exchange(last[static_cast<size_t>(stream - streams.begin())], work);
    window_ = {std::min(window_.begin, Begin(work)), std::max(window_.end, End(work))};
  }
}

int64_t PathWorks::Begin(uint32_t work) const {
  return columns_.start[spans_[work]].ns;
}

int64_t PathWorks::End(uint32_t work) const {
  return SaturatingAdd(Begin(work), columns_.duration[spans_[work]].ns);
}

bool PathWorks::IsEmpty(uint32_t work) const {
  return Begin(work) == End(work);
}

int64_t PathWorks::LaunchBegin(uint32_t work) const {
  return columns_.start[launches_[work]].ns;
}

void PathWorks::SetStreamWaits(std::vector<std::pair<uint32_t, uint32_t>> waits) {
  if (waits.empty()) return;
  std::sort(waits.begin(), waits.end());
  waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
  has_waits_.resize(spans_.size());
  for (const auto& [work, awaited] : waits)
    has_waits_[work] = true;
  stream_waits_ = std::move(waits);
}

}  // namespace opscope
