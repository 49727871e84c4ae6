// Computes Paddle's profiler statistics. One walk in Paddle's order fills all lists, because Paddle lists rows in the
// order in which its own walk first meets a name.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/paddle/statistics.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "analysis/paddle/memory.h"
#include "analysis/paddle/name_traits.h"
#include "analysis/paddle/operators.h"
#include "analysis/paddle/type_times.h"
#include "analysis/track_spans.h"
#include "base/json_members.h"
#include "base/saturating.h"

namespace opscope {
namespace {

using enum PaddleEventType;

bool IsPhase(PaddleEventType type) {
  return type == kForward || type == kBackward || type == kDataloader || type == kOptimization;
}

class Statistics {
 public:
  Statistics(const Trace& trace, const PaddleNodeTrees& trees)
      : spans_(trace.spans()),
        trees_(trees),
        trace_(trace),
        traits_(trace),
        measures_(MeasurePaddleNodes(trace, trees)),
        kernels_(&statistics_.kernels),
        manipulation_(&statistics_.memory_manipulation) {}

  PaddleStatistics Compute() {
    ReadUtilization();
    FindPhases();
    PaddleTypeTimes types(trace_, trees_, measures_, &traits_);
    const std::vector<uint32_t> order = PaddleWalkOrder(trees_);
    for (size_t thread = 0, at = 0; thread < trees_.threads.size(); ++thread) {
      const size_t end = at + trees_.threads[thread].end_node - trees_.threads[thread].first_node;
      AddThread(trees_.threads[thread], std::span(order).subspan(at, end - at), &types);
      at = end;
    }
    types.MoveTo(statistics_.phases, &statistics_);
    statistics_.memory = SummarizePaddleMemory(trace_, trees_, order);
    if (statistics_.total_time == 0 && !is_paddles_) statistics_.total_time = Window();
    return std::move(statistics_);
  }

 private:
  void AddThread(const PaddleThread& thread, std::span<const uint32_t> nodes, PaddleTypeTimes* types) {
    PaddleOperatorRows operators(trace_, trees_, measures_);
    std::vector<PaddleItem> ranges;
    PaddleRows range_rows(&ranges);
    types->AddThread(thread, nodes);
    for (const uint32_t node : nodes) {
      AddKernels(node);
      if (trees_.is_root(node)) continue;
      const PaddleEventType type = trees_.type[node];
      if (type == kOperator) operators.Add(node);
      if (type != kUserDefined && type != kPythonUserDefined) continue;
      const StringId name = spans_.name[Row(trees_.span[node])];
      if (traits_.Has(name, PaddleNameTraits::kMemoryManipulation)) {
        measures_.AddTo(node, manipulation_.Of(name));
      } else if (type == kPythonUserDefined) {
        measures_.AddTo(node, range_rows.Of(name));
      }
    }
    std::vector<PaddleOperatorItem> rows = operators.Take();
    if (!rows.empty()) statistics_.operators.push_back({thread.thread, std::move(rows)});
    if (!ranges.empty()) statistics_.ranges.push_back({thread.thread, std::move(ranges)});
  }

  void AddKernels(uint32_t node) {
    for (uint32_t call = trees_.first_call[node]; call < trees_.first_call[node + 1]; ++call) {
      for (const SpanId device : trees_.devices_of(call)) {
        if (measures_.types.Of(Row(device)) != kKernel) continue;
        PaddleItem* const item = kernels_.Of(spans_.name[Row(device)]);
        ++item->calls;
        item->kernels.Add(spans_.duration[Row(device)].ns);
      }
    }
  }

  // Only the outermost of nested phases counts; steps are transparent.
  void FindPhases() {
    PaddleItem items[kPaddleEventTypes];
    std::vector<bool> is_inside(trees_.size());
    for (uint32_t node = 0; node < trees_.size(); ++node) {
      const uint32_t parent = trees_.parent[node];
      if (parent == PaddleNodeTrees::kNone) continue;
      const PaddleEventType type = trees_.type[node];
      const bool is_phase = IsPhase(type);
      if (!is_inside[parent] && (is_phase || type == kProfileStep))
        measures_.AddTo(node, &items[static_cast<size_t>(type)]);
      is_inside[node] = is_phase || is_inside[parent];
    }
    for (const PaddleEventType type : {kProfileStep, kDataloader, kForward, kBackward, kOptimization}) {
      if (items[static_cast<size_t>(type)].calls != 0)
        statistics_.phases.push_back({type, items[static_cast<size_t>(type)]});
    }
  }

  void ReadUtilization() {
    const MetadataColumns& metadata = trace_.metadata();
    for (size_t row = 0; row < metadata.size(); ++row) {
      if (trace_.text(metadata.key[row]) != "ExtraInfo") continue;
      is_paddles_ = true;
      const std::string_view object = trace_.text(metadata.json[row]);
      if (object.size() < 2) continue;
      ForEachJsonMember(object.substr(1, object.size() - 2), [&](std::string_view key, std::string_view value) {
        const std::string_view text = value.size() < 2 ? value : value.substr(1, value.size() - 2);
        if (key == "Process Cpu Utilization") statistics_.process_utilization = text;
        if (key == "System Cpu Utilization") statistics_.system_utilization = text;
        return true;
      });
    }
  }

  int64_t Window() const {
    Interval window{INT64_MAX, INT64_MIN};
    for (size_t node = 0; node < trees_.size(); ++node) {
      if (trees_.is_root(node)) continue;
      const auto [begin, end] = TimeOfSpan(spans_, Row(trees_.span[node]));
      window = {std::min(window.begin, begin), std::max(window.end, end)};
    }
    return window.begin > window.end ? 0 : SaturatingSubtract(window.end, window.begin);
  }

  const SpanColumns& spans_;
  const PaddleNodeTrees& trees_;
  const Trace& trace_;
  PaddleNameTraits traits_;
  const PaddleNodeMeasures measures_;
  PaddleStatistics statistics_;
  PaddleRows kernels_, manipulation_;
  bool is_paddles_ = false;
};

}  // namespace

PaddleStatistics ComputePaddleStatistics(const Trace& trace, const PaddleNodeTrees& trees) {
  return Statistics(trace, trees).Compute();
}

}  // namespace opscope
