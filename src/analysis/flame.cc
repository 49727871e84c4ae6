// Folds spans into a tree by path of names. Rows are in pre-order, so the node of a span's parent is known when the
// span is reached, and its own node is one hash look-up by (parent's node, name). Trees of several metrics have the
// same paths, so one pass gives them all: the look-ups are most of its time. Totals are summed afterwards in one pass
// from the last node to the first, as children follow their parents. If the input has stacks but no Python calls, the
// frames between a span and its parent become nodes too. Paths end at kMaxFlameLevels, for readers that recurse.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/flame.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/path_index.h"
#include "analysis/recording_window.h"
#include "analysis/span_measures.h"
#include "analysis/step_names.h"
#include "analysis/torch/flops.h"
#include "analysis/track_labels.h"
#include "analysis/track_spans.h"
#include "base/saturating.h"

namespace opscope {
namespace {

constexpr std::pair<std::string_view, FlameMetric> kMetrics[] = {
    {"time", FlameMetric::kTime},     {"device_time", FlameMetric::kDeviceTime},
    {"memory", FlameMetric::kMemory}, {"flops", FlameMetric::kFlops},
    {"count", FlameMetric::kCount},
};

// By metric, by span: the value of the span itself; empty if the Trace has no such values.
std::vector<std::vector<int64_t>> SelfValues(const Trace& trace, std::span<const FlameMetric> metrics) {
  const auto is_measured = [](FlameMetric metric) {
    return metric == FlameMetric::kTime || metric == FlameMetric::kDeviceTime || metric == FlameMetric::kMemory;
  };
  SpanMeasures measures;
  if (std::any_of(metrics.begin(), metrics.end(), is_measured)) measures = MeasureSpans(trace);
  std::vector<std::vector<int64_t>> values;
  for (const FlameMetric metric : metrics) {
    switch (metric) {
      case FlameMetric::kTime:
        values.push_back(std::move(measures.self_ns));
        break;
      case FlameMetric::kDeviceTime:
        values.push_back(std::move(measures.device_self_ns));
        break;
      case FlameMetric::kMemory:
        values.push_back(std::move(measures.self_memory_bytes));
        break;
      case FlameMetric::kFlops:
        values.push_back(FlopsOfSpans(trace));
        break;
      case FlameMetric::kCount:
        values.emplace_back(trace.spans().size(), 1);
    }
  }
  return values;
}

FlameKind FlameKindOf(SpanKind kind) {
  switch (kind) {
    case SpanKind::kModule:
      return FlameKind::kModule;
    case SpanKind::kPythonFunction:
    case SpanKind::kCFunction:
      return FlameKind::kPythonCall;
    case SpanKind::kUserRange:
    case SpanKind::kStep:
    case SpanKind::kDataLoading:
    case SpanKind::kOptimizer:
    case SpanKind::kForward:
    case SpanKind::kBackward:
    case SpanKind::kCommunication:
      return FlameKind::kRange;
    default:
      return FlameKind::kOperator;
  }
}

class SpanFolder {
 public:
  // REQUIRES: each metric once
  SpanFolder(const Trace& trace, std::span<const FlameMetric> metrics, const FoldOptions& options)
      : trace_(trace),
        metrics_(metrics),
        values_(SelfValues(trace, metrics)),
        shows_frames_(NeedsFrames(trace)),
        options_(options),
        window_(trace),
        step_names_(trace) {
    nodes_.push_back({.name = "all", .kind = FlameKind::kRoot});
    level_.push_back(0);
    selfs_.resize(metrics.size());
  }

  std::vector<FlameTree> Run() {
    const TrackColumns& tracks = trace_.tracks();
    node_of_.assign(trace_.spans().size(), 0);
    if (shows_frames_) stack_of_.assign(trace_.spans().size(), StackId::kNone);
    LabelThreads();
    size_t threads = 0;
    for (uint32_t track = 0; track < tracks.size(); ++track)
      threads += tracks.kind[track] == TrackKind::kThread && HasSpans(track) ? 1 : 0;
    const bool parts_threads =
        options_.threads == ThreadNodes::kAlways || (threads > 1 && options_.threads == ThreadNodes::kWhenSeveral);
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      if (!HasSpans(track)) continue;
      if (tracks.kind[track] == TrackKind::kThread) {
        FoldTrack(track, parts_threads ? AddThread(track, FlameKind::kThread) : 0);
      } else if (tracks.kind[track] == TrackKind::kDeviceStream && options_.devices) {
        FoldTrack(track, AddThread(track, FlameKind::kDevice));
      } else {
        LeaveOut(track);
      }
    }
    std::vector<FlameTree> trees;
    for (size_t metric = 0; metric < metrics_.size(); ++metric)
      trees.push_back(TreeOf(metric));
    return trees;
  }

 private:
  static bool NeedsFrames(const Trace& trace) { return trace.stacks().size() > 0 && trace.python_calls().size() == 0; }

  uint32_t AddNode(uint32_t parent, std::string_view name, FlameKind kind) {
    nodes_.push_back({.name = name, .parent = parent, .kind = kind});
    level_.push_back(static_cast<uint16_t>(level_[parent] + 1));
    selfs_.resize(selfs_.size() + metrics_.size());
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  // True if the track has spans besides the span of the recording itself.
  bool HasSpans(uint32_t track) const {
    const uint32_t first = trace_.tracks().first_span[track];
    uint32_t windows = 0;
    while (windows < trace_.tracks().span_count[track] && window_.Is(first + windows))
      ++windows;
    return windows < trace_.tracks().span_count[track];
  }

  // A label that is only a number gets "thread " or "stream " in front.
  void LabelThreads() {
    auto labels = std::make_shared<std::vector<std::string>>(LabelTracks(trace_));
    const TrackColumns& tracks = trace_.tracks();
    for (size_t track = 0; track < tracks.size(); ++track) {
      if (!trace_.text(tracks.name[track]).empty() || tracks.tid_text[track] != StringId::kNone) continue;
      (*labels)[track].insert(0, tracks.kind[track] == TrackKind::kThread ? "thread " : "stream ");
    }
    tree_.thread_names = std::move(labels);
  }

  uint32_t AddThread(uint32_t track, FlameKind kind) {
    const std::string_view name = (*tree_.thread_names)[track];
    auto& places = kind == FlameKind::kThread ? threads_ : streams_;
    const auto [found, is_new] = places.try_emplace(name, 0u);
    if (is_new) found.value() = AddNode(0, name, kind);
    return found->second;
  }

  void LeaveOut(uint32_t track) {
    const uint32_t first = trace_.tracks().first_span[track];
    uint64_t& count = trace_.tracks().kind[track] == TrackKind::kDeviceStream ? tree_.device_spans : tree_.other_spans;
    for (uint32_t row = first; row < first + trace_.tracks().span_count[track]; ++row)
      count += window_.Is(row) ? 0 : 1;
  }

  // Returns the parent itself if it is at the deepest level.
  uint32_t Child(uint32_t parent, StringId name, SpanKind kind) {
    if (level_[parent] == kMaxFlameLevels) return parent;
    const uint32_t found = index_.Find(parent, Row(name));
    if (found != PathIndex::kNone) return found;
    const std::string_view text = trace_.text(name);
    const uint32_t node = AddNode(parent, CommonStepName(text).value_or(text), FlameKindOf(kind));
    index_.Add(parent, Row(name), node);
    return node;
  }

  void FoldTrack(uint32_t track, uint32_t root) {
    const SpanColumns& spans = trace_.spans();
    for (const uint32_t row : SpansOfTrack(trace_, track)) {
      if ((spans.flags[row] & span_flags::kAsync) != 0) {
        ++tree_.async_spans;
        continue;
      }
      const SpanId parent = spans.parent[row];
      uint32_t node = parent == SpanId::kNone ? root : node_of_[Row(parent)];
      if (!window_.Is(row)) {
        if (shows_frames_) node = AddFrames(row, node);
        const uint32_t around = node;
        node = Child(around, step_names_.Join(spans.name[row]), spans.kind[row]);
        tree_.deeper_spans += node == around ? 1 : 0;
        if (IsSelected(options_.selected, row)) AddSpan(row, node);
      }
      node_of_[row] = node;
    }
  }

  void AddSpan(uint32_t row, uint32_t node) {
    PathNode& folded = nodes_[node];
    if (++folded.spans == 1) folded.category = trace_.spans().category[row];
    int64_t* const selfs = &selfs_[node * metrics_.size()];
    for (size_t metric = 0; metric < values_.size(); ++metric) {
      if (values_[metric].empty()) continue;
      selfs[metric] = SaturatingAdd(selfs[metric], std::max<int64_t>(values_[metric][row], 0));
    }
  }

  FlameTree TreeOf(size_t metric) const {
    FlameTree tree = tree_;
    tree.metric = metrics_[metric];
    std::vector<int64_t> totals(nodes_.size(), 0);
    for (size_t i = nodes_.size(); i-- > 0;) {
      totals[i] = SaturatingAdd(totals[i], selfs_[i * metrics_.size() + metric]);
      if (i > 0) totals[nodes_[i].parent] = SaturatingAdd(totals[nodes_[i].parent], totals[i]);
    }
    const size_t max_nodes = std::max<size_t>(1, options_.max_nodes);
    Cutoff cutoff = CutoffOf(totals, max_nodes);
    tree.nodes.reserve(std::min(nodes_.size(), max_nodes));
    std::vector<uint32_t> new_row(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!cutoff.Keeps(totals[i])) continue;
      const PathNode& path = nodes_[i];
      new_row[i] = static_cast<uint32_t>(tree.nodes.size());
      tree.nodes.push_back({.name = path.name,
                            .parent = new_row[path.parent],
                            .kind = path.kind,
                            .self = selfs_[i * metrics_.size() + metric],
                            .total = totals[i],
                            .spans = path.spans,
                            .category = path.category});
    }
    tree.folded_nodes = nodes_.size() - tree.nodes.size();
    return tree;
  }

  // Chooses the heaviest nodes: those above `total`, and the first `ties` of those that equal it. A parent comes before
  // its children and is no lighter, so a node that is kept has its parent.
  struct Cutoff {
    int64_t total = INT64_MIN;
    size_t ties = 0;

    bool Keeps(int64_t of_node) {
      if (of_node != total) return of_node > total;
      if (ties == 0) return false;
      --ties;
      return true;
    }
  };
  static Cutoff CutoffOf(const std::vector<int64_t>& totals, size_t max_nodes) {
    if (totals.size() <= max_nodes) return {};
    std::vector<int64_t> descending = totals;
    const auto last = descending.begin() + static_cast<ptrdiff_t>(max_nodes - 1);
    std::nth_element(descending.begin(), last, descending.end(), std::greater<>());
    const auto above = std::count_if(totals.begin(), totals.end(), [&](int64_t total) { return total > *last; });
    return {*last, max_nodes - static_cast<size_t>(above)};
  }

  // Adds nodes for the frames between the span and its parent, if its stack extends the parent's.
  uint32_t AddFrames(uint32_t row, uint32_t node) {
    const SpanColumns& spans = trace_.spans();
    const StackColumns& stacks = trace_.stacks();
    const StackId around = spans.parent[row] == SpanId::kNone ? StackId::kNone : stack_of_[Row(spans.parent[row])];
    const StackId own = spans.stack[row] == StackId::kNone ? around : spans.stack[row];
    stack_of_[row] = own;
    if (own == around) return node;
    frames_.clear();
    StackId id = own;
    for (; id != StackId::kNone && id != around; id = stacks.caller[Row(id)])
      frames_.push_back(trace_.frames().text[Row(stacks.frame[Row(id)])]);
    if (id != around) return node;  // an unrelated stack, of a TorchScript function for example
    for (size_t i = frames_.size(); i-- > 0;)
      node = Child(node, frames_[i], KindOfPythonCall(trace_.text(frames_[i])));
    return node;
  }

  // What all trees have in common.
  struct PathNode {
    std::string_view name;
    uint32_t parent = 0;
    FlameKind kind = FlameKind::kOperator;
    StringId category = StringId::kNone;
    uint64_t spans = 0;
  };

  const Trace& trace_;
  const std::span<const FlameMetric> metrics_;
  const std::vector<std::vector<int64_t>> values_;  // by metric, by span
  const bool shows_frames_;
  const FoldOptions options_;
  const RecordingWindow window_;
  const StepNames step_names_;
  FlameTree tree_;  // without nodes
  std::vector<PathNode> nodes_;
  std::vector<int64_t> selfs_;     // by node, by metric
  std::vector<uint16_t> level_;    // by node
  std::vector<uint32_t> node_of_;  // by span
  std::vector<StackId> stack_of_;  // by span
  std::vector<StringId> frames_;
  PathIndex index_;
  tsl::robin_map<std::string_view, uint32_t> threads_, streams_;  // node by label
};

}  // namespace

std::optional<FlameMetric> FlameMetricFromName(std::string_view name) {
  for (const auto& [known, metric] : kMetrics)
    if (known == name) return metric;
  return std::nullopt;
}

std::vector<FlameTree> FoldSpans(const Trace& trace, std::span<const FlameMetric> metrics, const FoldOptions& options) {
  return SpanFolder(trace, metrics, options).Run();
}

FlameTree FoldSpans(const Trace& trace, FlameMetric metric, const FoldOptions& options) {
  return std::move(FoldSpans(trace, std::span(&metric, 1), options)[0]);
}

}  // namespace opscope
