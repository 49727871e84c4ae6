// The problems of a JOB that no trace of it has: files without a rank, several attempts, many parts. Verbs that ask the
// tables find them there, and verbs that merge the stored traces find them by the manifests; both say them alike.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "job/job_folder.h"
#include "job/stored_traces.h"
#include "opscope/merge.h"

namespace opscope {

// What is wrong with the rank of a file. rank: -1 is unknown. rank_of_name: what the name of the file says, if the
// metadata say something else.
[[nodiscard]] std::vector<JobProblem> ProblemsOfRank(const std::string& file, int32_t rank,
                                                     std::optional<int32_t> rank_of_name);

// The kind several_attempts. chosen: the one that is answered for.
[[nodiscard]] JobProblem SeveralAttempts(const std::set<int32_t>& attempts, int32_t chosen);
// The kind many_parts; nullopt: there are few.
[[nodiscard]] std::optional<JobProblem> ManyParts(size_t parts);

// The problems of the whole JOB that its manifests show. stored: the traces of all attempts.
[[nodiscard]] std::vector<JobProblem> ProblemsOfFolder(const JobFolder& folder, std::span<const StoredTrace> stored,
                                                       int32_t chosen_attempt);

}  // namespace opscope
