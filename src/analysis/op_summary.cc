// The operator summary in one pass over the spans. Spans lie in pre-order, so a stack of the open ones
// gives the parent's clipped end, and a counter per name says whether a span lies inside one of its name.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/op_summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analysis/duration_spread.h"
#include "analysis/flops.h"
#include "analysis/group_keys.h"
#include "analysis/span_measures.h"

namespace opscope {
namespace {

// What recording took of a row's times. Fractions add up before they are rounded.
struct RowCost {
  double total_ns = 0;
  double total_with_recursion_ns = 0;
  double self_ns = 0;
  double thread_self_ns = 0;
};

int64_t Without(int64_t ns, double cost) {
  return std::max<int64_t>(0, ns - std::llround(cost));
}

// Takes the costs off the sums, in which single spans below 0 count as they are.
void Correct(const std::vector<RowCost>& costs, double thread_self_cost, OpSummary* summary) {
  for (size_t i = 0; i < summary->rows.size(); ++i) {
    OpSummaryRow& row = summary->rows[i];
    row.total_ns = Without(row.total_ns, costs[i].total_ns);
    row.total_with_recursion_ns = Without(row.total_with_recursion_ns, costs[i].total_with_recursion_ns);
    row.self_ns = Without(row.self_ns, costs[i].self_ns);
    row.thread_self_ns = Without(row.thread_self_ns, costs[i].thread_self_ns);
  }
  summary->thread_self_ns = Without(summary->thread_self_ns, thread_self_cost);
}

// Adds one span to its row. `is_nested`: inside a span of its name on its track. `shown`: its duration as the
// smallest and the largest show it.
void AddSpan(const SpanMeasures& measures, size_t span, int64_t duration, int64_t shown, bool is_nested,
             OpSummaryRow* row) {
  row->min_ns = row->count == 0 ? shown : std::min(row->min_ns, shown);
  row->max_ns = row->count == 0 ? shown : std::max(row->max_ns, shown);
  ++row->count;
  row->total_with_recursion_ns += duration;
  row->self_ns += measures.self_ns[span];
  if (!is_nested) row->total_ns += duration;
  if (!measures.device_self_ns.empty()) {
    row->device_self_ns += measures.device_self_ns[span];
    if (!is_nested) row->device_total_ns += measures.device_total_ns[span];
  }
  if (!measures.self_memory_bytes.empty()) row->self_memory_bytes += measures.self_memory_bytes[span];
}

// Which open spans have the name of the next one. Spans arrive in pre-order, track by track; those that are not
// selected only hold the place of a parent.
class OpenNames {
 public:
  OpenNames(const Trace& trace, const std::vector<uint8_t>* selected)
      : spans_(trace.spans()), selected_(selected), open_(trace.string_count(), 0) {}

  bool IsSelected(size_t span) const { return selected_ == nullptr || (*selected_)[span] != 0; }

  // True when the span lies inside a selected one of its name. Asynchronous spans lie inside nothing.
  bool Enter(size_t span) {
    if ((spans_.flags[span] & span_flags::kAsync) != 0) return false;
    while (!stack_.empty() && SpanId{stack_.back()} != spans_.parent[span]) {
      if (IsSelected(stack_.back())) --open_[Row(spans_.name[stack_.back()])];
      stack_.pop_back();
    }
    uint32_t& open = open_[Row(spans_.name[span])];
    stack_.push_back(static_cast<uint32_t>(span));
    const bool is_nested = open > 0;
    if (IsSelected(span)) ++open;
    return is_nested;
  }

 private:
  const SpanColumns& spans_;
  const std::vector<uint8_t>* selected_;
  std::vector<uint32_t> open_;   // by name
  std::vector<uint32_t> stack_;  // open spans
};

struct SortField {
  std::string_view name;
  int64_t (*value)(const OpSummaryRow&);
};
constexpr std::array<SortField, 14> kSortFields = {{
    {"count", [](const OpSummaryRow& r) { return static_cast<int64_t>(r.count); }},
    {"total_ns", [](const OpSummaryRow& r) { return r.total_ns; }},
    {"self_ns", [](const OpSummaryRow& r) { return r.self_ns; }},
    {"min_ns", [](const OpSummaryRow& r) { return r.min_ns; }},
    {"max_ns", [](const OpSummaryRow& r) { return r.max_ns; }},
    {"mean_ns", [](const OpSummaryRow& r) { return r.mean_ns(); }},
    {"p50_ns", [](const OpSummaryRow& r) { return r.p50_ns; }},
    {"p99_ns", [](const OpSummaryRow& r) { return r.p99_ns; }},
    {"stddev_ns", [](const OpSummaryRow& r) { return r.stddev_ns; }},
    {"total_with_recursion_ns", [](const OpSummaryRow& r) { return r.total_with_recursion_ns; }},
    {"device_total_ns", [](const OpSummaryRow& r) { return r.device_total_ns; }},
    {"device_self_ns", [](const OpSummaryRow& r) { return r.device_self_ns; }},
    {"self_memory_bytes", [](const OpSummaryRow& r) { return r.self_memory_bytes; }},
    {"flops", [](const OpSummaryRow& r) { return r.flops; }},
}};

}  // namespace

OpSummary SummarizeOps(const Trace& trace, const OpSummaryOptions& options) {
  OpSummary summary;
  const SpanColumns& spans = trace.spans();
  const SpanMeasures measures = MeasureSpans(trace);
  const std::vector<int64_t> flops = FlopsOfSpans(trace);
  OpenNames open(trace, options.selected);
  SpanGrouper grouper(trace, options.group_by);
  summary.has_name = grouper.has_name();
  summary.key_names = grouper.TextNames();
  std::vector<RowCost> costs;
  double thread_self_cost = 0;
  uint64_t below_zero = 0;
  DurationSpreads spreads;
  spreads.Reserve(spans.size());
  for (size_t span = 0; span < spans.size(); ++span) {
    const bool is_nested = open.Enter(span);
    if (!open.IsSelected(span)) continue;
    const uint32_t row = grouper.Find(span);
    if (row == summary.rows.size()) {
      OpSummaryRow& added = summary.rows.emplace_back();
      added.name = grouper.has_name() ? spans.name[span] : StringId::kEmpty;
      added.keys = grouper.Texts(span);
      costs.emplace_back();
    }
    const int64_t duration = spans.duration[span].ns;
    const double subtree = options.own_cost != nullptr ? options.own_cost->subtree_ns[span] : 0;
    const double own = options.own_cost != nullptr ? options.own_cost->own_ns[span] : 0;
    const int64_t shown = Without(duration, subtree);
    AddSpan(measures, span, duration, shown, is_nested, &summary.rows[row]);
    spreads.Add(row, shown);
    costs[row].total_with_recursion_ns += subtree;
    costs[row].self_ns += own;
    if (!is_nested) costs[row].total_ns += subtree;
    if (static_cast<double>(duration) < subtree || static_cast<double>(measures.self_ns[span]) < own) ++below_zero;
    if (!flops.empty()) summary.rows[row].flops += flops[span];
    if (trace.tracks().kind[Row(spans.track[span])] == TrackKind::kThread) {
      summary.thread_self_ns += measures.self_ns[span];
      summary.rows[row].thread_self_ns += measures.self_ns[span];
      costs[row].thread_self_ns += own;
      thread_self_cost += own;
    }
  }
  const std::vector<DurationSpread> spread = spreads.Take(summary.rows.size());
  for (size_t row = 0; row < spread.size(); ++row) {
    summary.rows[row].p50_ns = spread[row].p50_ns;
    summary.rows[row].p99_ns = spread[row].p99_ns;
    summary.rows[row].stddev_ns = spread[row].stddev_ns;
  }
  if (options.own_cost != nullptr) {
    Correct(costs, thread_self_cost, &summary);
    summary.correction = {std::llround(options.own_cost->whole_ns), options.own_cost->events, below_zero};
  }
  return summary;
}

Status SortOpSummary(const Trace& trace, OpSummary* summary, std::string_view field) {
  if (field == "name") {
    std::stable_sort(summary->rows.begin(), summary->rows.end(), [&](const OpSummaryRow& a, const OpSummaryRow& b) {
      return trace.text(a.name) < trace.text(b.name);
    });
    return {};
  }
  for (const SortField& known : kSortFields) {
    if (known.name != field) continue;
    std::stable_sort(summary->rows.begin(), summary->rows.end(),
                     [&](const OpSummaryRow& a, const OpSummaryRow& b) { return known.value(a) > known.value(b); });
    return {};
  }
  std::string names = "name";
  for (const SortField& known : kSortFields)
    names += ", " + std::string(known.name);
  return Error{ErrorCode::kInvalidArgument, "cannot sort by '" + std::string(field) + "'; choose one of: " + names};
}

}  // namespace opscope
