// The rows of a query as an Arrow stream: one batch per chunk, converted by DuckDB, so that dates, decimals and nested
// types arrive as Arrow has them.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "opscope/sql.h"
#include "sql/sql_rows.h"

namespace opscope {

class SqlArrowStream {
 public:
  explicit SqlArrowStream(std::shared_ptr<const SqlResult> result)
      : result_(std::move(result)), api_(rows().session->api()), options_(api_.destroy_arrow_options) {
    api_.connection_get_arrow_options(rows().session->connected(), options_.out());
  }

  int Schema(ArrowSchema* out) {
    *out = {};
    std::vector<duckdb::logical_type> types;
    std::vector<const char*> names;
    for (size_t i = 0; i < rows().columns.size(); ++i) {
      types.push_back(rows().handles[i].get());
      names.push_back(rows().columns[i].name.c_str());
    }
    return CodeOf(api_.to_arrow_schema(options_.get(), types.data(), names.data(), names.size(), out));
  }

  int Next(ArrowArray* out) {
    *out = {};  // without a release function: the end of the stream
    if (next_ == rows().chunks.size()) return 0;
    return CodeOf(api_.data_chunk_to_arrow(options_.get(), rows().chunks[next_++], out));
  }

  const char* last_error() const { return message_.empty() ? nullptr : message_.c_str(); }

 private:
  const SqlResult::Rows& rows() const { return *result_->rows_; }

  int CodeOf(duckdb::error_data error) {
    if (error == nullptr) return 0;
    const bool has_failed = api_.error_data_has_error(error);
    if (has_failed) message_ = duckdb::CleanMessage(api_.error_data_message(error));
    api_.destroy_error_data(&error);
    return has_failed ? EIO : 0;
  }

  const std::shared_ptr<const SqlResult> result_;
  const duckdb::Api& api_;
  duckdb::Owned<duckdb::arrow_options> options_;
  size_t next_ = 0;
  std::string message_;
};

namespace {

SqlArrowStream* SqlStreamOf(ArrowArrayStream* stream) {
  return static_cast<SqlArrowStream*>(stream->private_data);
}

}  // namespace

void OpenArrowStream(std::shared_ptr<const SqlResult> result, ArrowArrayStream* stream) {
  stream->private_data = new SqlArrowStream(std::move(result));
  stream->get_schema = [](ArrowArrayStream* self, ArrowSchema* out) { return SqlStreamOf(self)->Schema(out); };
  stream->get_next = [](ArrowArrayStream* self, ArrowArray* out) { return SqlStreamOf(self)->Next(out); };
  stream->get_last_error = [](ArrowArrayStream* self) { return SqlStreamOf(self)->last_error(); };
  stream->release = [](ArrowArrayStream* self) {
    delete SqlStreamOf(self);
    self->release = nullptr;
  };
}

}  // namespace opscope
