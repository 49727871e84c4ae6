// The rows that one file adds to each table of a JOB.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "job/file_identity.h"
#include "opscope/job.h"
#include "opscope/owned_table.h"
#include "opscope/trace.h"

namespace opscope {

// A table with the columns of JobTables() except attempt, rank and file_id, which are equal in all rows.
using PartTable = std::shared_ptr<const OwnedTable>;

// The tables in the order of JobTables(). problems: those of the file, including those of the Trace. O(spans log
// spans).
[[nodiscard]] std::vector<PartTable> MakePartTables(const Trace& trace, const FileIdentity& identity,
                                                    const std::string& file, const std::string& sha256,
                                                    const std::vector<JobProblem>& problems);

// The problems of a file: those of its Trace, and missing parts of its identity.
[[nodiscard]] std::vector<JobProblem> ProblemsOfFile(const Trace& trace, const FileIdentity& identity,
                                                     const std::string& file);

}  // namespace opscope
