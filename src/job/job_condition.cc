// The problems and the quality of a JOB for answers that read its tables by themselves, such as a query of the user:
// those of the attempt that is read, or of each attempt if all are read.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/catch_bad_alloc.h"
#include "job/job_attempt.h"
#include "job/job_problems.h"
#include "opscope/report/job_report.h"

namespace opscope {
namespace {

std::string OfAttempt(int64_t number, const std::string& message) {
  return "attempt " + std::to_string(number) + ": " + message;
}

}  // namespace

Result<JobCondition> FindJobCondition(JobEngine* engine, std::optional<int32_t> attempt) {
  return CatchBadAlloc("", [&]() -> Result<JobCondition> {
    JobAttempt any(engine);
    OPSCOPE_TRY(any.Choose(attempt));
    const std::vector<int64_t> all = any.numbers();
    const bool are_several = !attempt && all.size() > 1;
    JobCondition whole;
    if (are_several) whole.problems.push_back(SeveralAttempts({all.begin(), all.end()}, std::nullopt));
    for (const int64_t number : are_several ? all : std::vector<int64_t>{any.number()}) {
      JobAttempt each(engine);
      OPSCOPE_TRY(each.Choose(static_cast<int32_t>(number)));
      OPSCOPE_TRY(each.FindProblems("file_problems.sql"));
      const Result<Quality> quality = each.Judge();
      if (!quality.ok()) return quality.error();
      whole.quality.verdict = std::max(whole.quality.verdict, quality.value().verdict);
      for (const std::string& reason : quality.value().reasons)
        whole.quality.reasons.push_back(are_several ? OfAttempt(number, reason) : reason);
      for (JobProblem problem : each.problems()) {
        if (are_several && problem.kind == "several_attempts") continue;
        if (are_several && problem.kind == "many_parts" && number != all.front()) continue;
        if (are_several && problem.kind != "many_parts") problem.message = OfAttempt(number, problem.message);
        whole.problems.push_back(std::move(problem));
      }
    }
    return whole;
  });
}

}  // namespace opscope
