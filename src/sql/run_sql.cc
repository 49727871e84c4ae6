// Runs one statement: its text is looked at, DuckDB is opened for it alone, DuckDB says what kind of statement it is,
// and then its rows are fetched chunk by chunk, under the watch of time and memory, until they end or the limit of rows
// is reached.
//
// The rows are streamed, not computed as a whole first: `SELECT * FROM range(1000000000000)` ends at the limit of rows.
// A statement that does not order its rows runs on one thread, since several would give another order each time.
// SPDX-License-Identifier: Apache-2.0
#include "sql/run_sql.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/assign.h"
#include "base/catch_bad_alloc.h"
#include "base/text.h"
#include "base/thread_team.h"
#include "opscope/sql.h"
#include "sql/query_watch.h"
#include "sql/row_reader.h"
#include "sql/sql_rows.h"
#include "sql/statement_text.h"

namespace opscope {

using duckdb::Api;
using duckdb::CleanMessage;
using duckdb::OpenSession;
using duckdb::Owned;

namespace {

constexpr double kLongestSeconds = 1e9;  // about 30 years: fits the clock

Error Refusal(const std::string& message) {
  return {ErrorCode::kInvalidArgument, message};
}

std::string SecondsText(double seconds) {
  std::string text;
  AppendDouble(&text, seconds);
  return text + " s";
}

}  // namespace

class SqlRun {
 public:
  SqlRun(const std::string& sql, const SqlOptions& options) : sql_(sql), options_(options), tokens_(SqlTokens(sql)) {}

  Result<SqlResult> Run(const OpenSession& open) {
    if (sql_.find('\0') != std::string::npos) return Refusal("the statement has a NUL character");
    for (const std::string_view statement : {std::string_view(sql_), ExplainedStatement(sql_, tokens_)})
      if (const Status verb = RefuseOtherVerbs(SqlTokens(statement)); !verb.ok()) return Refusal(verb.error().message);
    if (const Status names = RefuseOutsideNames(tokens_); !names.ok()) return Refusal(names.error().message);
    OPSCOPE_ASSIGN(api_, duckdb::LoadDuckdb(options_.python_module));
    const unsigned threads = OrdersItsRows(tokens_) ? AllowedProcessors() : 1;
    OPSCOPE_ASSIGN(std::unique_ptr<duckdb::Session> session,
                   open(*api_, {.max_memory = options_.max_memory, .threads = threads}));
    rows_ = std::make_unique<SqlResult::Rows>(std::move(session));
    const Status status = RunWatched();
    if (!status.ok()) return status.error();
    return SqlResult(std::move(rows_));
  }

 private:
  duckdb::connection connected() const { return rows_->session->connected(); }

  Status RunWatched() {
    QueryWatch::Limits limits = {.time = duckdb::TimeLimit(options_),
                                 .memory = options_.max_memory,
                                 .interrupt = [this] { api_->interrupt(connected()); },
                                 .is_stuck = {}};
    if (options_.on_stuck)
      limits.is_stuck = [this](QueryWatch::Reason reason) { options_.on_stuck(LimitError(reason).message); };
    QueryWatch watch(std::move(limits));
    OPSCOPE_TRY(watch.Start());
    Status status = CatchBadAlloc("", [this] { return Execute(); });
    if (!status.ok() && watch.reason() != QueryWatch::kNone) return LimitError(watch.reason());
    return status;
  }

  Error LimitError(QueryWatch::Reason reason) const {
    if (reason == QueryWatch::kTime)
      return {ErrorCode::kIo, "stopped at the limit of time, " + SecondsText(options_.max_seconds), ETIMEDOUT};
    return {ErrorCode::kOutOfMemory,
            "stopped at the limit of memory, " + std::to_string(options_.max_memory) + " bytes"};
  }

  Error FromDuckdb(const char* message) const {
    const std::string line = CleanMessage(message);
    if (line.starts_with("Out of Memory")) return LimitError(QueryWatch::kMemory);
    return Refusal(line);
  }

  Status Prepare(const std::string& statement, Owned<duckdb::prepared_statement>* prepared) {
    Owned<duckdb::extracted_statements> extracted(api_->destroy_extracted);
    const uint64_t count = api_->extract_statements(connected(), statement.c_str(), extracted.out());
    if (count == 0) {
      const char* const message = api_->extract_statements_error(extracted.get());
      return message != nullptr && *message != '\0' ? FromDuckdb(message) : Refusal("there is no statement");
    }
    if (count > 1) return Refusal("there are " + std::to_string(count) + " statements; a query is one");
    if (api_->prepare_extracted_statement(connected(), extracted.get(), 0, prepared->out()) != duckdb::kSuccess)
      return FromDuckdb(api_->prepare_error(prepared->get()));
    return {};
  }

  Status RefuseWriting(duckdb::prepared_statement prepared) {
    int type = api_->prepared_statement_type(prepared);
    if (type == duckdb::kExplain) {
      const std::string explained_sql(ExplainedStatement(sql_, tokens_));
      Owned<duckdb::prepared_statement> explained(api_->destroy_prepare);
      OPSCOPE_TRY(Prepare(explained_sql, &explained));
      type = api_->prepared_statement_type(explained.get());
    }
    if (type != duckdb::kSelect) return Refusal("only a statement that reads is allowed");
    return api_->nparams(prepared) == 0 ? Status() : Refusal("the statement has parameters, which have no values");
  }

  Status Execute() {
    Owned<duckdb::prepared_statement> prepared(api_->destroy_prepare);
    OPSCOPE_TRY(Prepare(sql_, &prepared));
    OPSCOPE_TRY(RefuseWriting(prepared.get()));
    duckdb::result executed = {};
    Status status;
    if (api_->execute_prepared_streaming(prepared.get(), &executed) == duckdb::kSuccess) {
      const uint64_t most = options_.max_rows != 0 ? options_.max_rows : UINT64_MAX;
      status = duckdb::ReadResult(*api_, &executed, most, rows_.get());
      if (!status.ok()) status = FromDuckdb(status.error().message.c_str());
    } else {
      status = FromDuckdb(api_->result_error(&executed));
    }
    api_->destroy_result(&executed);
    return status;
  }

  const std::string& sql_;
  const SqlOptions& options_;
  const std::vector<SqlToken> tokens_;
  const Api* api_ = nullptr;
  std::unique_ptr<SqlResult::Rows> rows_;
};

SqlResult::SqlResult(std::unique_ptr<Rows> rows) : rows_(std::move(rows)) {
}
SqlResult::SqlResult(SqlResult&&) noexcept = default;
SqlResult& SqlResult::operator=(SqlResult&&) noexcept = default;
SqlResult::~SqlResult() = default;

const std::vector<SqlColumn>& SqlResult::columns() const {
  return rows_->columns;
}

size_t SqlResult::row_count() const {
  return rows_->row_count;
}

bool SqlResult::is_truncated() const {
  return rows_->is_truncated;
}

namespace duckdb {

std::chrono::nanoseconds TimeLimit(const SqlOptions& options) {
  const std::chrono::duration<double> limit(
      std::isnan(options.max_seconds) ? 0.0 : std::clamp(options.max_seconds, 0.0, kLongestSeconds));
  return std::chrono::duration_cast<std::chrono::nanoseconds>(limit);
}

Result<SqlResult> RunGuarded(const std::string& sql, const SqlOptions& options, const OpenSession& open) {
  return CatchBadAlloc("", [&] { return SqlRun(sql, options).Run(open); });
}

}  // namespace duckdb

Result<SqlResult> RunSql(std::shared_ptr<const Trace> trace, const std::string& sql, const SqlOptions& options) {
  return duckdb::RunGuarded(sql, options, [&](const Api& api, const duckdb::SessionOptions& session) {
    return duckdb::Session::Open(api, trace, session);
  });
}

}  // namespace opscope
