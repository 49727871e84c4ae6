// Folds spans into a tree by path of names. Rows are in pre-order, so the node of a span's parent is known when the
// span is reached, and its own node is one hash look-up by (parent's node, name). Totals are summed afterwards in one
// pass from the last node to the first, as children follow their parents. If the input has stacks but no Python calls,
// the frames between a span and its parent become nodes too. Paths end at kMaxFlameLevels, for readers that recurse.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/flame.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/recording_window.h"
#include "analysis/span_measures.h"
#include "analysis/step_names.h"
#include "analysis/torch/flops.h"
#include "analysis/track_labels.h"
#include "base/hash.h"
#include "base/saturating.h"

namespace opscope {
namespace {

constexpr std::pair<std::string_view, FlameMetric> kMetrics[] = {
    {"time", FlameMetric::kTime},     {"device_time", FlameMetric::kDeviceTime},
    {"memory", FlameMetric::kMemory}, {"flops", FlameMetric::kFlops},
    {"count", FlameMetric::kCount},
};

std::vector<int64_t> SelfValues(const Trace& trace, FlameMetric metric) {
  switch (metric) {
    case FlameMetric::kTime:
      return MeasureSpans(trace).self_ns;
    case FlameMetric::kDeviceTime:
      return MeasureSpans(trace).device_self_ns;
    case FlameMetric::kMemory:
      return MeasureSpans(trace).self_memory_bytes;
    case FlameMetric::kFlops:
      return FlopsOfSpans(trace);
    case FlameMetric::kCount:
      break;
  }
  return std::vector<int64_t>(trace.spans().size(), 1);
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
  SpanFolder(const Trace& trace, FlameMetric metric, const FoldOptions& options)
      : trace_(trace),
        values_(SelfValues(trace, metric)),
        shows_frames_(NeedsFrames(trace)),
        options_(options),
        window_(trace),
        step_names_(trace) {
    tree_.metric = metric;
    tree_.nodes.push_back({.name = "all", .kind = FlameKind::kRoot});
    level_.push_back(0);
  }

  FlameTree Run() {
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
    for (size_t i = tree_.nodes.size(); i-- > 1;) {
      FlameNode &node = tree_.nodes[i], &around = tree_.nodes[node.parent];
      node.total = SaturatingAdd(node.total, node.self);
      around.total = SaturatingAdd(around.total, node.total);
    }
    return std::move(tree_);
  }

 private:
  static bool NeedsFrames(const Trace& trace) { return trace.stacks().size() > 0 && trace.python_calls().size() == 0; }

  bool IsSelected(uint32_t span) const { return options_.selected == nullptr || (*options_.selected)[span] != 0; }

  uint32_t AddNode(uint32_t parent, std::string_view name, FlameKind kind) {
    tree_.nodes.push_back({.name = name, .parent = parent, .kind = kind});
    level_.push_back(static_cast<uint16_t>(level_[parent] + 1));
    return static_cast<uint32_t>(tree_.nodes.size() - 1);
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
    auto labels = std::make_unique<std::vector<std::string>>(LabelTracks(trace_));
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
    const uint64_t key = uint64_t{parent} << 32 | Row(name);
    const auto found = nodes_.find(key);
    if (found != nodes_.end()) return found->second;
    const std::string_view text = trace_.text(name);
    const uint32_t node = AddNode(parent, CommonStepName(text).value_or(text), FlameKindOf(kind));
    nodes_.emplace(key, node);
    return node;
  }

  void FoldTrack(uint32_t track, uint32_t root) {
    const SpanColumns& spans = trace_.spans();
    const uint32_t first = trace_.tracks().first_span[track];
    for (uint32_t row = first; row < first + trace_.tracks().span_count[track]; ++row) {
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
        FlameNode& folded = tree_.nodes[node];
        if (IsSelected(row) && ++folded.spans == 1) folded.category = spans.category[row];
        if (!values_.empty() && IsSelected(row)) {
          folded.self = SaturatingAdd(folded.self, std::max<int64_t>(values_[row], 0));
        }
      }
      node_of_[row] = node;
    }
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

  const Trace& trace_;
  const std::vector<int64_t> values_;  // by span; empty if the Trace has no such values
  const bool shows_frames_;
  const FoldOptions options_;
  const RecordingWindow window_;
  const StepNames step_names_;
  FlameTree tree_;
  std::vector<uint16_t> level_;    // by node
  std::vector<uint32_t> node_of_;  // by span
  std::vector<StackId> stack_of_;  // by span
  std::vector<StringId> frames_;
  tsl::robin_map<uint64_t, uint32_t, MixedHash> nodes_;           // by parent and name
  tsl::robin_map<std::string_view, uint32_t> threads_, streams_;  // node by label
};

}  // namespace

std::optional<FlameMetric> FlameMetricFromName(std::string_view name) {
  for (const auto& [known, metric] : kMetrics) {
    if (known == name) return metric;
  }
  return std::nullopt;
}

FlameTree FoldSpans(const Trace& trace, FlameMetric metric, const FoldOptions& options) {
  return SpanFolder(trace, metric, options).Run();
}

}  // namespace opscope
