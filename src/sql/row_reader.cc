// Reads chunk by chunk, so that a statement without an end stops at the limit of rows.
// SPDX-License-Identifier: Apache-2.0
#include "sql/row_reader.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/assign.h"

namespace opscope::duckdb {
namespace {

Error RowError(const std::string& message) {
  return {ErrorCode::kInvalidArgument, message};
}

Status ReadColumns(const Api& api, result* executed, SqlResult::Rows* rows) {
  for (uint64_t i = 0; i < api.column_count(executed); ++i) {
    const char* const name = api.column_name(executed, i);
    Owned<logical_type> type(api.destroy_logical_type, api.column_logical_type(executed, i));
    Result<ValueType> read = ReadType(api, type.get());
    if (!read.ok()) return RowError("column '" + std::string(name) + "' " + read.error().message);
    rows->columns.push_back({name, read.value().name});
    rows->types.push_back(std::move(read).value());
    rows->handles.push_back(std::move(type));
  }
  return {};
}

constexpr uint64_t kBatchRows = 65536;

// Reads whole chunks until there are so many rows. Returns whether there may be more.
Result<bool> ReadBatch(const Api& api, result* executed, SqlResult::Rows* rows) {
  while (rows->row_count < kBatchRows) {
    data_chunk chunk = api.fetch_chunk(*executed);
    if (chunk == nullptr) {
      const char* const message = api.result_error(executed);
      if (message != nullptr && *message != '\0') return RowError(CleanMessage(message));
      return false;
    }
    rows->chunks.push_back(chunk);
    rows->row_count += api.data_chunk_get_size(chunk);
    if (api.data_chunk_get_size(chunk) == 0) return false;
  }
  return true;
}

Status ReadBatches(const std::shared_ptr<Session>& session, result* executed,
                   const std::function<Status(const SqlResult& batch)>& use) {
  for (bool has_more = true; has_more;) {
    auto rows = std::make_unique<SqlResult::Rows>(session);
    OPSCOPE_TRY(ReadColumns(session->api(), executed, rows.get()));
    OPSCOPE_ASSIGN(has_more, ReadBatch(session->api(), executed, rows.get()));
    OPSCOPE_TRY(use(SqlResult(std::move(rows))));
  }
  return {};
}

Status ReadRows(const Api& api, result* executed, uint64_t most, SqlResult::Rows* rows) {
  while (true) {
    data_chunk chunk = api.fetch_chunk(*executed);
    if (chunk == nullptr) {
      const char* const message = api.result_error(executed);
      return message != nullptr && *message != '\0' ? RowError(message) : Status();
    }
    const uint64_t count = api.data_chunk_get_size(chunk), room = most - rows->row_count;
    if (count == 0) {
      api.destroy_data_chunk(&chunk);
      return {};
    }
    rows->is_truncated = count > room;
    if (rows->is_truncated) api.data_chunk_set_size(chunk, room);
    rows->chunks.push_back(chunk);
    rows->row_count += std::min(count, room);
    if (rows->is_truncated) return {};
  }
}

}  // namespace

Status ReadResult(const Api& api, result* executed, uint64_t most, SqlResult::Rows* rows) {
  OPSCOPE_TRY(ReadColumns(api, executed, rows));
  return ReadRows(api, executed, most, rows);
}

Result<SqlResult> QueryAll(const std::shared_ptr<Session>& session, const std::string& sql) {
  const Api& api = session->api();
  auto rows = std::make_unique<SqlResult::Rows>(session);
  result executed = {};
  Status status;
  if (api.query(session->connected(), sql.c_str(), &executed) == kSuccess) {
    status = ReadResult(api, &executed, UINT64_MAX, rows.get());
  } else {
    status = RowError(CleanMessage(api.result_error(&executed)));
  }
  api.destroy_result(&executed);
  if (!status.ok()) return status.error();
  return SqlResult(std::move(rows));
}

Status QueryInBatches(const std::shared_ptr<Session>& session, const std::string& sql,
                      const std::function<Status(const SqlResult& batch)>& use) {
  const Api& api = session->api();
  Owned<extracted_statements> extracted(api.destroy_extracted);
  Owned<prepared_statement> prepared(api.destroy_prepare);
  if (api.extract_statements(session->connected(), sql.c_str(), extracted.out()) != 1)
    return RowError(CleanMessage(api.extract_statements_error(extracted.get())));
  if (api.prepare_extracted_statement(session->connected(), extracted.get(), 0, prepared.out()) != kSuccess)
    return RowError(CleanMessage(api.prepare_error(prepared.get())));
  result executed = {};
  Status status = api.execute_prepared_streaming(prepared.get(), &executed) == kSuccess
                      ? ReadBatches(session, &executed, use)
                      : RowError(CleanMessage(api.result_error(&executed)));
  api.destroy_result(&executed);
  return status;
}

}  // namespace opscope::duckdb
