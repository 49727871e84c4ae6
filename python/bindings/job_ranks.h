// Reads the ranks of one or several JOBs, one after the other, for one answer.
//
// Thread rule: one thread at a time, without the GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bindings.h"
#include "opscope/report/job_report.h"

namespace opscope::python {

struct JobPlace {
  std::string path;
  std::optional<int32_t> attempt;
};

// From a list of (path, attempt).
std::vector<JobPlace> JobPlaces(nb::list jobs);

// Takes one rank of jobs[number].
using AddRankOfJob = std::function<void(size_t number, const Trace& trace)>;
// Takes the condition of jobs[number], after its ranks.
using EndJob = std::function<void(size_t number, const JobCondition& condition)>;
// The problems and the quality of all. end_job may be empty. kUnsupported: there is no DuckDB, or a JOB lacks the steps
// that are needed.
Result<JobCondition> ReadRanksOfJobs(const std::vector<JobPlace>& jobs, bool needs_steps,
                                     const std::string& python_module, const AddRankOfJob& add,
                                     const EndJob& end_job = {});

// The filter of a condition. kUnsupported: it depends on all ranks.
Result<std::optional<SpanFilter>> FilterByRank(const std::optional<std::string>& where);

}  // namespace opscope::python
