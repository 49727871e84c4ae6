// Collects the works of a rank stream by stream, which are sorted runs, and merges the runs. The order by begin, then
// by end, is that of each stream too, so the work before another one on its stream has a lower index.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/critical_path_works.h"

#include <algorithm>
#include <span>
#include <utility>

#include "analysis/track_spans.h"
#include "base/huge_pages.h"
#include "base/natural_sort.h"

namespace opscope {

PathWorks::PathWorks(const std::vector<uint32_t>& streams, const std::vector<uint8_t>* selected,
                     DeviceAnalysisState* state)
    : start_(state->trace.spans().start.data()), duration_(state->trace.spans().duration.data()) {
  const TrackColumns& tracks = state->trace.tracks();
  const std::span<const TrackId> tracks_of_spans = state->trace.spans().track;
  size_t most = 0;
  for (const uint32_t track : streams)
    most += tracks.span_count[track];
  for (std::vector<uint32_t>* column : {&spans_, &launches_, &before_})
    ReserveOnHugePages(column, most);
  for (const uint32_t track : streams)
    state->finder.ForEach(track, selected, [&](uint32_t span, WorkClass) { spans_.push_back(span); });
  NaturalSort(&spans_, [&](uint32_t a, uint32_t b) {
    if (start_[a] != start_[b]) return start_[a] < start_[b];
    return duration_[a] != duration_[b] ? duration_[a] < duration_[b] : a < b;
  });
  launches_.resize(spans_.size(), kNoPathNode);
  before_.resize(spans_.size(), kNoPathNode);
  std::vector<uint32_t> last(streams.size(), kNoPathNode);  // work of each stream
  for (uint32_t work = 0; work < spans_.size(); ++work) {
    const SpanId launch = state->calls.LaunchOf(spans_[work]);
    if (launch != SpanId::kNone && IsSelected(selected, Row(launch))) launches_[work] = Row(launch);
    const auto stream = std::lower_bound(streams.begin(), streams.end(), Row(tracks_of_spans[spans_[work]]));
    before_[work] = std::exchange(last[static_cast<size_t>(stream - streams.begin())], work);
    window_ = {std::min(window_.begin, Begin(work)), std::max(window_.end, End(work))};
  }
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
