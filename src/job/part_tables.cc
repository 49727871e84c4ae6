// Fills the tables of one file: what answers over many ranks need of it, so that the trace is read once. Times
// become Unix time on the rank's own clock, since Timestamp 0 of each file is another moment.
//
// Example: a file with epoch 1,700,000,000 s and a span at 5 us has a row of `spans` with start_ns
// 1700000000000005000.
// SPDX-License-Identifier: Apache-2.0
#include "job/part_tables.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/span_measures.h"
#include "analysis/steps_of_ranks.h"
#include "analysis/track_labels.h"
#include "base/saturating.h"
#include "job/collective_rows.h"
#include "job/duration_bins.h"
#include "job/job_problems.h"
#include "job/sha256.h"
#include "opscope/analysis/contents.h"
#include "opscope/analysis/quality.h"
#include "opscope/analysis/steps.h"
#include "opscope/report/result_inputs.h"

namespace opscope {
namespace {

constexpr int64_t kUnknown = INT64_MIN;
using Texts = std::vector<std::optional<std::string_view>>;

template <typename Rows, typename Value>
void AddNumbers(OwnedTable* table, std::string_view name, const Rows& rows, Value value) {
  std::vector<int64_t> numbers;
  numbers.reserve(rows.size());
  for (const auto& row : rows)
    numbers.push_back(value(row));
  table->AddNumbers({.name = name}, numbers, kUnknown);
}

template <typename Rows, typename Value>
void AddTexts(OwnedTable* table, std::string_view name, const Rows& rows, Value value) {
  Texts texts;
  texts.reserve(rows.size());
  for (const auto& row : rows)
    texts.push_back(value(row));
  table->AddTexts({.name = name}, texts);
}

class PartMaker {
 public:
  PartMaker(const Trace& trace, const FileIdentity& identity) : trace_(trace), identity_(identity) {}

  PartTable Ranks(const std::string& file, const std::string& sha256) const {
    auto table = std::make_shared<OwnedTable>("ranks", 1);
    const TraceWindow window = WindowOfSpans(trace_);
    const Quality quality = JudgeQuality(trace_);
    std::string reasons;
    for (const std::string& reason : quality.reasons)
      reasons.append(reasons.empty() ? "" : "\n").append(reason);
    const auto number = [&](std::string_view name, int64_t value) {
      table->AddNumbers({.name = name}, {value}, kUnknown);
    };
    const auto text = [&](std::string_view name, const std::string& value) {
      table->AddTexts({.name = name}, {value});
    };
    number("world_size", identity_.world_size);
    number("stage", identity_.stage);
    text("host", identity_.host);
    text("boot", identity_.boot);
    text("rank_from", identity_.rank_from);
    text("file", file);
    text("sha256", sha256);
    number("start_ns", UnixTime(window.start_ns));
    number("end_ns", UnixTime(window.end_ns));
    number("spans", static_cast<int64_t>(trace_.spans().size()));
    number("wall_error_ns", identity_.wall_error_ns.value_or(kUnknown));
    number("verdict", static_cast<int64_t>(quality.verdict));
    text("reasons", reasons);
    return table;
  }

  PartTable Steps() const {
    const std::vector<StepTimes> rows = MeasureSteps(trace_).rows;
    auto table = std::make_shared<OwnedTable>("steps", rows.size());
    AddNumbers(table.get(), "step", rows, [](const StepTimes& row) { return row.number; });
    AddTexts(table.get(), "name", rows, [&](const StepTimes& row) { return trace_.text(row.name); });
    AddNumbers(table.get(), "start_ns", rows, [&](const StepTimes& row) { return UnixTime(row.start_ns); });
    AddNumbers(table.get(), "duration_ns", rows, [](const StepTimes& row) { return row.duration_ns; });
    for (const auto& [name, part] : kParts)
      AddNumbers(table.get(), std::string(name) + "_ns", rows, [&](const StepTimes& row) { return row.*part; });
    return table;
  }

  static PartTable RankGroups(const std::vector<CollectiveGroup>& groups) {
    auto table = std::make_shared<OwnedTable>("rank_groups", groups.size());
    AddNumbers(table.get(), "group_id", groups,
               [](const CollectiveGroup& group) { return IdOfSha256(Sha256OfText(group.key)); });
    AddTexts(table.get(), "group_key", groups, [](const CollectiveGroup& g) { return std::string_view(g.key); });
    AddTexts(table.get(), "group_name", groups, [](const CollectiveGroup& g) { return std::string_view(g.name); });
    AddNumbers(table.get(), "group_size", groups, [](const CollectiveGroup& g) { return g.size; });
    AddNumbers(table.get(), "spans", groups, [](const CollectiveGroup& g) { return g.spans; });
    AddNumbers(table.get(), "with_seq", groups, [](const CollectiveGroup& g) { return g.with_seq; });
    AddNumbers(table.get(), "distinct_seq", groups, [](const CollectiveGroup& g) { return g.distinct_seq; });
    AddNumbers(table.get(), "first_seq", groups,
               [](const CollectiveGroup& g) { return g.first_seq.value_or(kUnknown); });
    AddNumbers(table.get(), "last_seq", groups, [](const CollectiveGroup& g) { return g.last_seq.value_or(kUnknown); });
    return table;
  }

  PartTable Collectives(const CollectiveRows& found) const {
    const std::vector<CollectiveRow>& rows = found.rows;
    std::vector<std::string> members;
    std::vector<int64_t> ids;
    for (const CollectiveGroup& group : found.groups) {
      ids.push_back(IdOfSha256(Sha256OfText(group.key)));
      std::string& text = members.emplace_back();
      for (const int32_t member : group.members)
        text.append(text.empty() ? "" : ",").append(std::to_string(member));
    }
    auto table = std::make_shared<OwnedTable>("collectives", rows.size());
    const auto group_of = [&](const CollectiveRow& row) -> const CollectiveGroup& { return found.groups[row.group]; };
    AddNumbers(table.get(), "group_id", rows, [&](const CollectiveRow& row) { return ids[row.group]; });
    AddNumbers(table.get(), "position", rows, [](const CollectiveRow& row) { return row.position; });
    AddTexts(table.get(), "group_name", rows,
             [&](const CollectiveRow& row) { return std::string_view(group_of(row).name); });
    AddTexts(table.get(), "group_key", rows,
             [&](const CollectiveRow& row) { return std::string_view(group_of(row).key); });
    AddNumbers(table.get(), "group_size", rows, [&](const CollectiveRow& row) { return group_of(row).size; });
    AddTexts(table.get(), "members", rows,
             [&](const CollectiveRow& row) { return std::string_view(members[row.group]); });
    AddTexts(table.get(), "kind", rows, [](const CollectiveRow& row) { return row.kind; });
    AddNumbers(table.get(), "step", rows, [](const CollectiveRow& row) { return row.step.value_or(kUnknown); });
    AddNumbers(table.get(), "elements", rows, [](const CollectiveRow& row) { return row.elements; });
    AddNumbers(table.get(), "seq", rows, [](const CollectiveRow& row) { return row.seq.value_or(kUnknown); });
    AddNumbers(table.get(), "start_ns", rows, [&](const CollectiveRow& row) { return UnixTime(row.start_ns); });
    AddNumbers(table.get(), "duration_ns", rows, [](const CollectiveRow& row) { return row.duration_ns; });
    AddNumbers(table.get(), "gap_ns", rows,
               [](const CollectiveRow& row) { return row.gap ? row.gap->duration_ns : kUnknown; });
    for (const auto& [name, part] : kParts) {
      AddNumbers(table.get(), std::string(name) + "_gap_ns", rows,
                 [&](const CollectiveRow& row) { return row.gap ? (*row.gap).*part : kUnknown; });
    }
    return table;
  }

  PartTable Spans() const {
    const SpanColumns& spans = trace_.spans();
    const TrackColumns& tracks = trace_.tracks();
    std::vector<std::string> labels;
    for (size_t track = 0; track < tracks.size(); ++track)
      labels.push_back(TrackLabel(track));
    const SpanMeasures measures = MeasureSpans(trace_);
    const StepsOfRanks steps(trace_);
    StepCursor cursor(trace_, steps);
    std::vector<uint32_t> rows(spans.size());
    for (uint32_t i = 0; i < rows.size(); ++i)
      rows[i] = i;
    auto table = std::make_shared<OwnedTable>("spans", rows.size());
    AddTexts(table.get(), "track", rows, [&](uint32_t i) { return std::string_view(labels[Row(spans.track[i])]); });
    AddTexts(table.get(), "name", rows, [&](uint32_t i) { return trace_.text(spans.name[i]); });
    AddTexts(table.get(), "category", rows, [&](uint32_t i) { return trace_.text(spans.category[i]); });
    AddNumbers(table.get(), "start_ns", rows, [&](uint32_t i) { return UnixTime(spans.start[i].ns); });
    AddNumbers(table.get(), "duration_ns", rows, [&](uint32_t i) { return spans.duration[i].ns; });
    AddNumbers(table.get(), "self_ns", rows, [&](uint32_t i) { return measures.self_ns[i]; });
    AddNumbers(table.get(), "step", rows, [&](uint32_t i) {
      const uint32_t step = cursor.StepAt(spans.track[i], spans.start[i].ns);
      return step == StepsOfRanks::kNone ? kUnknown : trace_.steps().number[step];
    });
    return table;
  }

  PartTable OpStats() const {
    struct Sums {
      int64_t count = 0, sum_ns = 0, max_ns = 0;
    };
    std::map<std::pair<StringId, int32_t>, Sums> sums;
    const SpanColumns& spans = trace_.spans();
    for (size_t i = 0; i < spans.size(); ++i) {
      const int64_t duration = spans.duration[i].ns;
      Sums& of_bin = sums[{spans.name[i], BinOfDuration(duration)}];
      ++of_bin.count;
      of_bin.sum_ns = SaturatingAdd(of_bin.sum_ns, duration);
      of_bin.max_ns = std::max(of_bin.max_ns, duration);
    }
    auto table = std::make_shared<OwnedTable>("op_stats", sums.size());
    AddTexts(table.get(), "name", sums, [&](const auto& row) { return trace_.text(row.first.first); });
    AddNumbers(table.get(), "bin", sums, [](const auto& row) { return row.first.second; });
    AddNumbers(table.get(), "count", sums, [](const auto& row) { return row.second.count; });
    AddNumbers(table.get(), "sum_ns", sums, [](const auto& row) { return row.second.sum_ns; });
    AddNumbers(table.get(), "max_ns", sums, [](const auto& row) { return row.second.max_ns; });
    return table;
  }

 private:
  static constexpr std::pair<std::string_view, int64_t StepTimes::*> kParts[] = {
      {"compute", &StepTimes::compute_ns}, {"communication", &StepTimes::communication_ns},
      {"copy", &StepTimes::copy_ns},       {"input", &StepTimes::input_ns},
      {"host", &StepTimes::host_ns},       {"other", &StepTimes::other_ns},
      {"idle", &StepTimes::idle_ns},
  };

  int64_t UnixTime(int64_t time_ns) const { return SaturatingAdd(trace_.info().epoch_ns, time_ns); }

  // PID/TID, as the report names tracks.
  std::string TrackLabel(size_t track) const {
    const TrackColumns& tracks = trace_.tracks();
    const ProcessId process = tracks.process[track];
    std::string label;
    if (process != ProcessId::kNone)
      label = NumberOrText(trace_, trace_.processes().pid[Row(process)], trace_.processes().pid_text[Row(process)]);
    return label + "/" + NumberOrText(trace_, tracks.tid[track], tracks.tid_text[track]);
  }

  const Trace& trace_;
  const FileIdentity& identity_;
};

PartTable ProblemRows(const std::vector<JobProblem>& problems) {
  auto table = std::make_shared<OwnedTable>("problems", problems.size());
  const auto text = [&](std::string_view name, auto value) {
    AddTexts(table.get(), name, problems, [&](const JobProblem& row) { return std::string_view(value(row)); });
  };
  text("file", [](const JobProblem& row) -> const std::string& { return row.file; });
  text("kind", [](const JobProblem& row) -> const std::string& { return row.kind; });
  text("severity", [](const JobProblem& row) { return ProblemSeverityName(row.severity); });
  text("message", [](const JobProblem& row) -> const std::string& { return row.message; });
  AddNumbers(table.get(), "count", problems, [](const JobProblem& row) { return static_cast<int64_t>(row.count); });
  AddNumbers(table.get(), "first_offset", problems, [](const JobProblem& row) { return row.first_offset; });
  return table;
}

}  // namespace

std::vector<PartTable> MakePartTables(const Trace& trace, const FileIdentity& identity, const std::string& file,
                                      const std::string& sha256, const std::vector<JobProblem>& problems) {
  const PartMaker maker(trace, identity);
  const CollectiveRows collectives = FindCollectiveRows(trace, identity);
  return {maker.Ranks(file, sha256),
          maker.Steps(),
          maker.Collectives(collectives),
          maker.RankGroups(collectives.groups),
          maker.Spans(),
          maker.OpStats(),
          ProblemRows(problems)};
}

std::vector<JobProblem> ProblemsOfFile(const Trace& trace, const FileIdentity& identity, const std::string& file) {
  std::vector<JobProblem> problems;
  const ProblemColumns& rows = trace.problems();
  for (size_t i = 0; i < rows.size(); ++i) {
    problems.push_back({file,
                        std::string(trace.text(rows.kind[i])),
                        rows.severity[i],
                        rows.count[i],
                        rows.first_offset[i],
                        std::string(trace.text(rows.message[i])),
                        {identity.rank}});
  }
  for (JobProblem& problem : ProblemsOfRank(file, identity.rank, identity.rank_of_name))
    problems.push_back(std::move(problem));
  return problems;
}

}  // namespace opscope
