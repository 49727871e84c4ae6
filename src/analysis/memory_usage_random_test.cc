// The definition of docs/reference/memory.md, one event and one span at a time, beside MeasureMemoryUsage on random
// jobs.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "opscope/analysis/memory_usage.h"
#include "trace/builder.h"

namespace opscope {
namespace {

// Few times, addresses and names, so that equal times, reused addresses and frees of unknown ones are common.
Trace RandomMemoryJob(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  TraceBuilder builder;
  std::vector<TrackId> tracks;
  for (int64_t process = 0, processes = 1 + below(3); process < processes; ++process) {
    const ProcessId id = builder.AddProcess({.pid = process, .rank = static_cast<int32_t>(below(3)) - 1});
    for (int64_t thread = 0, threads = 1 + below(2); thread < threads; ++thread) {
      tracks.push_back(builder.AddTrack(
          {.process = id, .kind = below(6) == 0 ? TrackKind::kOther : TrackKind::kThread, .tid = thread}));
      if (below(3) == 0) builder.SetCrossing(tracks.back());
    }
  }
  const auto any_track = [&] { return tracks[static_cast<size_t>(below(static_cast<int64_t>(tracks.size())))]; };
  const char* names[] = {"aten::mm", "aten::add", "(none)", "forward"};
  const char* categories[] = {"cpu_op", "cpu_op", "python_function", "user_annotation", "Trace"};
  for (int64_t i = 0, spans = below(12); i < spans; ++i) {
    const int64_t begin = below(20);
    const AddedSpan span = builder.AddSpan({.start = {begin},
                                            .duration = {below(20 - begin)},
                                            .name = builder.Intern(names[below(4)]),
                                            .category = builder.Intern(categories[below(5)]),
                                            .track = any_track(),
                                            .flags = below(8) == 0 ? span_flags::kAsync : uint8_t{0}});
    if (below(4) == 0) builder.AddStep(below(4), builder.Intern("step"), span);
  }
  if (below(4) == 0) builder.AddStep(9, builder.Intern("step"), AddedSpan::kNone);
  const bool in_order = below(3) > 0;
  int64_t time = 0;
  for (int64_t i = 0, events = below(25); i < events; ++i) {
    time = in_order ? time + below(2) : below(20);
    const int64_t size = 1 + below(5), sign = below(9);
    builder.AddAllocation({.time = {time},
                           .track = below(12) == 0 ? TrackId::kNone : any_track(),
                           .address = static_cast<uint64_t>(below(5)),
                           .bytes = sign == 0  ? 0
                                    : sign < 5 ? -size
                                               : size,
                           .total_allocated = below(2) == 0 ? -1 : below(30),
                           .total_reserved = below(2) == 0 ? -1 : below(50),
                           .device_type = static_cast<int32_t>(below(2)),
                           .device = static_cast<int32_t>(below(2)) - 1});
  }
  return builder.Build();
}

// The definition, in the plainest way.
class PlainMemory {
 public:
  PlainMemory(const Trace& trace, const std::vector<uint8_t>* selected) : trace_(trace), selected_(selected) {}

  std::string Text() const {
    std::set<MemoryPlace> places;
    for (uint32_t row = 0; row < trace_.allocations().size(); ++row)
      places.insert(PlaceOf(row));
    std::string text;
    for (const MemoryPlace& place : places)
      text += TextOf(place);
    return text;
  }

 private:
  int32_t RankOf(TrackId track) const {
    return track == TrackId::kNone ? -1 : trace_.processes().rank[Row(trace_.tracks().process[Row(track)])];
  }

  MemoryPlace PlaceOf(uint32_t row) const {
    const AllocationColumns& events = trace_.allocations();
    return {RankOf(events.track[row]), events.device_type[row], events.device[row]};
  }

  bool IsOpen(uint32_t span, uint32_t event) const {
    const SpanColumns& spans = trace_.spans();
    const int64_t time = trace_.allocations().time[event].ns, begin = spans.start[span].ns;
    return spans.track[span] == trace_.allocations().track[event] && (spans.flags[span] & span_flags::kAsync) == 0 &&
           begin <= time && time < begin + spans.duration[span].ns;
  }

  bool IsStep(uint32_t span) const {
    const auto steps = trace_.steps().span;
    return std::find(steps.begin(), steps.end(), SpanId{span}) != steps.end();
  }

  bool IsChosen(uint32_t event) const {
    if (selected_ == nullptr) return true;
    for (uint32_t span = 0; span < trace_.spans().size(); ++span)
      if ((*selected_)[span] != 0 && IsOpen(span, event)) return true;
    return false;
  }

  std::string OperatorOf(uint32_t event) const {
    const SpanColumns& spans = trace_.spans();
    std::optional<std::tuple<int64_t, int64_t, uint32_t>> innermost;  // begins last, then the shortest, then the last
    for (uint32_t span = 0; span < spans.size(); ++span) {
      if (!IsOpen(span, event) || IsStep(span) || trace_.text(spans.category[span]) == "Trace") continue;
      if (trace_.tracks().kind[Row(spans.track[span])] != TrackKind::kThread) continue;
      const std::tuple one(spans.start[span].ns, -spans.duration[span].ns, span);
      if (!innermost || one > *innermost) innermost = one;
    }
    return innermost ? std::string(trace_.text(spans.name[std::get<2>(*innermost)])) : "(none)";
  }

  std::string TextOf(const MemoryPlace& place) const {
    const AllocationColumns& columns = trace_.allocations();
    std::vector<uint32_t> events;
    for (uint32_t row = 0; row < columns.size(); ++row)
      if (PlaceOf(row) == place) events.push_back(row);
    std::stable_sort(events.begin(), events.end(),
                     [&](uint32_t a, uint32_t b) { return columns.time[a].ns < columns.time[b].ns; });
    const int64_t total = columns.total_allocated[events[0]];
    const int64_t whole_start = total == -1 ? 0 : total - columns.bytes[events[0]];
    const auto level_after = [&](size_t count) {
      int64_t level = whole_start;
      for (size_t i = 0; i < count; ++i)
        level += columns.bytes[events[i]];
      return level;
    };

    std::vector<size_t> chosen;
    for (size_t i = 0; i < events.size(); ++i)
      if (IsChosen(events[i])) chosen.push_back(i);
    if (chosen.empty()) return "";
    uint64_t allocations = 0, frees = 0;
    int64_t allocated = 0, freed = 0, reserved = -1;
    const int64_t start = level_after(chosen[0]);
    int64_t peak = start, peak_time = columns.time[events[chosen[0]]].ns;
    size_t at_peak = chosen[0];
    for (const size_t i : chosen) {
      const int64_t bytes = columns.bytes[events[i]];
      allocations += bytes > 0;
      frees += bytes < 0;
      allocated += std::max<int64_t>(bytes, 0);
      freed -= std::min<int64_t>(bytes, 0);
      reserved = std::max(reserved, columns.total_reserved[events[i]]);
      if (level_after(i + 1) <= peak) continue;
      peak = level_after(i + 1);
      peak_time = columns.time[events[i]].ns;
      at_peak = i + 1;
    }

    std::map<uint64_t, std::vector<size_t>> live;  // allocations by address
    std::vector<size_t> live_at_peak;
    const auto remember = [&] {
      live_at_peak.clear();
      for (const auto& [address, blocks] : live)
        live_at_peak.insert(live_at_peak.end(), blocks.begin(), blocks.end());
    };
    for (size_t i = 0; i < events.size(); ++i) {
      if (i == at_peak) remember();
      std::vector<size_t>& blocks = live[columns.address[events[i]]];
      if (columns.bytes[events[i]] > 0) blocks.push_back(i);
      if (columns.bytes[events[i]] < 0 && !blocks.empty()) blocks.pop_back();
    }
    if (at_peak == events.size()) remember();
    size_t kept = 0;
    for (const auto& [address, blocks] : live)
      kept += std::any_of(blocks.begin(), blocks.end(), [&](size_t i) { return IsChosen(events[i]); });

    std::map<std::string, std::vector<int64_t>> names;  // allocations, their bytes, those at the peak
    for (const size_t i : chosen) {
      if (columns.bytes[events[i]] <= 0) continue;
      std::vector<int64_t>& row = names[OperatorOf(events[i])];
      row.resize(3);
      row[0] += 1;
      row[1] += columns.bytes[events[i]];
    }
    int64_t rest = peak;
    for (const size_t i : live_at_peak) {
      std::vector<int64_t>& row = names[OperatorOf(events[i])];
      row.resize(3);
      row[2] += columns.bytes[events[i]];
      rest -= columns.bytes[events[i]];
    }

    std::string text =
        "device " + Numbers({place.rank, place.device_type, place.device}) + ": " +
        Numbers({static_cast<int64_t>(allocations), static_cast<int64_t>(frees), allocated, freed, start,
                 level_after(chosen.back() + 1), peak, peak_time, reserved, static_cast<int64_t>(kept)}) +
        "\n";
    std::vector<std::pair<std::string, std::vector<int64_t>>> rows(names.begin(), names.end());
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return a.second[2] != b.second[2] ? a.second[2] > b.second[2] : a.second[1] > b.second[1];
    });
    if (rest != 0) rows.push_back({"(before)", {0, 0, rest}});
    for (const auto& [name, numbers] : rows)
      text += "  " + name + " " + Numbers(numbers) + "\n";

    std::multimap<std::pair<int64_t, int64_t>, int64_t> ends;
    const auto level_at = [&](int64_t time) {
      return level_after(static_cast<size_t>(
          std::count_if(events.begin(), events.end(), [&](uint32_t event) { return columns.time[event].ns < time; })));
    };
    for (size_t i = 0; i < trace_.steps().size(); ++i) {
      const SpanId span = trace_.steps().span[i];
      if (span == SpanId::kNone || RankOf(trace_.spans().track[Row(span)]) != place.rank) continue;
      if (selected_ != nullptr && (*selected_)[Row(span)] == 0) continue;
      const int64_t begin = trace_.spans().start[Row(span)].ns;
      ends.insert({{begin, trace_.steps().number[i]}, begin + trace_.spans().duration[Row(span)].ns});
    }
    for (const auto& [step, end] : ends) {
      int64_t most = level_at(step.first);
      for (size_t i = 0; i < events.size(); ++i)
        if (const int64_t time = columns.time[events[i]].ns; step.first <= time && time < end)
          most = std::max(most, level_after(i + 1));
      text += "  step " + Numbers({step.second, level_at(step.first), level_at(end), most}) + "\n";
    }
    return text;
  }

 public:
  static std::string Numbers(const std::vector<int64_t>& numbers) {
    std::string text;
    for (const int64_t number : numbers)
      text += (text.empty() ? "" : " ") + std::to_string(number);
    return text;
  }

 private:
  const Trace& trace_;
  const std::vector<uint8_t>* selected_;
};

std::string MeasuredText(const Trace& trace, const MemoryUsage& usage) {
  const auto numbers = &PlainMemory::Numbers;
  std::string text;
  for (const DeviceMemoryRow& d : usage.devices) {
    text += "device " + numbers({d.place.rank, d.place.device_type, d.place.device}) + ": " +
            numbers({static_cast<int64_t>(d.allocations), static_cast<int64_t>(d.frees), d.allocated_bytes,
                     d.freed_bytes, d.start_bytes, d.end_bytes, d.peak_bytes, d.peak_ns,
                     d.peak_reserved_bytes.value_or(-1), static_cast<int64_t>(d.kept)}) +
            "\n";
    for (const OperatorMemoryRow& row : usage.rows) {
      if (row.place != d.place) continue;
      text += "  " +
              (row.is_before                 ? "(before)"
               : row.name == StringId::kNone ? "(none)"
                                             : std::string(trace.text(row.name))) +
              " " + numbers({static_cast<int64_t>(row.allocations), row.allocated_bytes, row.peak_bytes}) + "\n";
    }
    for (const StepMemoryRow& step : usage.steps)
      if (step.place == d.place)
        text += "  step " + numbers({step.number, step.start_bytes, step.end_bytes, step.peak_bytes}) + "\n";
  }
  return text;
}

TEST(MemoryUsage, EqualsTheDefinitionOnRandomJobs) {
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    const Trace trace = RandomMemoryJob(seed);
    EXPECT_EQ(MeasuredText(trace, MeasureMemoryUsage(trace)), PlainMemory(trace, nullptr).Text()) << "seed " << seed;
  }
}

TEST(MemoryUsage, EqualsTheDefinitionOnRandomJobsOfWhichSpansAreChosen) {
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    const Trace trace = RandomMemoryJob(seed);
    std::mt19937_64 random(seed);
    std::vector<uint8_t> selected(trace.spans().size());
    for (uint8_t& one : selected)
      one = random() % 3 == 0;
    EXPECT_EQ(MeasuredText(trace, MeasureMemoryUsage(trace, &selected)), PlainMemory(trace, &selected).Text())
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace opscope
