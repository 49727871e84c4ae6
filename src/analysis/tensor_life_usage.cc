// The begin of a tensor's life is an allocation of the memory that no other tensor covers, and its end frees what no
// other one covers then:
//
//   time 10  conv makes A at [0, 100)     +100    level 100
//   time 20  its view B at [40, 60)          0    level 100
//   time 30  A ends                        -80    level  20
//   time 40  relu makes C at [40, 90)      +30    level  50: B 20, C 30
//
// The names of the peak come from a second pass, over the tensors that live then: what A held at its begin has passed to
// B when A ends.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/tensor_life_usage.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "analysis/intervals.h"
#include "analysis/memory_usage_rows.h"
#include "analysis/steps_of_ranks.h"
#include "analysis/tensor_life_events.h"
#include "base/hash.h"
#include "base/saturating.h"

namespace opscope {
namespace {

// The moments at which a chosen span of a rank is open.
class ChosenMoments {
 public:
  ChosenMoments(const Trace& trace, const std::vector<uint8_t>* selected) : has_all_(selected == nullptr) {
    if (has_all_) return;
    const SpanColumns& spans = trace.spans();
    std::map<int32_t, std::vector<Interval>> of_ranks;
    for (uint32_t span = 0; span < spans.size(); ++span) {
      if ((*selected)[span] == 0 || spans.track[span] == TrackId::kNone) continue;
      const int64_t begin = spans.start[span].ns;
      const Interval open{begin, SaturatingAdd(begin, std::max<int64_t>(0, spans.duration[span].ns))};
      AppendOrExtend(open, &of_ranks[RankOfTrack(trace, spans.track[span])]);
    }
    for (auto& [rank, intervals] : of_ranks)
      moments_.try_emplace(rank, std::move(intervals));
  }

  bool Has(int32_t rank, int64_t time) const {
    if (has_all_) return true;
    const auto found = moments_.find(rank);
    if (found == moments_.end()) return false;
    const std::span<const Interval> intervals = found->second.intervals();
    const auto after = std::partition_point(intervals.begin(), intervals.end(),
                                            [&](const Interval& interval) { return interval.begin <= time; });
    return after != intervals.begin() && time < std::prev(after)->end;
  }

 private:
  const bool has_all_;
  std::map<int32_t, IntervalSet> moments_;
};

// The names of operators by `external_id`.
tsl::robin_map<uint64_t, StringId, MixedHash> NamesOfOperators(const Trace& trace) {
  const SpanColumns& spans = trace.spans();
  tsl::robin_map<uint64_t, StringId, MixedHash> names;
  for (uint32_t span = 0; span < spans.size(); ++span) {
    if (spans.kind[span] == SpanKind::kOperator && spans.external_id[span] != 0)
      names.try_emplace(spans.external_id[span], spans.name[span]);
  }
  return names;
}

class TensorLifeMeasurement {
 public:
  TensorLifeMeasurement(const Trace& trace, const std::vector<uint8_t>* selected)
      : trace_(trace), chosen_(trace, selected), names_(NamesOfOperators(trace)), usage_(trace, selected) {}

  MemoryUsage Measure() {
    std::map<MemoryPlace, std::vector<uint32_t>> of_places;
    for (const auto& [key, rows] : TensorLivesByStream(trace_)) {
      std::vector<uint32_t>& of_place = of_places[PlaceOfStream(trace_, TrackId{key.second})];
      of_place.insert(of_place.end(), rows.begin(), rows.end());
    }
    for (const auto& [place, rows] : of_places)
      AddDevice(place, TensorLifeEvents(trace_, rows));
    return usage_.Take();
  }

 private:
  void AddDevice(const MemoryPlace& place, const std::vector<TensorLifeEvent>& events) {
    const auto is_chosen = [&](const TensorLifeEvent& event) { return chosen_.Has(place.rank, event.time_ns); };
    if (std::none_of(events.begin(), events.end(), is_chosen)) return;
    const std::vector<int64_t> levels = LevelsAfter(events);
    const auto events_before = [&](int64_t time) {
      const auto found = std::partition_point(events.begin(), events.end(),
                                              [&](const TensorLifeEvent& event) { return event.time_ns < time; });
      return static_cast<size_t>(found - events.begin());
    };
    const MemoryUsageRows::Levels of_device{.after = levels, .events_before = events_before};
    DeviceMemoryRow& device = usage_.AddDevice(place);
    size_t events_at_peak = 0;
    bool is_first = true;
    for (size_t i = 0; i < events.size(); ++i) {
      const TensorLifeEvent& event = events[i];
      if (!is_chosen(event)) continue;
      if (is_first) {
        is_first = false;
        events_at_peak = events_before(event.time_ns);
        device.start_bytes = device.peak_bytes = of_device.After(events_at_peak);
        device.peak_ns = event.time_ns;
      }
      AddEvent(event, &device);
      device.end_bytes = levels[i];
      if (levels[i] > device.peak_bytes) {
        device.peak_bytes = levels[i];
        device.peak_ns = event.time_ns;
        events_at_peak = i + 1;
        while (events_at_peak < events.size() && events[events_at_peak].time_ns == event.time_ns)
          ++events_at_peak;
      }
    }
    for (const CoveredByTensor& tensor : TensorsAfter(trace_, std::span(events).first(events_at_peak))) {
      if (tensor.bytes == 0) continue;
      OperatorMemoryRow& row = usage_.RowOf(OperatorOf(tensor.row));
      row.peak_bytes = SaturatingAdd(row.peak_bytes, tensor.bytes);
    }
    usage_.EndRows();
    usage_.AddSteps(of_device);
  }

  // The level after an event is that after all events of its time.
  static std::vector<int64_t> LevelsAfter(const std::vector<TensorLifeEvent>& events) {
    std::vector<int64_t> levels;
    levels.reserve(events.size());
    int64_t level = 0;
    for (const TensorLifeEvent& event : events)
      levels.push_back(level = SaturatingAdd(level, event.bytes));
    for (size_t i = levels.size(); i-- > 1;)
      if (events[i - 1].time_ns == events[i].time_ns) levels[i - 1] = levels[i];
    return levels;
  }

  void AddEvent(const TensorLifeEvent& event, DeviceMemoryRow* device) {
    if (event.bytes < 0) {
      ++device->frees;
      device->freed_bytes = SaturatingSubtract(device->freed_bytes, event.bytes);
    } else if (event.bytes > 0) {
      ++device->allocations;
      device->allocated_bytes = SaturatingAdd(device->allocated_bytes, event.bytes);
      OperatorMemoryRow& row = usage_.RowOf(OperatorOf(event.row));
      ++row.allocations;
      row.allocated_bytes = SaturatingAdd(row.allocated_bytes, event.bytes);
    }
    if (!event.is_end && event.bytes > 0 && trace_.tensor_lives().duration[event.row].ns < 0) ++device->kept;
  }

  StringId OperatorOf(uint32_t row) const {
    const auto found = names_.find(trace_.tensor_lives().op[row]);
    return found == names_.end() ? StringId::kNone : found->second;
  }

  const Trace& trace_;
  const ChosenMoments chosen_;
  const tsl::robin_map<uint64_t, StringId, MixedHash> names_;
  MemoryUsageRows usage_;
};

}  // namespace

MemoryUsage MeasureTensorLifeUsage(const Trace& trace, const std::vector<uint8_t>* selected) {
  return TensorLifeMeasurement(trace, selected).Measure();
}

}  // namespace opscope
