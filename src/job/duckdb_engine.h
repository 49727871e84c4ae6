// The tables of a JOB as views of DuckDB.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opscope/job_engine.h"
#include "sql/session.h"

namespace opscope {

// kTables: as JobTableFiles::table, for queries of users. kSources: as JobTableFiles::source.
enum class JobViewNames { kTables, kSources };

// Creates a view for each table. A table without files has its columns and no rows. attempt: the attempt whose rows the
// views have; nullopt: all.
[[nodiscard]] Status DefineJobViews(const std::vector<JobTableFiles>& tables, JobViewNames names,
                                    std::optional<int32_t> attempt, duckdb::Session* session);

}  // namespace opscope
