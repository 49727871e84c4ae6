// Runs a statement of a user: what it may do and how long is checked here, whatever tables it reads.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "opscope/sql.h"
#include "sql/session.h"

namespace opscope::duckdb {

// Makes the database whose tables the statement may read. It may not reach anything else.
using OpenSession = std::function<Result<std::unique_ptr<Session>>(const Api& api, const SessionOptions& options)>;

// The limit of time of a statement, as the clock can hold it.
[[nodiscard]] std::chrono::nanoseconds TimeLimit(const SqlOptions& options);

// As RunSql.
[[nodiscard]] Result<SqlResult> RunGuarded(const std::string& sql, const SqlOptions& options, const OpenSession& open);

}  // namespace opscope::duckdb
