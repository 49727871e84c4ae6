// Each comparison becomes a column of bytes; and, or, not combine columns.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/span_filter.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include "analysis/span_filter_parser.h"

namespace opscope {
namespace {

using Selection = std::vector<uint8_t>;

// `pattern` within `text`; * stands for any characters.
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

bool HoldsFor(int64_t number, const SpanFilter::Node& node) {
  switch (node.op) {
    case FilterOperator::kEqual:
      return number == node.number;
    case FilterOperator::kNotEqual:
      return number != node.number;
    case FilterOperator::kLess:
      return number < node.number;
    case FilterOperator::kLessOrEqual:
      return number <= node.number;
    case FilterOperator::kGreater:
      return number > node.number;
    default:
      return number >= node.number;
  }
}

// Steps of each rank, in the order of their beginnings.
class StepsOfRanks {
 public:
  explicit StepsOfRanks(const Trace& trace) {
    const StepColumns& steps = trace.steps();
    const SpanColumns& spans = trace.spans();
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps.span[i] == SpanId::kNone) continue;
      const uint32_t span = Row(steps.span[i]);
      const uint32_t process = Row(trace.tracks().process[Row(spans.track[span])]);
      const int64_t start = spans.start[span].ns;
      steps_[trace.processes().rank[process]].push_back(
          {start, (spans.start[span] + spans.duration[span]).ns, steps.number[i]});
    }
    for (auto& [rank, list] : steps_)
      std::sort(list.begin(), list.end(), [](const Step& a, const Step& b) { return a.start < b.start; });
  }

  int64_t NumberAt(int32_t rank, int64_t time) const {
    const auto found = steps_.find(rank);
    if (found == steps_.end()) return -1;
    const auto& list = found->second;
    const auto after =
        std::upper_bound(list.begin(), list.end(), time, [](int64_t t, const Step& step) { return t < step.start; });
    if (after == list.begin() || time >= std::prev(after)->end) return -1;
    return std::prev(after)->number;
  }

 private:
  struct Step {
    int64_t start, end, number;
  };
  std::map<int32_t, std::vector<Step>> steps_;
};

class Selector {
 public:
  explicit Selector(const Trace& trace) : trace_(trace), spans_(trace.spans()) {}

  Selection Compare(const SpanFilter::Node& node) {
    switch (node.field) {
      case FilterField::kName:
        return ByText(spans_.name, node);
      case FilterField::kCategory:
        return ByText(spans_.category, node);
      case FilterField::kOverload:
        return ByText(spans_.overload, node);
      case FilterField::kThread:
      case FilterField::kProcess:
        return ByTrack(node, [&](uint32_t track) { return IsCalled(track, node); });
      case FilterField::kRank:
        return ByTrack(node, [&](uint32_t track) { return HoldsFor(RankOf(track), node); });
      case FilterField::kDevice:
        return ByTrack(node, [&](uint32_t track) { return HoldsFor(trace_.tracks().device[track], node); });
      default:
        return ByNumber(node);
    }
  }

 private:
  int64_t RankOf(uint32_t track) const { return trace_.processes().rank[Row(trace_.tracks().process[track])]; }

  // The name or the number of the track, or of its process. A negative condition holds when it does for both.
  bool IsCalled(uint32_t track, const SpanFilter::Node& node) const {
    const bool is_thread = node.field == FilterField::kThread;
    const uint32_t process = Row(trace_.tracks().process[track]);
    const StringId name = is_thread ? trace_.tracks().name[track] : trace_.processes().name[process];
    const StringId id_text = is_thread ? trace_.tracks().tid_text[track] : trace_.processes().pid_text[process];
    const int64_t id = is_thread ? trace_.tracks().tid[track] : trace_.processes().pid[process];
    const std::string number = id_text == StringId::kNone ? std::to_string(id) : std::string(trace_.text(id_text));
    const bool is_negative = node.op == FilterOperator::kNotEqual || node.op == FilterOperator::kContainsNot;
    const bool by_name = HoldsFor(trace_.text(name), node), by_number = HoldsFor(number, node);
    return is_negative ? by_name && by_number : by_name || by_number;
  }

  template <typename Holds>
  Selection ByTrack(const SpanFilter::Node&, Holds holds) const {
    Selection of_track(trace_.tracks().size());
    for (uint32_t track = 0; track < of_track.size(); ++track)
      of_track[track] = holds(track);
    Selection selected(spans_.size());
    for (size_t span = 0; span < selected.size(); ++span)
      selected[span] = of_track[Row(spans_.track[span])];
    return selected;
  }

  Selection ByText(std::span<const StringId> column, const SpanFilter::Node& node) const {
    constexpr uint8_t kNotYet = 2;
    Selection of_text(trace_.string_count() + 1, kNotYet);  // the last one for "no text"
    Selection selected(spans_.size());
    for (size_t span = 0; span < selected.size(); ++span) {
      uint8_t& holds = of_text[std::min<size_t>(Row(column[span]), of_text.size() - 1)];
      if (holds == kNotYet) holds = HoldsFor(trace_.text(column[span]), node);
      selected[span] = holds;
    }
    return selected;
  }

  Selection ByNumber(const SpanFilter::Node& node) const {
    Selection selected(spans_.size());
    const auto fill = [&](auto value) {
      for (size_t span = 0; span < selected.size(); ++span)
        selected[span] = HoldsFor(static_cast<int64_t>(value(span)), node);
    };
    if (node.field == FilterField::kDuration) fill([&](size_t i) { return spans_.duration[i].ns; });
    if (node.field == FilterField::kDepth) fill([&](size_t i) { return spans_.depth[i]; });
    if (node.field == FilterField::kSequence) fill([&](size_t i) { return spans_.sequence[i]; });
    if (node.field == FilterField::kCorrelation) fill([&](size_t i) { return spans_.correlation[i]; });
    if (node.field == FilterField::kStart && !selected.empty()) {
      const Timestamp first = *std::min_element(spans_.start.begin(), spans_.start.end());
      fill([&](size_t i) { return (spans_.start[i] - first).ns; });
    }
    if (node.field == FilterField::kStep) {
      const StepsOfRanks steps(trace_);
      fill([&](size_t i) {
        return steps.NumberAt(static_cast<int32_t>(RankOf(Row(spans_.track[i]))), spans_.start[i].ns);
      });
    }
    return selected;
  }

  const Trace& trace_;
  const SpanColumns& spans_;
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

Selection SpanFilter::Select(const Trace& trace) const {
  Selector selector(trace);
  std::vector<Selection> results(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (node.op < FilterOperator::kAnd) {
      results[i] = selector.Compare(node);
      continue;
    }
    results[i] = std::move(results[node.left]);
    const Selection right = node.op == FilterOperator::kNot ? Selection() : std::move(results[node.right]);
    for (size_t span = 0; span < results[i].size(); ++span) {
      uint8_t& holds = results[i][span];
      if (node.op == FilterOperator::kNot) holds = holds == 0;
      if (node.op == FilterOperator::kAnd) holds = holds & right[span];
      if (node.op == FilterOperator::kOr) holds = holds | right[span];
    }
  }
  return std::move(results.back());
}

}  // namespace opscope
