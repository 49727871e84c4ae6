// Merges the traces of a job in five steps: read the facts of each input, leave out foreign inputs (job.h), align one
// clock per rank (alignment.h), copy input after input through its clock (append_trace.h), and add problems and
// metadata. Each input is freed as soon as it is copied, so the peak is the result plus the inputs that remain, not
// twice the job.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/merge.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/catch_bad_alloc.h"
#include "base/saturating.h"
#include "base/text.h"
#include "merge/alignment.h"
#include "merge/append_trace.h"
#include "merge/job.h"
#include "merge/merge_metadata.h"
#include "merge/sync_points.h"
#include "trace/builder.h"
#include "trace/problem_kinds.h"

namespace opscope {
namespace {

// All files of a rank share one clock; a file without a rank has its own.
struct Members {
  std::vector<ClockMember> clocks;
  std::vector<size_t> of_input;  // row of `clocks` by input; SIZE_MAX: left out
};

// A member has a wall clock if all of its files have one.
void AddFacts(const InputFacts& facts, const Machine& machine, bool is_first_file, ClockMember* member) {
  member->first_ns = is_first_file ? facts.first_ns : std::min(member->first_ns, facts.first_ns);
  member->last_ns = is_first_file ? facts.last_ns : std::max(member->last_ns, facts.last_ns);
  member->has_wall_clock = facts.has_wall_clock && (is_first_file || member->has_wall_clock);
  member->machine = is_first_file ? machine : CommonMachine(member->machine, machine);
}

void AddPoints(const SyncPoints& points, int64_t epoch_ns, ClockMember* member) {
  for (const auto& [group, list] : points) {
    std::vector<SyncPoint>& all = member->points[group];
    for (SyncPoint point : list) {
      point.time_ns = (Timestamp{point.time_ns} + Duration{epoch_ns}).ns;
      all.push_back(point);
    }
  }
}

Members FindMembers(const std::vector<MergeInput>& inputs, const std::vector<InputFacts>& facts,
                    const MergeOptions& options) {
  Members members;
  std::map<int32_t, size_t> of_rank;
  for (size_t i = 0; i < inputs.size(); ++i) {
    members.of_input.push_back(SIZE_MAX);
    if (!facts[i].left_out.empty()) continue;
    size_t member = members.clocks.size();
    if (facts[i].rank >= 0) member = of_rank.emplace(facts[i].rank, member).first->second;
    const bool is_first_file = member == members.clocks.size();
    if (is_first_file) members.clocks.emplace_back();
    members.of_input.back() = member;
    const Trace& trace = inputs[i].trace;
    AddFacts(facts[i], MachineOf(trace), is_first_file, &members.clocks[member]);
    AddPoints(FindSyncPoints(trace, options.sync_names), trace.info().epoch_ns, &members.clocks[member]);
  }
  for (ClockMember& member : members.clocks) {
    for (auto& [group, list] : member.points)
      std::sort(list.begin(), list.end(), [](const SyncPoint& a, const SyncPoint& b) { return a.time_ns < b.time_ns; });
  }
  return members;
}

// Missing ranks beyond this are counted and not named: a damaged file may claim any world size.
constexpr size_t kMaxRanksNamed = 1'000'000;

// "[0,3]"
std::string RanksText(const std::set<int32_t>& ranks) {
  std::string text = "[";
  for (const int32_t rank : ranks)
    text.append(text.size() == 1 ? "" : ",").append(std::to_string(rank));
  return text + "]";
}

// Moves the values out, in this order of their rows.
template <typename T>
std::vector<T> Reordered(std::vector<T>* values, const std::vector<size_t>& order) {
  std::vector<T> sorted;
  sorted.reserve(order.size());
  for (const size_t i : order)
    sorted.push_back(std::move((*values)[i]));
  return sorted;
}

class Merger {
 public:
  Merger(std::vector<MergeInput> inputs, const MergeOptions& options) : inputs_(std::move(inputs)), options_(options) {}

  Result<Merged> Run() {
    if (inputs_.empty()) return Error{ErrorCode::kInvalidArgument, "nothing to merge"};
    for (const MergeInput& input : inputs_)
      facts_.push_back(FactsOf(input));
    const std::vector<size_t> order = CanonicalOrder(facts_);
    inputs_ = Reordered(&inputs_, order);
    facts_ = Reordered(&facts_, order);
    ExcludeForeignInputs(&facts_);
    merged_.world_size = WorldSize();
    const Members members = FindMembers(inputs_, facts_, options_);
    if (members.clocks.empty()) return Error{ErrorCode::kInvalidArgument, "none of the inputs could be read"};
    const Alignment alignment =
        AlignClocks(members.clocks, options_.of_job ? kAnyDifference : options_.max_clock_difference_ns);
    Describe(members, alignment);
    Copy(members, alignment);
    AddProblems(members, alignment);
    AddMergeMetadata(inputs_metadata_, merged_, &builder_);
    merged_.trace = builder_.Build();
    return std::move(merged_);
  }

 private:
  // The largest world size of the inputs that belong to the job: of those with a rank, or, if they have none, of the
  // others.
  uint32_t WorldSize() const {
    uint32_t of_ranks = 0, of_others = 0;
    for (const InputFacts& facts : facts_) {
      uint32_t* size = facts.ranks.empty() ? &of_others : &of_ranks;
      if (facts.left_out.empty()) *size = std::max(*size, facts.world_size);
    }
    return of_ranks > 0 ? of_ranks : of_others;
  }

  // Fills merged_.inputs from the alignment. Inputs that turned out to be of another job are left out here.
  void Describe(const Members& members, const Alignment& alignment) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const InputFacts& facts = facts_[i];
      MergedInput input;
      input.name = facts.name;
      input.rank = facts.rank;
      input.rank_is_from_name = facts.rank_is_from_name;
      input.left_out = facts.left_out;
      input.spans = facts.spans;
      if (members.of_input[i] != SIZE_MAX) {
        const MemberClock& clock = alignment.clocks[members.of_input[i]];
        input.clock = clock.source;
        const ClockMap map = MapOf(clock);
        input.offset_ns = SaturatingSubtract(map.ToReference(facts.first_ns), facts.first_ns);
        input.drift = map.drift;
        input.sync_points = clock.sync_points;
        input.residual_p50_ns = clock.residual_p50_ns;
        input.residual_p99_ns = clock.residual_p99_ns;
        input.wall_bound_ns = clock.wall_bound_ns;
        input.refused_fit = clock.refused;
        if (clock.is_stranger) facts_[i].left_out = clock.doubt, facts_[i].left_out_problem = "other_job";
        input.left_out = facts_[i].left_out;
      }
      merged_.inputs.push_back(std::move(input));
    }
  }

  void Copy(const Members& members, const Alignment& alignment) {
    TraceAppender appender(&builder_);
    const size_t reference = static_cast<size_t>(
        std::find(members.of_input.begin(), members.of_input.end(), alignment.reference) - members.of_input.begin());
    TraceInfo& info = builder_.info();
    info = inputs_[reference].trace.info();
    info.recorded = info.dropped = 0;
    info.compressed = "none";
    info.world_size = merged_.world_size;
    if (inputs_.size() > 1) info.overheads.reset();  // machines differ
    if (options_.keeps_clocks) info.epoch_ns = options_.epoch_ns.value_or(EarliestBegin());
    inputs_metadata_.resize(inputs_.size());
    builder_.ReserveSpans(CountSpans());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      MergedInput& input = merged_.inputs[i];
      if (!input.left_out.empty()) continue;
      const Trace& trace = inputs_[i].trace;
      if (trace.info().options_json != info.options_json) info.options_json = "{}";
      if (trace.info().format != info.format) info.format = "merged", info.format_version.clear();
      info.recorded += trace.info().recorded;
      info.dropped += trace.info().dropped;
      const MemberClock& clock = alignment.clocks[members.of_input[i]];
      input.processes = appender.Append(trace, {trace.info().epoch_ns, MapOf(clock), info.epoch_ns}, input.rank);
      CopyProblems(inputs_[i], input);
      inputs_metadata_[i] = MetadataOf(trace);
      inputs_[i].trace = Trace();  // frees its memory before the next copy
    }
    for (const std::string_view kind : {kForeignIds, std::string_view("crossing_spans")})
      NameRanks(kind, counted_again_[std::string(kind)]);
    NameRanks("shared_ids", {});
    if (appender.shared_ids() > 0) builder_.AddProblem("shared_ids", -1, appender.shared_ids());
  }

  ClockMap MapOf(const MemberClock& clock) const { return options_.keeps_clocks ? ClockMap() : clock.map; }

  // The first begin of the inputs that are copied, on their own clocks; 0: they have no spans.
  int64_t EarliestBegin() const {
    std::optional<int64_t> earliest;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!facts_[i].left_out.empty() || facts_[i].spans == 0) continue;
      earliest = std::min(earliest.value_or(facts_[i].first_ns), facts_[i].first_ns);
    }
    return earliest.value_or(0);
  }

  // The number of spans of all inputs that are copied.
  size_t CountSpans() const {
    size_t spans = 0;
    for (size_t i = 0; i < inputs_.size(); ++i)
      spans += merged_.inputs[i].left_out.empty() ? inputs_[i].trace.spans().size() : 0;
    return spans;
  }

  // For a JOB: names the ranks of a problem that the builder counts.
  void NameRanks(std::string_view kind, const std::set<int32_t>& ranks) {
    if (options_.of_job) builder_.SetProblemRanks(kind, RanksText(ranks));
  }

  void CopyProblems(const MergeInput& from, const MergedInput& input) {
    const Trace& trace = from.trace;
    const ProblemColumns& rows = trace.problems();
    const bool is_one_of_many = inputs_.size() > 1;
    const auto with_name = [&](std::string_view message) {
      return std::string(message) + (is_one_of_many ? " (" + input.name + ")" : "");
    };
    for (size_t row = 0; row < rows.size(); ++row) {
      const std::string_view kind = trace.text(rows.kind[row]);
      // Another input may have the missing rank; AddProblems checks again.
      if (kind == "rank_missing") continue;
      counted_again_[std::string(kind)].insert(input.rank);
      const std::string_view before = trace.text(rows.ranks[row]);  // of a JOB that was merged before
      builder_.RestoreProblem(kind, rows.severity[row], rows.count[row], is_one_of_many ? -1 : rows.first_offset[row],
                              with_name(trace.text(rows.message[row])),
                              options_.of_job ? RanksText({input.rank}) : std::string(before));
    }
    for (const JobProblem& problem : from.problems)
      AddJobProblem(problem, with_name(problem.message));
  }

  void AddJobProblem(const JobProblem& problem, const std::string& message) {
    builder_.RestoreProblem(problem.kind, problem.severity, problem.count, problem.first_offset, message,
                            RanksText({problem.ranks.begin(), problem.ranks.end()}));
  }

  // Adds one row per kind of problem, with the names of all inputs that it concerns, and those of the whole JOB.
  void AddProblems(const Members& members, const Alignment& alignment) {
    struct Found {
      uint64_t count = 0;
      std::string detail;
      std::set<int32_t> ranks;
    };
    std::map<std::string_view, Found> rows;
    const auto add = [&](std::string_view kind, const std::string& what) -> Found& {
      Found& found = rows[kind];
      found.detail += (found.count++ == 0 ? "" : "; ") + what;
      return found;
    };
    for (size_t i = 0; i < merged_.inputs.size(); ++i) {
      const MergedInput& input = merged_.inputs[i];
      const auto add_input = [&](std::string_view kind, const std::string& what) {
        add(kind, input.name + ": " + what).ranks.insert(input.rank);
      };
      if (!input.left_out.empty()) {
        add_input(facts_[i].left_out_problem, input.left_out);
        continue;
      }
      const MemberClock& clock = alignment.clocks[members.of_input[i]];
      if (clock.missed_before > 0)
        add_input("rank_starts_late", std::to_string(clock.missed_before) + " collectives before");
      if (clock.missed_after > 0)
        add_input("rank_ends_early", std::to_string(clock.missed_after) + " collectives after");
      if (!clock.contradiction.empty()) add_input("wall_clock_in_doubt", clock.contradiction);
      if (!clock.doubt.empty()) {
        add_input("clock_not_aligned", clock.doubt);
      } else if (clock.source == ClockSource::kNone) {
        add_input("clock_not_aligned", "no wall clock");
      }
    }
    for (const auto& [first, last] : MissingRanks(facts_, merged_.world_size)) {
      if (options_.is_choice) break;
      Found& missing =
          add("rank_missing", std::to_string(first) + (first == last ? "" : " to " + std::to_string(last)));
      missing.count += last - first;
      for (uint32_t rank = first; rank <= last && missing.ranks.size() < kMaxRanksNamed; ++rank)
        missing.ranks.insert(static_cast<int32_t>(rank));
    }
    for (const auto& [kind, found] : rows) {
      NameRanks(kind, found.ranks);
      builder_.AddProblem(kind, -1, found.count, found.detail);
    }
    if (!options_.of_job) return;
    for (const JobProblem& problem : *options_.of_job)
      AddJobProblem(problem, problem.message);
  }

  std::vector<MergeInput> inputs_;
  const MergeOptions& options_;
  std::vector<InputFacts> facts_;                           // in canonical order, as the following members
  std::map<std::string, std::set<int32_t>> counted_again_;  // ranks of the inputs, by kind of their problems
  std::vector<InputMetadata> inputs_metadata_;
  TraceBuilder builder_;
  Merged merged_;
};

}  // namespace

Result<Merged> MergeTraces(std::vector<MergeInput> inputs, const MergeOptions& options) {
  return CatchBadAlloc("the merge", [&]() -> Result<Merged> { return Merger(std::move(inputs), options).Run(); });
}

}  // namespace opscope
