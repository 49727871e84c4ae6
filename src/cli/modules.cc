// `opscope modules`: time, memory and FLOPs of each torch.nn.Module, forward and backward.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/modules.h"

#include "cli/result_verb.h"
#include "opscope/report/missing_data.h"
#include "opscope/report/modules.h"

namespace opscope {
namespace {

VerbResult ComputeModules(std::span<const Trace> traces, const ResultVerb& verb) {
  const Trace& trace = traces[0];
  const SelectedSpans selected(verb.filter, trace);
  const ModuleSummary summary = SummarizeModules(trace, selected.get());
  VerbResult result;
  result.tables.push_back(ModuleTable(trace, summary, verb.options.sort.empty()));
  if (summary.nodes.size() < 2) {
    result.shown.clear();  // there is only the row of the whole program
    result.why_empty = DescribeEmptySelection(trace, verb.filter);
    if (result.why_empty.empty()) result.why_empty = kNoModules;
  }
  return result;
}

}  // namespace

Verb ModulesVerb() {
  return MakeResultVerb({.name = "modules",
                         .description = "what each torch.nn.Module took, forward and backward",
                         .sort_help = "a JSON field such as forward_self_ns (default: as the program calls them)",
                         .compute = ComputeModules});
}

}  // namespace opscope
