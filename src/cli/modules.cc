// `opscope modules`: what each torch.nn.Module took.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/modules.h"

#include "cli/row_verb.h"

namespace opscope {
namespace {

int PrintModules(const Trace& trace, const std::string& file, const RowVerb& verb, Answers* answers) {
  const SelectedSpans selected(verb.filter, trace);
  const ModuleSummary summary = SummarizeModules(trace, selected.get());
  std::string nothing;
  if (summary.nodes.size() < 2) {
    nothing = WhyNothing(trace, verb.filter);
    if (nothing.empty()) nothing = "there are no modules; they are recorded by with_modules=True and with_stack=True";
  }
  const auto table = [&](const RowOptions& rows) { return FormatModuleTable(summary, rows); };
  const auto csv = [&](const RowOptions& rows) { return ModulesCsv(summary, rows); };
  const auto json = [&](const RowOptions& rows) { return ModulesJson(trace, summary, JudgeQuality(trace), rows); };
  return PrintRows("modules", file, verb.common, verb.rows, {table, csv, json, nothing}, answers);
}

}  // namespace

Verb ModulesVerb() {
  return MakeRowVerb({.name = "modules",
                      .description = "what each torch.nn.Module took, forward and backward",
                      .sort_help = "a JSON field such as forward_self_ns (default: as the program calls them)",
                      .print = PrintModules});
}

}  // namespace opscope
