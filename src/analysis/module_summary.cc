// Sums times, memory and FLOPs by module. Each span adds its self values to the module around it (FindModules); one
// pass from the last node to the first then adds children to their parents, as a child's row is greater than its
// parent's. Forward and backward time are kept apart: a backward span counts for the module of its forward operator.
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "analysis/recording_window.h"
#include "analysis/span_measures.h"
#include "analysis/torch/flops.h"
#include "analysis/track_spans.h"
#include "base/saturating.h"
#include "opscope/analysis/modules.h"

namespace opscope {
namespace {

void Add(int64_t more, int64_t* sum) {
  *sum = SaturatingAdd(*sum, more);
}

// Computes totals from self values.
void AddUpwards(ModuleSummary* summary) {
  for (ModuleRow& row : summary->rows) {
    row.ops = row.self_ops;
    row.forward_ns = row.forward_self_ns;
    row.backward_ns = row.backward_self_ns;
    row.device_ns = row.device_self_ns;
    row.memory_bytes = row.self_memory_bytes;
    row.flops = row.self_flops;
  }
  for (size_t i = summary->rows.size(); i-- > 1;) {
    const ModuleRow& row = summary->rows[i];
    ModuleRow& parent = summary->rows[summary->nodes[i].parent];
    parent.ops += row.ops;
    Add(row.forward_ns, &parent.forward_ns);
    Add(row.backward_ns, &parent.backward_ns);
    Add(row.device_ns, &parent.device_ns);
    Add(row.memory_bytes, &parent.memory_bytes);
    Add(row.flops, &parent.flops);
  }
}

}  // namespace

ModuleSummary SummarizeModules(const Trace& trace, const std::vector<uint8_t>* selected) {
  ModulesOfSpans modules = FindModules(trace);
  const SpanMeasures measures = MeasureSpans(trace);
  const std::vector<int64_t> flops = FlopsOfSpans(trace);
  const SpanColumns& spans = trace.spans();
  const RecordingWindow window(trace);
  ModuleSummary summary;
  summary.rows.resize(modules.nodes.size());
  for (size_t span = 0; span < spans.size(); ++span) {
    if (!IsSelected(selected, span)) continue;
    if (trace.tracks().kind[Row(spans.track[span])] != TrackKind::kThread) continue;
    if ((spans.flags[span] & span_flags::kAsync) != 0 || window.Is(span)) continue;
    ModuleRow& row = summary.rows[modules.node_of[span]];
    Add(measures.self_ns[span], modules.is_backward[span] != 0 ? &row.backward_self_ns : &row.forward_self_ns);
    row.self_ops += spans.kind[span] == SpanKind::kOperator ? 1 : 0;
    row.calls += spans.kind[span] == SpanKind::kModule ? 1 : 0;
    if (!measures.device_self_ns.empty()) Add(measures.device_self_ns[span], &row.device_self_ns);
    if (!measures.self_memory_bytes.empty()) Add(measures.self_memory_bytes[span], &row.self_memory_bytes);
    if (!flops.empty()) Add(flops[span], &row.self_flops);
  }
  summary.nodes = std::move(modules.nodes);
  AddUpwards(&summary);
  return summary;
}

}  // namespace opscope
