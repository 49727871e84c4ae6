// Writes collapsed stacks, the format of flamegraph.pl: `main;train;forward 1200`, self time in nanoseconds.
// FoldedStacks makes the lines; the same text is the output of `opscope flame`.
// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "export/writers.h"
#include "opscope/report/flame.h"

namespace opscope {

void WriteCollapsed(const Trace& trace, const FlameTree& tree, const ExportOptions& /*options*/, ExportOutput* out) {
  FoldedStacks(tree, [out](std::string_view piece) { out->Write(piece); });
  out->CountOmitted("frames below the 2,048th of a path, which has their values", tree.deeper_spans);
  out->CountOmitted("spans of devices", tree.device_spans);
  out->CountOmitted("spans of tracks that are not threads", tree.other_spans);
  out->CountOmitted("asynchronous spans", tree.async_spans + trace.async_spans().size());
  out->CountOmitted("instants", trace.instants().size());
  out->CountOmitted("counter samples", trace.counters().size());
  out->CountOmitted("flows", trace.flows().size());
}

}  // namespace opscope
