// Limits of metrics. The rows are a table (OwnedTable), like those of other results.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/check.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.h"
#include "job_ranks.h"
#include "opscope/report.h"
#include "opscope/report/job.h"

namespace opscope::python {
namespace {

// Metric, kind of limit and number, as the command line writes them.
using LimitTexts = std::tuple<nb::object, nb::object, nb::object>;

[[noreturn]] void Refuse(const std::string& what) {
  Raise({ErrorCode::kInvalidArgument, what});
}

CheckLimit LimitOf(const LimitTexts& texts, bool has_baseline) {
  const std::string metric = TextArgument(std::get<0>(texts), "the name of a metric");
  const std::string kind_name = TextArgument(std::get<1>(texts), "the kind of a limit");
  const std::string number = TextArgument(std::get<2>(texts), "a limit");
  const std::optional<LimitKind> kind = LimitKindFromName(kind_name);
  if (!kind) Refuse(metric + ": there is no limit '" + kind_name + "'; known: min, max, max_increase, max_decrease");
  if (IsRelative(*kind) && !has_baseline) Refuse(metric + ": " + kind_name + " needs a baseline");
  Result<CheckLimit> limit = ParseCheckLimit(metric, *kind, number);
  if (!limit.ok()) Refuse(metric + ": " + kind_name + ": " + limit.error().message);
  return std::move(limit).value();
}

std::vector<CheckLimit> LimitsOf(const std::vector<LimitTexts>& limit_texts, bool has_baseline) {
  std::vector<CheckLimit> limits;
  limits.reserve(limit_texts.size());
  for (const LimitTexts& texts : limit_texts)
    limits.push_back(LimitOf(texts, has_baseline));
  return limits;
}

ComputedTable Check(const SharedTrace& self, const std::vector<LimitTexts>& limit_texts, nb::handle baseline_trace) {
  const Trace* const baseline =
      baseline_trace.is_none() ? nullptr : nb::cast<const SharedTrace&>(baseline_trace).trace.get();
  const std::vector<CheckLimit> limits = LimitsOf(limit_texts, baseline != nullptr);
  return ToComputedTable(WithoutGil([&] { return CheckTable(CheckTrace(*self.trace, baseline, limits)).ToTable(); }));
}

// The same of a JOB and perhaps a second one, the baseline, one rank at a time; and the problems of both as JSON.
std::pair<ComputedTable, std::string> CheckJobs(nb::list job_and_baseline, const std::vector<LimitTexts>& limit_texts,
                                                const std::string& python_module) {
  const std::vector<JobPlace> jobs = JobPlaces(job_and_baseline);
  const bool has_baseline = jobs.size() > 1;
  const std::vector<CheckLimit> limits = LimitsOf(limit_texts, has_baseline);
  std::string problems;
  const std::shared_ptr<const OwnedTable> table = Unwrap(WithoutGil([&]() -> Result<std::shared_ptr<const OwnedTable>> {
    CheckMetrics metrics(limits), baseline = CheckMetrics::OfBaseline(limits);
    const auto metrics_of = [&](size_t number) -> CheckMetrics& { return number == 0 ? metrics : baseline; };
    const Result<JobCondition> read = ReadRanksOfJobs(
        jobs, NeedsSteps(limits), python_module,
        [&](size_t number, const Trace& trace) { metrics_of(number).Add(trace); },
        [&](size_t number, const JobCondition& condition) { metrics_of(number).SetProblems(condition.losses()); });
    if (!read.ok()) return read.error();
    problems = JobProblemsJson(read.value().problems);
    return CheckTable(CheckLimits(metrics, has_baseline ? &baseline : nullptr, limits)).ToTable();
  }));
  return {ToComputedTable(table), std::move(problems)};
}

}  // namespace

void BindCheck(nb::module_& module) {
  module.def("check", &Check, nb::arg("trace"), nb::arg("limits"), nb::arg("baseline").none() = nb::none(),
             "Compares metrics with limits (metric, kind, number): a row per limit.");
  module.def("job_check", &CheckJobs, nb::arg("job_and_baseline"), nb::arg("limits"), nb::arg("python_module"),
             "The same of one or two JOBs (path, attempt), one rank at a time, and their problems as JSON. Error "
             "\"unsupported\": the ranks have to be merged, for there is no DuckDB, or no steps for findings.");
}

}  // namespace opscope::python
