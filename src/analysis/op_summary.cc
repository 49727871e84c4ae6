// The operator summary. Several threads count chunks of the spans (op_summary_part.h), and the parts are joined in the
// order of the rows, so the result does not depend on the number of threads. Then the durations of each group are laid
// out contiguously (a counting sort by group) for their percentiles. Kineto JSON to summary takes 1/30 of HTA's time
// (docs/reference/benchmarks_files.md).
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/op_summary.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "analysis/duration_quantiles.h"
#include "analysis/op_summary_durations.h"
#include "analysis/op_summary_part.h"
#include "analysis/op_summary_steps.h"
#include "analysis/row_chunks.h"
#include "analysis/span_measures.h"
#include "analysis/step_names.h"
#include "base/column.h"
#include "base/in_order.h"

namespace opscope {
namespace {

enum class Quantiles { kComputed, kZero };

class Summarizer {
 public:
  // steps: groups the self times by step too, and does not gather durations; nullptr: does not group by step.
  Summarizer(const Trace& trace, const OpSummaryOptions& options, size_t chunk_size, Quantiles quantiles,
             const StepsOfRanks* steps = nullptr)
      : trace_(trace),
        options_(options),
        quantiles_(quantiles),
        steps_(steps),
        chunks_(trace.spans().size(), chunk_size),
        team_(chunks_.Members(options.max_threads)),
        launches_(trace),
        grouper_(trace, options.group_by, options.join_steps),
        flop_names_(trace, FlopRuleSet::kAll),
        groups_(grouper_) {
    group_of_.reserve(chunks_.rows);
    group_of_.resize_unset(chunks_.rows);
    times_.reserve(chunks_.rows);
    times_.resize_unset(chunks_.rows);
  }

  OpSummary Run() {
    const bool has_memory = trace_.allocations().size() > 0;
    const SummaryInput input{trace_,
                             trace_.spans(),
                             options_,
                             launches_,
                             grouper_,
                             flop_names_,
                             {group_of_.data(), group_of_.size()},
                             {times_.data(), has_memory ? times_.size() : 0},
                             steps_};
    std::vector<SummaryPart> parts(chunks_.count());
    std::vector<std::unique_ptr<PartCounter>> counters(team_.size());
    InOrder order(parts.size());
    team_.ForEach(chunks_.count(), [&](size_t chunk, size_t member) {
      if (counters[member] == nullptr) counters[member] = std::make_unique<PartCounter>(input);
      parts[chunk] = counters[member]->Count(chunks_.begin(chunk), chunks_.end(chunk));
      order.Finished(chunk, [&](size_t next) { Join(input, &parts[next]); });
    });
    counters.clear();
    across_.End([&](const OpenSpan& span) { whole_.Complete(input, span); });
    AddFlops();
    if (has_memory) AddMemory();
    if (steps_ == nullptr) LayOutDurations(input);
    return Finish(quantiles_ == Quantiles::kComputed ? QuantilesOfGroups()
                                                     : std::vector<DurationQuantiles>(whole_.groups.size()));
  }

  // By group. Run() precedes it, without steps.
  GroupDurations TakeDurations() { return {std::move(times_), std::move(begins_)}; }

  // By group, then step; each pair once. Run() precedes it.
  std::vector<StepSelf> TakeStepSelf() {
    std::vector<StepSelf> all = std::move(whole_.step_self);
    std::sort(all.begin(), all.end(), [](const StepSelf& a, const StepSelf& b) {
      return std::pair(a.group, a.step) < std::pair(b.group, b.step);
    });
    size_t kept = 0;
    for (const StepSelf& part : all) {
      if (kept > 0 && all[kept - 1].group == part.group && all[kept - 1].step == part.step) {
        all[kept - 1].self_ns = SaturatingAdd(all[kept - 1].self_ns, part.self_ns);
      } else {
        all[kept++] = part;
      }
    }
    all.resize(kept);
    return all;
  }

 private:
  // Where the durations of a part's groups go.
  struct GroupSlot {
    uint32_t group = 0;    // of the whole
    uint64_t earlier = 0;  // durations of the group in earlier parts
  };

  void Join(const SummaryInput& input, SummaryPart* part) {
    SummarySums& sums = part->sums;
    std::vector<GroupSlot>& slots = group_slots_.emplace_back();
    slots.reserve(sums.groups.size());
    if (chunks_.count() == 1) {  // its groups are those of the whole
      for (uint32_t group = 0; group < sums.groups.size(); ++group)
        slots.push_back({group, 0});
      whole_ = std::move(sums);
      across_.Add(part->walked, [&](const OpenSpan& span) { whole_.Complete(input, span); });
      *part = {};
      return;
    }
    for (size_t i = 0; i < sums.groups.size(); ++i) {
      const uint32_t group = groups_.Find(sums.groups[i].first_span);
      if (group == whole_.groups.size()) whole_.AddGroup(input, sums.groups[i].first_span);
      slots.push_back({group, whole_.groups[group].count});
      whole_.groups[group].Add(sums.groups[i]);
      if (!sums.costs.empty()) whole_.costs[group].Add(sums.costs[i]);
    }
    for (OpenSpan& span : part->walked.open)
      if (span.group != OpenSpan::kNone) span.group = slots[span.group].group;
    across_.Add(part->walked, [&](const OpenSpan& span) { whole_.Complete(input, span); });
    whole_.calls.insert(whole_.calls.end(), sums.calls.begin(), sums.calls.end());
    whole_.below_zero += sums.below_zero;
    for (const StepSelf& part_self : sums.step_self)
      whole_.step_self.push_back({slots[part_self.group].group, part_self.step, part_self.self_ns});
    *part = {};
  }

  // OpenSpan::kNone: the span is not selected.
  uint32_t GroupOf(size_t row) const {
    const uint32_t group = group_of_[row];
    return group == OpenSpan::kNone ? group : group_slots_[row / chunks_.size][group].group;
  }

  void AddFlops() {
    RemoveDoubleCounts(&whole_.calls);
    for (const FlopCall& call : whole_.calls) {
      const uint32_t group = GroupOf(call.row);
      if (group != OpenSpan::kNone) whole_.groups[group].flops += call.flops;
    }
  }

  void AddMemory() {
    const InnermostSpans innermost(trace_, {times_.data(), times_.size()});
    const std::vector<SpanId> spans = SpansOfAllocations(trace_, innermost, &team_);
    for (size_t i = 0; i < spans.size(); ++i) {
      const uint32_t group = spans[i] == SpanId::kNone ? OpenSpan::kNone : GroupOf(Row(spans[i]));
      if (group != OpenSpan::kNone) whole_.groups[group].memory_bytes += trace_.allocations().bytes[i];
    }
  }

  // Lays the durations of each group side by side in times_.
  void LayOutDurations(const SummaryInput& input) {
    begins_.assign(whole_.groups.size() + 1, 0);
    for (size_t group = 0; group < whole_.groups.size(); ++group)
      begins_[group + 1] = begins_[group] + whole_.groups[group].count;
    team_.ForEach(chunks_.count(), [&](size_t chunk, size_t) {
      std::vector<uint64_t> next;
      for (const GroupSlot& slot : group_slots_[chunk])
        next.push_back(begins_[slot.group] + slot.earlier);
      for (size_t row = chunks_.begin(chunk); row < chunks_.end(chunk); ++row)
        if (group_of_[row] != OpenSpan::kNone) times_[next[group_of_[row]]++] = input.ReportedDuration(row);
    });
  }

  // Reorders the durations of each group. LayOutDurations precedes it.
  std::vector<DurationQuantiles> QuantilesOfGroups() {
    std::vector<DurationQuantiles> quantiles(whole_.groups.size());
    const RowChunks pieces(quantiles.size(), std::clamp<size_t>(quantiles.size() / 256, 1, 64));
    team_.ForEach(pieces.count(), [&](size_t piece, size_t) {
      for (size_t group = pieces.begin(piece); group < pieces.end(piece); ++group)
        quantiles[group] = QuantilesOf({times_.data() + begins_[group], whole_.groups[group].count});
    });
    return quantiles;
  }

  static int64_t Without(int64_t ns, double cost) {
    return std::max<int64_t>(0, ns - std::llround(std::min(cost, 9e18)));
  }

  // A group that is a row, and the texts of its keys.
  struct KeyedGroup {
    uint32_t group;
    std::vector<std::string> keys;
  };

  // All, in order of first appearance; or those with the largest self times, as the texts of stacks may take more
  // memory than the Trace.
  std::vector<KeyedGroup> ChooseGroups(OpSummary::LeftOut* left_out) const {
    const std::vector<GroupSums>& groups = whole_.groups;
    std::vector<uint32_t> order(groups.size());
    std::iota(order.begin(), order.end(), 0u);
    const size_t most = options_.max_key_bytes > 0 ? options_.max_key_bytes : SIZE_MAX;
    const auto is_larger = [&](uint32_t a, uint32_t b) { return groups[a].self_ns > groups[b].self_ns; };
    if (options_.max_key_bytes > 0) std::stable_sort(order.begin(), order.end(), is_larger);
    std::vector<KeyedGroup> chosen;
    size_t bytes = 0;
    for (const uint32_t group : order) {
      const GroupSums& sums = groups[group];
      if (bytes <= most) {
        chosen.push_back({group, grouper_.Texts(sums.first_span)});
        for (const std::string& text : chosen.back().keys)
          bytes += sizeof(std::string) + text.size();
        continue;
      }
      ++left_out->rows;
      left_out->count += static_cast<int64_t>(sums.count);
      left_out->self_ns = SaturatingAdd(left_out->self_ns, sums.self_ns);
      left_out->total_with_recursion_ns =
          SaturatingAdd(left_out->total_with_recursion_ns, sums.total_with_recursion_ns);
    }
    std::sort(chosen.begin(), chosen.end(), [](const KeyedGroup& a, const KeyedGroup& b) { return a.group < b.group; });
    return chosen;
  }

  // Takes the costs off the sums, in which single spans below 0 count as they are.
  void Correct(const std::vector<KeyedGroup>& groups, OpSummary* summary) const {
    double thread_self_cost = 0;
    for (const GroupCost& cost : whole_.costs)
      thread_self_cost += cost.thread_self_ns;
    for (size_t i = 0; i < groups.size(); ++i) {
      const GroupSums& sums = whole_.groups[groups[i].group];
      const GroupCost& cost = whole_.costs[groups[i].group];
      OpSummaryRow& row = summary->rows[i];
      row.total_ns = Without(sums.total_ns, cost.total_ns);
      row.total_with_recursion_ns = Without(sums.total_with_recursion_ns, cost.total_with_recursion_ns);
      row.self_ns = Without(sums.self_ns, cost.self_ns);
      row.thread_self_ns = Without(sums.thread_self_ns, cost.thread_self_ns);
    }
    summary->thread_self_ns = Without(summary->thread_self_ns, thread_self_cost);
    summary->correction = {std::llround(options_.overhead->whole_ns), options_.overhead->events, whole_.below_zero};
  }

  OpSummary Finish(const std::vector<DurationQuantiles>& quantiles) const {
    OpSummary summary;
    summary.has_name = grouper_.has_name();
    summary.joins_steps = options_.join_steps;
    summary.key_names = grouper_.TextNames();
    int64_t streams = 0, launched = 0;
    for (const GroupSums& sums : whole_.groups) {
      int64_t& device_self = grouper_.IsOnDevice(sums.first_span) ? streams : launched;
      device_self = SaturatingAdd(device_self, sums.device_self_ns);
      summary.thread_self_ns = SaturatingAdd(summary.thread_self_ns, sums.thread_self_ns);
    }
    summary.device_self_ns = std::max(streams, launched);
    std::vector<KeyedGroup> groups = ChooseGroups(&summary.left_out);
    summary.rows.reserve(groups.size());
    for (KeyedGroup& each : groups) {
      const GroupSums& sums = whole_.groups[each.group];
      OpSummaryRow& row = summary.rows.emplace_back();
      if (summary.has_name) row.name = trace_.spans().name[sums.first_span];
      row.on_device = grouper_.IsOnDevice(sums.first_span);
      row.keys = std::move(each.keys);
      row.count = sums.count;
      row.total_ns = sums.total_ns;
      row.total_with_recursion_ns = sums.total_with_recursion_ns;
      row.self_ns = sums.self_ns;
      row.thread_self_ns = sums.thread_self_ns;
      row.min_ns = sums.min_ns;
      row.max_ns = sums.max_ns;
      row.p50_ns = quantiles[each.group].p50_ns;
      row.p99_ns = quantiles[each.group].p99_ns;
      row.stddev_ns = quantiles[each.group].stddev_ns;
      row.device_total_ns = sums.device_total_ns;
      row.device_self_ns = sums.device_self_ns;
      row.self_memory_bytes = SaturateToInt64(sums.memory_bytes);
      row.flops = SaturateToInt64(sums.flops);
    }
    if (options_.overhead != nullptr) Correct(groups, &summary);
    return summary;
  }

  const Trace& trace_;
  const OpSummaryOptions& options_;
  const Quantiles quantiles_;
  const StepsOfRanks* const steps_;
  RowChunks chunks_;
  ThreadTeam team_;
  DeviceLaunches launches_;
  SpanGrouper grouper_;
  FlopNames flop_names_;
  Column<uint32_t> group_of_;  // by span: its group in its part
  Column<int64_t> times_;      // ns; by span its clipped end, if the trace has allocations; later durations by group
  GroupRows groups_;           // of the whole
  SummarySums whole_;
  SpansCrossingChunks across_;
  std::vector<std::vector<GroupSlot>> group_slots_;  // by part and its group
  std::vector<uint64_t> begins_;                     // by group: where its durations begin in times_; and the end
};

}  // namespace

std::string_view OpSummary::NameOf(const Trace& trace, const OpSummaryRow& row) const {
  const std::string_view name = trace.text(row.name);
  return joins_steps ? CommonStepName(name).value_or(name) : name;
}

OpSummary SummarizeOpsInChunks(const Trace& trace, const OpSummaryOptions& options, size_t chunk_size) {
  return Summarizer(trace, options, chunk_size, Quantiles::kComputed).Run();
}

OpSummaryOfSteps SummarizeOpsBySteps(const Trace& trace, const StepsOfRanks& steps, const OpSummaryOptions& options,
                                     size_t chunk_size) {
  Summarizer summarizer(trace, options, chunk_size, Quantiles::kZero, &steps);
  OpSummaryOfSteps result;
  result.summary = summarizer.Run();
  result.step_self = summarizer.TakeStepSelf();
  return result;
}

OpSummaryWithDurations SummarizeOpsWithDurations(const Trace& trace, const OpSummaryOptions& options) {
  OPSCOPE_CHECK(options.max_key_bytes == 0);
  Summarizer summarizer(trace, options, 0, Quantiles::kZero);
  OpSummary summary = summarizer.Run();
  return {std::move(summary), summarizer.TakeDurations()};
}

OpSummary SummarizeOps(const Trace& trace, const OpSummaryOptions& options) {
  return SummarizeOpsInChunks(trace, options, 0);
}

}  // namespace opscope
