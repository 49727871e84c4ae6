// The events of a few devices alternate, so remembering recent devices saves most searches in the map:
//
//   cpu +64, cuda:0 +512, cpu -64, cuda:0 -512      two searches, two finds in the table of recent devices
// SPDX-License-Identifier: Apache-2.0
#include "analysis/memory_events.h"

#include <algorithm>
#include <utility>

#include "analysis/steps_of_ranks.h"

namespace opscope {
namespace {

class EventsOfPlaces {
 public:
  std::vector<uint32_t>* Of(const MemoryPlace& place) {
    const uint32_t mixed = static_cast<uint32_t>(place.rank) * 37 + static_cast<uint32_t>(place.device_type) * 7 +
                           static_cast<uint32_t>(place.device);
    Recent& recent = recent_[mixed % std::size(recent_)];
    if (recent.events == nullptr || recent.place != place) recent = {place, &events_[place]};
    return recent.events;
  }
  std::map<MemoryPlace, std::vector<uint32_t>>& all() { return events_; }

 private:
  struct Recent {
    MemoryPlace place;
    std::vector<uint32_t>* events = nullptr;
  };
  std::map<MemoryPlace, std::vector<uint32_t>> events_;
  Recent recent_[64];
};

}  // namespace

std::map<MemoryPlace, std::vector<uint32_t>> MemoryEventsByPlace(const Trace& trace) {
  const AllocationColumns& allocations = trace.allocations();
  std::vector<int32_t> rank_of_track;
  for (uint32_t track = 0; track < trace.tracks().size(); ++track)
    rank_of_track.push_back(RankOfTrack(trace, TrackId{track}));
  EventsOfPlaces events;
  for (uint32_t row = 0; row < allocations.size(); ++row) {
    const uint32_t track = Row(allocations.track[row]);
    events
        .Of({.rank = track < rank_of_track.size() ? rank_of_track[track] : -1,
             .device_type = allocations.device_type[row],
             .device = allocations.device[row]})
        ->push_back(row);
  }
  const auto is_before = [&](uint32_t a, uint32_t b) { return allocations.time[a] < allocations.time[b]; };
  for (auto& [place, rows] : events.all())
    if (!std::is_sorted(rows.begin(), rows.end(), is_before)) std::stable_sort(rows.begin(), rows.end(), is_before);
  return std::move(events.all());
}

bool HasDeviceOfSeveralRanks(const std::map<MemoryPlace, std::vector<uint32_t>>& events) {
  std::map<std::pair<int32_t, int32_t>, size_t> ranks_of_device;
  for (const auto& [place, rows] : events)
    if (++ranks_of_device[{place.device_type, place.device}] > 1) return true;
  return false;
}

RowsByDevice TimelineRowsByDevice(const MemoryTimeline& timeline) {
  RowsByDevice rows;
  for (uint32_t row = 0; row < timeline.rows.size(); ++row)
    rows[{timeline.rows[row].device_type, timeline.rows[row].device}].push_back(row);
  return rows;
}

}  // namespace opscope
