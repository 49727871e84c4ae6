// The traces that a JOB keeps, as its manifests list them. Nothing is opened: attempt and rank stand in the path.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "job/job_folder.h"
#include "opscope/result.h"

namespace opscope {

// "JOB/traces/attempt=0/rank=3/part-NAME.opscope"
struct StoredTrace {
  int32_t attempt = 0, rank = -1;
  std::string path;
  std::string name;  // of its part; it begins with 16 digits of the SHA-256 of the file that was collected
  uint64_t spans = 0;
};

// The least of max_memory of ImportOptions: with less a file has no whole block, and would count as damaged.
inline constexpr uint64_t kHeadOfTrace = 4096;

// By rank; those of one rank in the order of the manifests. A path that is not of this form is left out.
[[nodiscard]] std::vector<StoredTrace> ListStoredTraces(const JobFolder& folder);

// The attempt `wanted`, or the largest one of the JOB. kInvalidArgument: the JOB has no such attempt, or no traces; the
// message names the attempts that it has.
[[nodiscard]] Result<int32_t> ChooseAttempt(const std::string& job, std::span<const StoredTrace> stored,
                                            std::optional<int32_t> wanted);
// Of an import; without the path, which stands beside it.
[[nodiscard]] std::string MessageWithoutFile(const Error& error, const StoredTrace& stored);

// "0, 1, 5"
[[nodiscard]] std::string ListOfNumbers(const std::set<int32_t>& numbers);
// The message of the problem several_attempts.
[[nodiscard]] std::string SentenceOfAttempts(const std::set<int32_t>& attempts, int32_t chosen);

// kOutOfMemory: these traces together need more memory than the machine has, so the kernel would kill the process.
[[nodiscard]] Status CheckMemoryFor(const std::string& job, std::span<const StoredTrace> stored);

}  // namespace opscope
