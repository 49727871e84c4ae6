// Reads chunk by chunk, so that a statement without an end stops at the limit of rows.
// SPDX-License-Identifier: Apache-2.0
#include "sql/row_reader.h"

#include <algorithm>
#include <memory>
#include <utility>

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

}  // namespace opscope::duckdb
