// SPDX-License-Identifier: Apache-2.0
#include "job/job_problems.h"

#include <utility>

namespace opscope {
namespace {

constexpr size_t kManyParts = 1000;

}  // namespace

std::vector<JobProblem> ProblemsOfRank(const std::string& file, int32_t rank, std::optional<int32_t> rank_of_name) {
  std::vector<JobProblem> problems;
  if (rank < 0) {
    problems.push_back({.file = file,
                        .kind = "rank_unknown",
                        .severity = ProblemSeverity::kDataLoss,
                        .message = "neither the metadata nor the name of the file says its rank",
                        .ranks = {-1}});
  }
  if (rank_of_name) {
    problems.push_back({.file = file,
                        .kind = "rank_disagrees",
                        .message = "the metadata say rank " + std::to_string(rank) + ", the name of the file " +
                                   std::to_string(*rank_of_name),
                        .ranks = {rank}});
  }
  return problems;
}

JobProblem SeveralAttempts(const std::set<int32_t>& attempts, int32_t chosen) {
  return {.file = "",
          .kind = "several_attempts",
          .message = "the JOB has the attempts " + ListOfNumbers(attempts) + "; this is the answer of attempt " +
                     std::to_string(chosen) + ", and --attempt chooses another",
          .ranks = {}};
}

std::optional<JobProblem> ManyParts(size_t parts) {
  if (parts < kManyParts) return std::nullopt;
  return JobProblem{
      .file = "",
      .kind = "many_parts",
      .count = parts,
      .message = "the JOB has " + std::to_string(parts) + " parts, which are slow to open; opscope compact joins them",
      .ranks = {}};
}

std::vector<JobProblem> ProblemsOfFolder(const JobFolder& folder, std::span<const StoredTrace> stored,
                                         int32_t chosen_attempt) {
  std::vector<JobProblem> problems;
  std::set<int32_t> attempts;
  for (const StoredTrace& trace : stored)
    attempts.insert(trace.attempt);
  if (attempts.size() > 1) problems.push_back(SeveralAttempts(attempts, chosen_attempt));
  if (std::optional<JobProblem> many = ManyParts(folder.parts().size())) problems.push_back(std::move(*many));
  return problems;
}

}  // namespace opscope
