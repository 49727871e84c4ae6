// The traces of a JOB, from its manifests. Opens no trace: attempt and rank are in the path.
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
  std::string name;  // name of the part; begins with 16 digits of the SHA-256 of the collected file
  uint64_t spans = 0;
  std::optional<int32_t> rank_of_name;  // as in PartFile
};

// The smallest ImportOptions::max_memory: with less, no whole block of a file fits, and the file would count as
// damaged.
inline constexpr uint64_t kHeadOfTrace = 4096;

// The traces by rank; for equal ranks in the order of the manifests. Leaves out paths of another form.
[[nodiscard]] std::vector<StoredTrace> ListStoredTraces(const JobFolder& folder);

// The attempt `wanted`, or the largest one of the JOB. kInvalidArgument: the JOB has no such attempt, or no traces; the
// message names the attempts that it has.
[[nodiscard]] Result<int32_t> ChooseAttempt(const std::string& job, std::span<const StoredTrace> stored,
                                            std::optional<int32_t> wanted);
// The same from the numbers of the attempts; the message does not name the JOB. REQUIRES: there is an attempt.
[[nodiscard]] Result<int32_t> ChooseFrom(const std::set<int32_t>& attempts, std::optional<int32_t> wanted);
// The message of an import error, without the path, which the result has beside it.
[[nodiscard]] std::string MessageWithoutFile(const Error& error, const StoredTrace& stored);

// "0, 1, 5"
[[nodiscard]] std::string ListOfNumbers(const std::set<int32_t>& numbers);
// kOutOfMemory: these traces together need more memory than the process may use, so the kernel would kill it.
[[nodiscard]] Status CheckMemoryFor(const std::string& job, std::span<const StoredTrace> stored);

}  // namespace opscope
