// Sums device time per launching host span. Trace::launches is sorted by device span and the launches of a track are
// contiguous, so the relevant rows are found by binary search per track. The launchers are numbered densely
// (NumberSet): a vector by host span would touch memory for millions of spans that launch nothing.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/device_launches.h"

#include <algorithm>

#include "base/saturating.h"

namespace opscope {

DeviceLaunches::DeviceLaunches(const Trace& trace) {
  const TrackColumns& tracks = trace.tracks();
  const LaunchColumns& launches = trace.launches();
  has_device_ = std::find(tracks.kind.begin(), tracks.kind.end(), TrackKind::kDeviceStream) != tracks.kind.end();
  const auto for_each = [&](const auto& use) {
    for (size_t track = 0; track < tracks.size(); ++track) {
      if (tracks.kind[track] != TrackKind::kDeviceStream) continue;
      const SpanId first{tracks.first_span[track]}, end{tracks.first_span[track] + tracks.span_count[track]};
      const auto from = std::lower_bound(launches.span.begin(), launches.span.end(), first);
      for (auto at = static_cast<size_t>(from - launches.span.begin()); at < launches.size() && launches.span[at] < end;
           ++at) {
        const SpanKind kind = trace.spans().kind[Row(launches.span[at])];
        if (kind != SpanKind::kSynchronization && kind != SpanKind::kOther) use(at);
      }
    }
  };
  launchers_ = NumberSet::Of([&](const auto& use) { for_each([&](size_t at) { use(Row(launches.launcher[at])); }); });
  times_.resize(launchers_.size());
  for_each([&](size_t at) {
    int64_t& time = times_[launchers_.IndexOf(Row(launches.launcher[at]))];
    time = SaturatingAdd(time, trace.spans().duration[Row(launches.span[at])].ns);
  });
}

}  // namespace opscope
