// The rank, attempt, host and pipeline stage of a trace. docs/reference/job.md, "Identity", has the rules.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

struct FileIdentity {
  int32_t rank = -1;
  std::string rank_from = "none";       // "metadata", "file_name", "none"
  std::optional<int32_t> rank_of_name;  // rank in the file's name, if the metadata have another one
  int32_t attempt = 0;
  int32_t world_size = -1;
  int32_t stage = -1;
  std::string host, boot;                                           // "": unknown
  std::optional<int64_t> wall_error_ns;                             // the largest error of the wall clock
  std::map<std::string, std::vector<int32_t>, std::less<>> groups;  // members of each process group, by its name
};

// attempt: the one of the command line.
[[nodiscard]] FileIdentity IdentifyFile(const Trace& trace, const std::string& path, std::optional<int32_t> attempt);

// N of the last folder `attempt-N`, `attempt_N` or `attemptN` of the path.
[[nodiscard]] std::optional<int32_t> AttemptFromPath(std::string_view path);

}  // namespace opscope
