// Jobs of many ranks: files are added, questions are answered. An answer is a pair: its JSON, and its rows as a table
// that Python reads without parsing. All of it runs without the GIL, so that other threads of the program go on.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/job.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.h"
#include "job_engine.h"
#include "job_ranks.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/analysis/span_filter.h"
#include "opscope/cut.h"
#include "opscope/report/job.h"
#include "opscope/report/job_report.h"

namespace opscope::python {
namespace {

Result<JobAnswer> AskEngine(const std::string& verb, const std::string& job, JobEngine* engine,
                            const JobQuestion& question, std::optional<SpanFilter> filter) {
  const auto by_rank = [&](const RankByRank& ask) { return AnswerRankByRank(job, engine, question.attempt, ask); };
  if (verb == "devices") return by_rank(DevicesByRank(std::move(filter)));
  if (verb == "memory") return by_rank(MemoryByRank(std::move(filter)));
  if (verb == "critical-path") return by_rank(CriticalPathByRank(std::move(filter)));
  if (verb == "advise") return by_rank(AdviseByRank(std::move(filter)));
  if (verb == "steps" && filter) return by_rank(StepsByRank(std::move(filter)));
  return AnswerJob(verb, engine, question);
}

// The JSON of a result, and its first list as a table, which Arrow and pandas read.
using JsonAndTable = std::pair<std::string, std::shared_ptr<const OwnedTable>>;

// limit: of the rows of the table.
JsonAndTable JsonAndTableOf(const VerbResult& result, std::optional<size_t> limit = {}) {
  return {ResultJson(result, std::span<const ResultInput>()), result.tables[0].ToTable(limit)};
}

nb::tuple ToPython(JsonAndTable answer) {
  return nb::make_tuple(std::move(answer.first), ToComputedTable(std::move(answer.second)));
}

nb::tuple Answer(const std::string& verb, nb::object job, std::optional<int32_t> attempt, bool members, bool is_exact,
                 nb::handle where, const std::string& python_module, nb::object of_python) {
  const std::string path = FromPath(job);
  const std::optional<std::string> condition = WhereArgument(where);
  const bool is_duckdb = of_python.is_none();
  const JobQuestion question = {.attempt = attempt, .with_members = members, .is_exact = is_exact};
  return ToPython(Unwrap(WithoutGil([&]() -> Result<JsonAndTable> {
    Result<std::optional<SpanFilter>> filter = FilterByRank(condition);
    if (!filter.ok()) return filter.error();
    const Result<std::unique_ptr<JobEngine>> engine =
        is_duckdb ? OpenDuckdbEngine(path, python_module) : WrapEngine(of_python, path);
    if (!engine.ok()) return engine.error();
    const Result<JobAnswer> answer = AskEngine(verb, path, engine.value().get(), question, std::move(filter).value());
    if (!answer.ok()) return answer.error();
    return JsonAndTableOf(answer.value().result);
  })));
}

nb::tuple Summary(nb::object job, std::optional<int32_t> attempt, nb::list group_by, nb::handle where, nb::handle sort,
                  std::optional<size_t> limit, const std::string& python_module) {
  const std::string path = FromPath(job), sort_key = TextArgument(sort, "sort");
  const std::optional<std::string> condition = WhereArgument(where);
  const OpSummaryOptions options{.group_by = GroupKeysArgument(group_by)};
  return ToPython(Unwrap(WithoutGil([&]() -> Result<JsonAndTable> {
    if (!std::all_of(options.group_by.begin(), options.group_by.end(), CanSummarizeByRank))
      return Error{ErrorCode::kUnsupported, "the texts of a key depend on all ranks"};
    Result<std::optional<SpanFilter>> filter = FilterByRank(condition);
    if (!filter.ok()) return filter.error();
    const Result<std::unique_ptr<JobEngine>> engine = OpenDuckdbEngine(path, python_module);
    if (!engine.ok()) return engine.error();
    Result<JobAnswer> answer =
        AnswerRankByRank(path, engine.value().get(), attempt, SummaryByRank(options, std::move(filter).value()));
    if (!answer.ok()) return answer.error();
    VerbResult& result = answer.value().result;
    OPSCOPE_TRY(result.tables[0].Sort(sort_key));
    return JsonAndTableOf(result, limit);
  })));
}

nb::tuple Collect(nb::list files, nb::object job, std::optional<int32_t> attempt, const std::string& python_module) {
  std::vector<std::string> paths;
  for (nb::handle file : files)
    paths.push_back(FromPath(nb::borrow(file)));
  CollectOptions options;
  options.job = FromPath(job);
  options.attempt = attempt;
  options.python_module = python_module;
  return ToPython(Unwrap(WithoutGil([&]() -> Result<JsonAndTable> {
    const Result<CollectReport> report = CollectFiles(paths, options);
    if (!report.ok()) return report.error();
    return JsonAndTableOf(CollectVerbResult(report.value(), options.job));
  })));
}

std::pair<uint64_t, uint64_t> Compact(nb::object job, const std::string& python_module) {
  const std::string path = FromPath(job);
  const CompactReport report = Unwrap(WithoutGil([&] { return CompactJob(path, python_module); }));
  return {report.parts_before, report.parts_after};
}

using TableFiles = std::tuple<std::string, std::string, std::vector<std::string>,
                              std::vector<std::pair<std::string, std::string>>, uint64_t>;

std::vector<TableFiles> FilesOfJob(nb::object job) {
  const std::string path = FromPath(job);
  std::vector<TableFiles> tables;
  for (JobTableFiles& table : Unwrap(WithoutGil([&] { return ListJobFiles(path); })))
    tables.emplace_back(std::move(table.table), std::move(table.source), std::move(table.files),
                        std::move(table.columns), table.rows);
  return tables;
}

Result<Trace> JobPart(const std::string& path, const JobSelection& selection, JobClocks clocks,
                      const std::optional<std::string>& where) {
  Result<Trace> whole = OpenJobAsOne(path, selection, clocks);
  if (!whole.ok() || !where) return whole;
  const Result<SpanFilter> filter = SpanFilter::Parse(*where);
  if (!filter.ok()) return filter.error();
  return CutTrace(whole.value(), filter.value().Select(whole.value()), *where);
}

SharedTrace OpenPart(nb::object job, std::optional<int32_t> attempt, std::vector<int32_t> ranks,
                     std::optional<std::string> where, bool has_one_clock) {
  const std::string path = FromPath(job);
  const JobClocks clocks = has_one_clock ? JobClocks::kAligned : JobClocks::kOwn;
  return {std::make_shared<const Trace>(Unwrap(
      WithoutGil([&] { return JobPart(path, {.attempt = attempt, .ranks = std::move(ranks)}, clocks, where); })))};
}

}  // namespace

void BindJob(nb::module_& module) {
  module.def(
      "job_answer", &Answer, nb::arg("verb"), nb::arg("job"), nb::arg("attempt").none(), nb::arg("members"),
      nb::arg("is_exact"), nb::arg("where").none(), nb::arg("python_module"), nb::arg("engine").none(),
      "The JSON of a verb over a JOB, and its rows as a table. `where`: as job_summary, of "
      "`steps`, `devices`, `memory` and `advise`. `engine`: None is "
      "DuckDB, else an object with "
      "define(name, select, is_kept) and query(select), which returns the names of the columns and the rows as JSON.");
  module.def(
      "job_summary", &Summary, nb::arg("job"), nb::arg("attempt").none(), nb::arg("group_by"), nb::arg("where").none(),
      nb::arg("sort"), nb::arg("limit").none(), nb::arg("python_module"),
      "JSON and table of the operator summary of a JOB, one rank at a time; `limit`: of the rows of the table. "
      "Error \"unsupported\": the ranks have to be merged, for there is no DuckDB, or for a key or the condition.");
  module.def("collect", &Collect, nb::arg("files"), nb::arg("job"), nb::arg("attempt").none(), nb::arg("python_module"),
             "Adds files to a JOB; the JSON of `opscope collect`, and its rows as a table.");
  module.def("compact_job", &Compact, nb::arg("job"), nb::arg("python_module"),
             "Joins the small files of a JOB; the number of its parts before and after.");
  module.def("job_files", &FilesOfJob, nb::arg("job"),
             "(table, its name in an engine, files, [(column, type), ...], rows) of a JOB.");
  module.def("job_trace", &OpenPart, nb::arg("job"), nb::arg("attempt").none(), nb::arg("ranks"),
             nb::arg("where").none(), nb::arg("has_one_clock"),
             "Ranks of a JOB as one trace. `has_one_clock`: their clocks are aligned, else each rank keeps its own.");
}

}  // namespace opscope::python
