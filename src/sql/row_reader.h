// Reads the rows of an executed statement of DuckDB.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "opscope/result.h"
#include "sql/sql_rows.h"

namespace opscope::duckdb {

// Appends the columns and rows of *executed to *rows: at most `most`, then rows->is_truncated. kInvalidArgument: a
// column has a type that opscope does not read, or DuckDB stopped; the message is its own.
[[nodiscard]] Status ReadResult(const Api& api, result* executed, uint64_t most, SqlResult::Rows* rows);

// Runs a statement of opscope's own and reads all its rows.
[[nodiscard]] Result<SqlResult> QueryAll(const std::shared_ptr<Session>& session, const std::string& sql);

// Likewise, but hands the rows to `use` in batches, in their order; DuckDB computes a batch when it is read. At least
// one call. An error of `use` ends the statement and is returned. `use` may not run statements in the session.
[[nodiscard]] Status QueryInBatches(const std::shared_ptr<Session>& session, const std::string& sql,
                                    const std::function<Status(const SqlResult& batch)>& use);

}  // namespace opscope::duckdb
