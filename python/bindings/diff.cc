// Comparisons of runs. The rows, the steps and the memory are tables (OwnedTable), like those of other results.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/diff.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "job_ranks.h"
#include "opscope/analysis/span_filter.h"
#include "opscope/report.h"
#include "opscope/report/job.h"

namespace opscope::python {
namespace {

// The traces stay alive as long as this is.
struct PythonRuns {
  std::vector<std::shared_ptr<const Trace>> owners;
  std::vector<const Trace*> traces;

  explicit PythonRuns(nb::list runs) {
    for (const nb::handle run : runs) {
      owners.push_back(nb::cast<const SharedTrace&>(run).trace);
      traces.push_back(owners.back().get());
    }
  }
};

DiffKey DiffKeyOf(const std::string& name) {
  if (const std::optional<DiffKey> key = DiffKeyFromName(name)) return *key;
  std::string known;
  for (const std::string_view key : DiffKeyNames())
    known.append(known.empty() ? "" : ", ").append(key);
  Raise({ErrorCode::kInvalidArgument, "cannot compare by '" + name + "'; known: " + known});
}

// The tables of rows, steps and memory, and the text of all.
nb::tuple TablesOf(const VerbResult& result) {
  const auto table = [&](size_t number) { return ToComputedTable(result.tables[number].ToTable()); };
  return nb::make_tuple(table(0), table(1), table(2), ToText(ResultText(result)));
}

nb::tuple Diff(nb::list a, nb::list b, nb::handle by, nb::handle where) {
  const PythonRuns runs_a(a), runs_b(b);
  DiffOptions options{.by = DiffKeyOf(TextArgument(by, "by"))};
  const std::optional<std::string> condition = WhereArgument(where);
  return TablesOf(Unwrap(WithoutGil([&]() -> Result<VerbResult> {
    std::optional<SpanFilter> filter;
    if (condition) {
      Result<SpanFilter> parsed = ParseWhere(*condition);
      if (!parsed.ok()) return parsed.error();
      options.filter = &filter.emplace(std::move(parsed).value());
    }
    return DiffVerbResult(DiffRuns(runs_a.traces, runs_b.traces, options));
  })));
}

// The same of two JOBs, one rank at a time, and the problems of both as JSON.
std::pair<nb::tuple, std::string> DiffJobs(nb::list a_and_b, nb::handle by, nb::handle where,
                                           const std::string& python_module) {
  const std::vector<JobPlace> jobs = JobPlaces(a_and_b);
  DiffOptions options{.by = DiffKeyOf(TextArgument(by, "by"))};
  const std::optional<std::string> condition = WhereArgument(where);
  std::string problems;
  nb::tuple tables = TablesOf(Unwrap(WithoutGil([&]() -> Result<VerbResult> {
    const Result<std::optional<SpanFilter>> filter = FilterByRank(condition);
    if (!filter.ok()) return filter.error();
    options.filter = filter.value() ? &*filter.value() : nullptr;
    RunComparison runs(options, false);
    runs.BeginRun(RunComparison::Side::kA);
    runs.BeginRun(RunComparison::Side::kB);
    const Result<JobCondition> read =
        ReadRanksOfJobs(jobs, false, python_module, [&](size_t number, const Trace& trace) {
          runs.Add(number == 0 ? RunComparison::Side::kA : RunComparison::Side::kB, trace);
        });
    if (!read.ok()) return read.error();
    problems = JobProblemsJson(read.value().problems);
    return DiffVerbResult(std::move(runs).Compare());
  })));
  return {std::move(tables), std::move(problems)};
}

}  // namespace

void BindDiff(nb::module_& module) {
  module.def("diff", &Diff, nb::arg("a"), nb::arg("b"), nb::arg("by"), nb::arg("where").none() = nb::none(),
             "Compares two lists of traces: tables of rows, steps and memory, and a text.");
  module.def("job_diff", &DiffJobs, nb::arg("a_and_b"), nb::arg("by"), nb::arg("where").none(),
             nb::arg("python_module"),
             "The same of two JOBs (path, attempt), one rank at a time, and their problems as JSON. Error "
             "\"unsupported\": the ranks have to be merged, for there is no DuckDB, or for the condition.");
}

}  // namespace opscope::python
