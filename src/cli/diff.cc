// `opscope diff`: what became slower, faster, new or gone from one run to another, or from one set of runs to another.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/diff.h"

#include <memory>
#include <string>
#include <vector>

#include "cli/result_verb.h"
#include "opscope/report/diff.h"

namespace opscope {
namespace {

VerbResult ComputeDiff(std::span<const Trace> traces, const ResultVerb& verb, const std::string& by) {
  std::vector<const Trace*> runs;
  for (const Trace& trace : traces)
    runs.push_back(&trace);
  const std::span<const Trace* const> all(runs);
  const size_t a = verb.sets[0].files.size();
  return DiffVerbResult(
      DiffRuns(all.first(a), all.subspan(a),
               {.by = DiffKeyFromName(by).value_or(DiffKey::kName), .filter = verb.filter ? &*verb.filter : nullptr}));
}

}  // namespace

Verb DiffVerb() {
  auto by = std::make_shared<std::string>("name");
  return MakeResultVerb(
      {.name = "diff",
       .description = "what became slower or faster from one run to another, and whether that is more than chance",
       .sort_help = "a JSON field such as b_self_ns (default: the size of delta_ns)",
       .compute = [by](std::span<const Trace> traces,
                       const ResultVerb& verb) { return ComputeDiff(traces, verb, *by); },
       .sets = {{.option = "--a",
                 .description = "the runs to compare with, a file for each, instead of the first FILE"},
                {.option = "--b", .description = "the runs that are compared, instead of the second FILE"}},
       .more_options = {{.names = {"--by"},
                         .target = by.get(),
                         .description =
                             "what spans of both runs must have in common: the name; the name and the shapes "
                             "of inputs, the module, or the step; kernel: the name, works of devices only",
                         .choices = {DiffKeyNames().begin(), DiffKeyNames().end()}}},
       .span_use =
           [by] {
             const bool works_alone = *by == "kernel";
             return SpanUse{.host_spans = !works_alone, .works = true, .other_spans = !works_alone};
           }});
}

}  // namespace opscope
