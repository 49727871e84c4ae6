// Evaluates a condition vectorized: each node of the expression produces a byte per row for a block of 4096 rows, and
// and/or/not combine these bytes, which stay in the cache. A comparison with a text is decided once per distinct text,
// one with a thread or rank once per track. Evaluating the tree row by row would branch on the node type for each span.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/span_filter.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "analysis/row_chunks.h"
#include "analysis/span_filter_compare.h"
#include "analysis/span_filter_parser.h"
#include "analysis/step_names.h"
#include "analysis/steps_of_ranks.h"
#include "analysis/track_labels.h"

namespace opscope {
namespace {

using Selection = std::vector<uint8_t>;

// True if `text` contains `pattern`, in which * matches any characters.
bool Contains(std::string_view text, std::string_view pattern) {
  size_t at = 0;
  while (!pattern.empty()) {
    const size_t star = std::min(pattern.find('*'), pattern.size());
    const size_t found = text.find(pattern.substr(0, star), at);
    if (found == std::string_view::npos) return false;
    at = found + star;
    pattern.remove_prefix(std::min(star + 1, pattern.size()));
  }
  return true;
}

bool HoldsFor(std::string_view text, const SpanFilter::Node& node) {
  const bool is_pattern = node.op == FilterOperator::kContains || node.op == FilterOperator::kContainsNot;
  const bool is_negative = node.op == FilterOperator::kNotEqual || node.op == FilterOperator::kContainsNot;
  return (is_pattern ? Contains(text, node.text) : text == node.text) != is_negative;
}

// One comparison of a condition. Results that depend only on a text or a track are computed once for each.
class Comparison {
 public:
  Comparison(const Trace& trace, const SpanFilter::Node& node) : trace_(trace), spans_(trace.spans()), node_(node) {
    switch (node.field) {
      case FilterField::kName:
      case FilterField::kCategory:
      case FilterField::kOverload:
        of_text_ = std::vector<std::atomic<uint8_t>>(trace.string_count() + 1);  // the last entry is for kNone
        break;
      case FilterField::kKind:
        for (size_t kind = 0; kind < kSpanKinds; ++kind)
          of_kind_[kind] = HoldsFor(SpanKindName(static_cast<SpanKind>(kind)), node);
        break;
      case FilterField::kThread:
        DecideTracks([&, labels = LabelTracks(trace)](uint32_t track) { return IsCalled(track, labels[track]); });
        break;
      case FilterField::kProcess:
        DecideTracks([&, labels = LabelProcesses(trace)](uint32_t track) {
          return IsCalled(track, labels[Row(trace.tracks().process[track])]);
        });
        break;
      case FilterField::kRank:
        DecideTracks([&](uint32_t track) { return HoldsFor(RankOfTrack(trace, TrackId{track}), node); });
        break;
      case FilterField::kDevice:
        DecideTracks([&](uint32_t track) { return HoldsFor(trace_.tracks().device[track], node); });
        break;
      case FilterField::kStart:
        if (spans_.size() > 0) first_ = *std::min_element(spans_.start.begin(), spans_.start.end());
        break;
      case FilterField::kStep:
        steps_.emplace(trace);
        break;
      default:
        break;
    }
  }

  // Writes 1 for each row from `row` on for which the comparison holds, else 0. Any thread.
  void Compare(size_t row, std::span<uint8_t> holds) {
    switch (node_.field) {
      case FilterField::kName:
        return ByText(spans_.name.subspan(row), holds);
      case FilterField::kCategory:
        return ByText(spans_.category.subspan(row), holds);
      case FilterField::kKind:
        for (size_t i = 0; i < holds.size(); ++i)
          holds[i] = of_kind_[static_cast<size_t>(spans_.kind[row + i])];
        return;
      case FilterField::kOverload:
        return ByText(spans_.overload.subspan(row), holds);
      case FilterField::kDuration:
        return ByNumber(holds, [&](size_t i) { return spans_.duration[row + i].ns; });
      case FilterField::kStart:
        return ByNumber(holds, [&](size_t i) { return (spans_.start[row + i] - first_).ns; });
      case FilterField::kDepth:
        return ByNumber(holds, [&](size_t i) { return int64_t{spans_.depth[row + i]}; });
      case FilterField::kSequence:
        return ByNumber(holds, [&](size_t i) { return spans_.sequence[row + i]; });
      case FilterField::kCorrelation:
        return ByNumber(holds, [&](size_t i) { return int64_t{spans_.correlation[row + i]}; });
      case FilterField::kStep:
        return ByNumber(holds, [&](size_t i) {
          return steps_->NumberAt(RankOfTrack(trace_, spans_.track[row + i]), spans_.start[row + i].ns);
        });
      default:  // by track
        for (size_t i = 0; i < holds.size(); ++i)
          holds[i] = of_track_[Row(spans_.track[row + i])];
    }
  }

 private:
  // Compares with the name, the number and the label of the track or its process: any must match. A negative condition
  // must hold for all three.
  bool IsCalled(uint32_t track, std::string_view label) const {
    const bool is_thread = node_.field == FilterField::kThread;
    const uint32_t process = Row(trace_.tracks().process[track]);
    const StringId name = is_thread ? trace_.tracks().name[track] : trace_.processes().name[process];
    const StringId id_text = is_thread ? trace_.tracks().tid_text[track] : trace_.processes().pid_text[process];
    const int64_t id = is_thread ? trace_.tracks().tid[track] : trace_.processes().pid[process];
    const std::string number = NumberOrText(trace_, id, id_text);
    const bool is_negative = node_.op == FilterOperator::kNotEqual || node_.op == FilterOperator::kContainsNot;
    const bool by_name = HoldsFor(trace_.text(name), node_), by_number = HoldsFor(number, node_);
    const bool by_label = HoldsFor(label, node_);
    return is_negative ? by_name && by_number && by_label : by_name || by_number || by_label;
  }

  // "ProfilerStep*", the name of all steps in tables, equals each numbered step.
  bool HoldsForText(std::string_view text) const {
    const bool is_equality = node_.op == FilterOperator::kEqual || node_.op == FilterOperator::kNotEqual;
    const bool is_all_steps =
        is_equality && node_.field == FilterField::kName && CommonStepName(text) == std::string_view(node_.text);
    return is_all_steps ? node_.op == FilterOperator::kEqual : HoldsFor(text, node_);
  }

  template <typename Holds>
  void DecideTracks(const Holds& holds) {
    for (uint32_t track = 0; track < trace_.tracks().size(); ++track)
      of_track_.push_back(holds(track));
  }

  void ByText(std::span<const StringId> column, std::span<uint8_t> holds) {
    enum : uint8_t { kNotYet, kHolds, kHoldsNot };
    for (size_t i = 0; i < holds.size(); ++i) {
      std::atomic<uint8_t>& known = of_text_[std::min<size_t>(Row(column[i]), of_text_.size() - 1)];
      uint8_t state = known.load(std::memory_order_relaxed);
      if (state == kNotYet) {  // another thread may compute it too, with the same result
        state = HoldsForText(trace_.text(column[i])) ? kHolds : kHoldsNot;
        known.store(state, std::memory_order_relaxed);
      }
      holds[i] = state == kHolds;
    }
  }

  // Chooses the operator outside of the loop, so that the loop vectorizes.
  template <typename Value>
  void ByNumber(std::span<uint8_t> holds, const Value& value) const {
    const int64_t number = node_.number;
    WithComparison(node_.op, [&](auto compare) {
      for (size_t i = 0; i < holds.size(); ++i)
        holds[i] = compare(value(i), number);
    });
  }

  const Trace& trace_;
  const SpanColumns& spans_;
  const SpanFilter::Node& node_;
  std::vector<std::atomic<uint8_t>> of_text_;  // by StringId; 0: not decided yet
  std::array<uint8_t, kSpanKinds> of_kind_{};
  Selection of_track_;
  Timestamp first_;
  std::optional<StepsOfRanks> steps_;
};

// Evaluates a condition for a block of rows, small enough that intermediate results stay in the cache.
class Evaluation {
 public:
  static constexpr size_t kRows = 4096;

  Evaluation(const Trace& trace, std::span<const SpanFilter::Node> nodes) : nodes_(nodes) {
    for (const SpanFilter::Node& node : nodes)
      comparisons_.push_back(node.op < FilterOperator::kAnd ? std::make_unique<Comparison>(trace, node) : nullptr);
  }

  // Any thread. `scratch`: one per thread.
  void Run(size_t row, std::span<uint8_t> selected, Selection* scratch) {
    scratch->resize(nodes_.size() * kRows);
    const auto result = [&](size_t node) { return std::span(scratch->data() + node * kRows, selected.size()); };
    for (size_t i = 0; i + 1 < nodes_.size(); ++i)
      RunNode(i, row, result(i), result(nodes_[i].left), result(nodes_[i].right));
    const SpanFilter::Node& last = nodes_.back();
    RunNode(nodes_.size() - 1, row, selected, result(last.left), result(last.right));
  }

 private:
  void RunNode(size_t node, size_t row, std::span<uint8_t> result, std::span<const uint8_t> left,
               std::span<const uint8_t> right) {
    if (comparisons_[node] != nullptr) return comparisons_[node]->Compare(row, result);
    const FilterOperator op = nodes_[node].op;
    for (size_t i = 0; i < result.size(); ++i) {
      if (op == FilterOperator::kNot) result[i] = left[i] == 0;
      if (op == FilterOperator::kAnd) result[i] = left[i] & right[i];
      if (op == FilterOperator::kOr) result[i] = left[i] | right[i];
    }
  }

  std::span<const SpanFilter::Node> nodes_;
  std::vector<std::unique_ptr<Comparison>> comparisons_;  // by node; null for and, or, not
};

}  // namespace

Result<SpanFilter> SpanFilter::Parse(std::string_view condition) {
  Result<std::vector<Node>> nodes = ParseSpanCondition(condition);
  if (!nodes.ok()) return nodes.error();
  SpanFilter filter;
  filter.text_ = condition;
  filter.nodes_ = std::move(nodes).value();
  return filter;
}

SpanFilter SpanFilter::And(std::span<const SpanFilter> filters) {
  SpanFilter all;
  for (const SpanFilter& filter : filters) {
    all.text_.append(all.text_.empty() ? "(" : " and (").append(filter.text_).append(")");
    const auto before = static_cast<uint32_t>(all.nodes_.size());
    for (const Node& node : filter.nodes_) {
      all.nodes_.push_back(node);
      if (node.op < FilterOperator::kAnd) continue;
      all.nodes_.back().left += before;
      all.nodes_.back().right += before;
    }
    if (before == 0) continue;
    const auto last = static_cast<uint32_t>(all.nodes_.size() - 1);
    all.nodes_.push_back({.op = FilterOperator::kAnd, .text = {}, .left = before - 1, .right = last});
  }
  return all;
}

bool SpanFilter::Uses(FilterField field) const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [&](const Node& node) { return node.op < FilterOperator::kAnd && node.field == field; });
}

Selection SpanFilter::Select(const Trace& trace, uint32_t max_threads) const {
  Selection selected(trace.spans().size());
  Evaluation evaluation(trace, nodes_);
  const RowChunks blocks(selected.size(), Evaluation::kRows);
  ThreadTeam team(RowChunks(selected.size()).Members(max_threads));
  std::vector<Selection> scratch(team.size());
  team.ForEach(blocks.count(), [&](size_t block, size_t member) {
    const size_t row = blocks.begin(block);
    evaluation.Run(row, std::span(selected).subspan(row, blocks.end(block) - row), &scratch[member]);
  });
  return selected;
}

}  // namespace opscope
