// SPDX-License-Identifier: Apache-2.0
#include "job_ranks.h"

#include <memory>
#include <utility>

#include "opscope/job_engine.h"

namespace opscope::python {

std::vector<JobPlace> JobPlaces(nb::list jobs) {
  std::vector<JobPlace> places;
  for (const nb::handle each : jobs) {
    const auto pair = nb::cast<nb::tuple>(each);
    const nb::object attempt = pair[1];
    places.push_back({FromPath(pair[0]), attempt.is_none() ? std::nullopt : std::optional(nb::cast<int32_t>(attempt))});
  }
  return places;
}

Result<JobCondition> ReadRanksOfJobs(const std::vector<JobPlace>& jobs, bool needs_steps,
                                     const std::string& python_module, const AddRankOfJob& add, const EndJob& end_job) {
  JobCondition all;
  for (size_t number = 0; number < jobs.size(); ++number) {
    const JobPlace& job = jobs[number];
    const Result<std::unique_ptr<JobEngine>> engine = OpenDuckdbEngine(job.path, python_module);
    if (!engine.ok()) return engine.error();
    RankByRank question;
    question.needs_steps = needs_steps;
    question.add = [&](const Trace& trace, int32_t) { add(number, trace); };
    const Result<JobCondition> condition = ReadRankByRank(job.path, engine.value().get(), job.attempt, question);
    if (!condition.ok()) return condition.error();
    if (end_job) end_job(number, condition.value());
    all.Append(jobs.size() > 1 ? job.path : "", condition.value());
  }
  return all;
}

Result<std::optional<SpanFilter>> FilterByRank(const std::optional<std::string>& where) {
  if (!where) return std::optional<SpanFilter>();
  Result<SpanFilter> filter = ParseWhere(*where);
  if (!filter.ok()) return filter.error();
  if (!CanSelectByRank(filter.value())) return Error{ErrorCode::kUnsupported, "the condition needs all ranks together"};
  return std::optional<SpanFilter>(std::move(filter).value());
}

}  // namespace opscope::python
