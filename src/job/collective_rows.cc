// Takes what FindCollectives recognizes, without sends and receives, and adds what answers over many ranks need: the
// group with its members, the number of the call, its step, and the time since the group's last synchronisation.
//
// Example (us): the all-reduces of one group are [100, 150) and [400, 420), and the step begins at 0. The first gap is
// [0, 100), the second [150, 400); each is divided as `opscope steps` divides a step.
// SPDX-License-Identifier: Apache-2.0
#include "job/collective_rows.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/device_work.h"
#include "analysis/step_parts.h"
#include "analysis/steps_of_ranks.h"
#include "base/json_members.h"
#include "base/parse_whole.h"
#include "base/saturating.h"
#include "opscope/analysis/collectives.h"

namespace opscope {
namespace {

constexpr size_t kMembersOfKey = 29;  // a shortened list still shows so many

std::string_view NameOfKind(CollectiveKind kind) {
  constexpr std::string_view kNames[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                         "barrier",    "broadcast",  "reduce",         "gather",
                                         "scatter",    "other",      "other"};  // by CollectiveKind
  static_assert(std::size(kNames) == static_cast<size_t>(CollectiveKind::kOther) + 1);
  return kNames[static_cast<size_t>(kind)];
}

// "[0, 1, 2, ..., 63]" -> 0, 1, 2: numbers behind dots are ignored.
std::vector<int32_t> MembersIn(std::string_view list) {
  std::vector<int32_t> members;
  for (size_t at = 0; at < list.size();) {
    if (list[at] == '.') break;
    if (list[at] < '0' || list[at] > '9') {
      ++at;
      continue;
    }
    int32_t member = 0;
    const auto [end, error] = std::from_chars(list.data() + at, list.data() + list.size(), member);
    if (error != std::errc()) break;
    members.push_back(member);
    at = static_cast<size_t>(end - list.data());
  }
  return members;
}

class RowFinder {
 public:
  RowFinder(const Trace& trace, const FileIdentity& identity)
      : trace_(trace), identity_(identity), steps_(trace), launches_(trace) {}

  CollectiveRows Find() {
    const SpanColumns& spans = trace_.spans();
    for (const Collective& collective : FindCollectives(trace_).rows) {
      if (collective.kind == CollectiveKind::kSendReceive) continue;
      const uint32_t span = Row(collective.span);
      const std::string_view extra = trace_.text(spans.extra[span]);
      CollectiveRow row;
      row.group = GroupOf(extra);
      row.kind = NameOfKind(collective.kind);
      row.step = StepOf(span);
      row.elements = ParseWhole<int64_t>(FindJsonMember(extra, "In msg nelems")).value_or(0);
      row.seq = collective.number;
      row.start_ns = spans.start[span].ns;
      row.duration_ns = spans.duration[span].ns;
      found_.rows.push_back(row);
      synchronises_.push_back(EndsTogether(collective.kind));
    }
    SortRows();
    NumberRows();
    MeasureGaps();
    return std::move(found_);
  }

 private:
  uint32_t GroupOf(std::string_view extra) {
    const std::string_view name = Unquoted(FindJsonMember(extra, "Process Group Name"));
    const std::string_view size = FindJsonMember(extra, "Group size");
    const std::string_view ranks = name.empty() ? std::string_view() : FindJsonMember(extra, "Process Group Ranks");
    std::string identity(name);
    identity.append(1, '\0').append(size).append(1, '\0').append(ranks);
    const auto known = numbers_.find(identity);
    if (known != numbers_.end()) return known->second;
    CollectiveGroup group = DescribeGroup(std::string(name), size, ranks);
    // Spans may describe one group in several ways.
    const auto [place, is_new] = numbers_of_keys_.emplace(group.key, static_cast<uint32_t>(found_.groups.size()));
    if (is_new) found_.groups.push_back(std::move(group));
    numbers_.emplace(identity, place->second);
    return place->second;
  }

  CollectiveGroup DescribeGroup(std::string name, std::string_view size, std::string_view ranks) const {
    CollectiveGroup group;
    group.name = std::move(name);
    if (group.name.empty()) {
      group.size = std::max(identity_.world_size, 0);
      group.key = "/" + std::to_string(group.size) + "/";
      return group;
    }
    const auto listed = identity_.groups.find(group.name);
    group.members = listed != identity_.groups.end() ? listed->second : MembersIn(ranks);
    group.size = static_cast<int32_t>(std::clamp<int64_t>(
        ParseWhole<int64_t>(Unquoted(size)).value_or(static_cast<int64_t>(group.members.size())), 0, INT32_MAX));
    group.key = group.name + "/" + std::to_string(group.size) + "/";
    for (size_t i = 0; i < std::min(group.members.size(), kMembersOfKey); ++i)
      group.key.append(i == 0 ? "" : ",").append(std::to_string(group.members[i]));
    return group;
  }

  // The step in which the launch begins, where a launch is known.
  std::optional<int64_t> StepOf(uint32_t span) {
    const SpanColumns& spans = trace_.spans();
    const TrackId track = spans.track[span];
    int64_t time = spans.start[span].ns;
    if (trace_.tracks().kind[Row(track)] == TrackKind::kDeviceStream)
      if (const SpanId launch = launches_.LaunchOf(span); launch != SpanId::kNone) time = spans.start[Row(launch)].ns;
    const uint32_t row = steps_.StretchAround(RankOfTrack(trace_, track), time).row;
    if (row == StepsOfRanks::kNone) return std::nullopt;
    return trace_.steps().number[row];
  }

  void SortRows() {
    std::vector<size_t> order(found_.rows.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    const auto place = [&](size_t i) { return std::tuple(found_.rows[i].start_ns, found_.rows[i].duration_ns, i); };
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return place(a) < place(b); });
    std::vector<CollectiveRow> rows;
    std::vector<bool> synchronises;
    for (const size_t i : order) {
      rows.push_back(found_.rows[i]);
      synchronises.push_back(synchronises_[i]);
    }
    found_.rows = std::move(rows);
    synchronises_ = std::move(synchronises);
  }

  void NumberRows() {
    std::map<std::pair<uint32_t, std::optional<int64_t>>, int64_t> positions;
    std::vector<std::vector<int64_t>> numbers(found_.groups.size());
    for (CollectiveRow& row : found_.rows) {
      row.position = positions[{row.group, row.step}]++;
      ++found_.groups[row.group].spans;
      if (row.seq) numbers[row.group].push_back(*row.seq);
    }
    for (size_t i = 0; i < numbers.size(); ++i) {
      std::vector<int64_t>& of_group = numbers[i];
      CollectiveGroup& group = found_.groups[i];
      group.with_seq = static_cast<int64_t>(of_group.size());
      if (of_group.empty()) continue;
      std::sort(of_group.begin(), of_group.end());
      group.first_seq = of_group.front();
      group.last_seq = of_group.back();
      group.distinct_seq = std::unique(of_group.begin(), of_group.end()) - of_group.begin();
    }
  }

  void MeasureGaps() {
    const auto [first_step, step_track] = FirstStep();
    if (step_track == TrackId::kNone && found_.rows.empty()) return;
    std::vector<TrackId> tracks;
    if (step_track != TrackId::kNone) tracks.push_back(step_track);
    const StepParts parts(trace_, nullptr, tracks);
    std::vector<std::optional<int64_t>> last_end(found_.groups.size());
    for (size_t i = 0; i < found_.rows.size(); ++i) {
      CollectiveRow& row = found_.rows[i];
      if (!synchronises_[i]) continue;
      std::optional<int64_t>& last = last_end[row.group];
      const std::optional<int64_t> begin = last ? last : first_step;
      last = SaturatingAdd(row.start_ns, row.duration_ns);
      if (!begin || step_track == TrackId::kNone) continue;
      StepTimes gap;
      gap.rank = RankOfTrack(trace_, step_track);
      gap.start_ns = *begin;
      gap.duration_ns = std::max<int64_t>(0, SaturatingSubtract(row.start_ns, *begin));
      parts.Divide(step_track, &gap);
      row.gap = gap;
    }
  }

  // Begin and track of the first step. Input counts on this track.
  std::pair<std::optional<int64_t>, TrackId> FirstStep() const {
    std::pair<std::optional<int64_t>, TrackId> first = {std::nullopt, TrackId::kNone};
    for (const SpanId id : trace_.steps().span) {
      if (id == SpanId::kNone) continue;
      const int64_t begin = trace_.spans().start[Row(id)].ns;
      if (!first.first || begin < *first.first) first = {begin, trace_.spans().track[Row(id)]};
    }
    return first;
  }

  const Trace& trace_;
  const FileIdentity& identity_;
  StepsOfRanks steps_;
  LaunchCalls launches_;
  std::unordered_map<std::string, uint32_t> numbers_;  // of groups, by what the span says of its group
  std::unordered_map<std::string, uint32_t> numbers_of_keys_;
  std::vector<bool> synchronises_;  // by row
  CollectiveRows found_;
};

}  // namespace

CollectiveRows FindCollectiveRows(const Trace& trace, const FileIdentity& identity) {
  return RowFinder(trace, identity).Find();
}

}  // namespace opscope
