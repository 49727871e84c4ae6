// Writes collapsed stacks, the format of flamegraph.pl: `main;train;forward 1200`, self time in nanoseconds.
// FoldedStacks makes the lines; the same text is the output of `opscope flame`.
// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "export/writers.h"
#include "opscope/report/flame.h"

namespace opscope {

void WriteCollapsed(const Trace& trace, const FlameTree& tree, const ExportOptions& /*options*/, ExportOutput* out) {
  FoldedStacks(tree, [out](std::string_view piece) { out->Write(piece); });
  out->LeaveOut("frames below the 2,048th of a path, which has their values", tree.deeper_spans);
  out->LeaveOut("spans of devices", tree.device_spans);
  out->LeaveOut("spans of tracks that are no threads", tree.other_spans);
  out->LeaveOut("asynchronous spans", tree.async_spans + trace.async_spans().size());
  out->LeaveOut("instants", trace.instants().size());
  out->LeaveOut("counter samples", trace.counters().size());
  out->LeaveOut("flows", trace.flows().size());
}

}  // namespace opscope
