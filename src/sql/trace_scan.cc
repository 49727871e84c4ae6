// A table function per table of the Trace. DuckDB asks for 2,048 rows at a time and only for the columns that a query
// uses; each of its threads claims 60 such vectors at once.
//
// Numbers are copied from the column into DuckDB's vector (which a query reads right away, from the cache), and a row
// that has the column's "unknown" becomes NULL. A text is 16 bytes in DuckDB: its length, and where it lies. These 16
// bytes are computed once per text of the Trace, so a text column of ten million rows costs a look-up per row, and
// characters are never copied. An Arrow stream would convert every text column of a table for each query, used or not.
// SPDX-License-Identifier: Apache-2.0
#include "sql/trace_scan.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>

#include "base/text.h"
#include "opscope/table.h"

namespace opscope::duckdb {
namespace {

constexpr size_t kVectorsOfClaim = 60;

// What a table function knows of its table.
struct ScannedTable {
  TraceTables* tables = nullptr;
  std::string_view name;
};

// The rows of one scan; `next` is the first that no thread has claimed.
struct Scan {
  TableView table;
  std::vector<size_t> columns;  // by column of the output: 0 is `row`, then those of the table; beyond: a count of rows
  const string_t* texts = nullptr;
  std::atomic<size_t> next = 0;
};

struct Claim {
  size_t begin = 0, end = 0;
};

int TypeOf(const TableColumn& column) {
  constexpr int kTypes[] = {kUtinyint, kUsmallint, kUinteger, kUbigint, kInteger, kBigint, kDouble, kList};
  static_assert(std::size(kTypes) == static_cast<size_t>(ColumnType::kInt64List) + 1);
  return column.meaning == ColumnMeaning::kText ? kVarchar : kTypes[static_cast<size_t>(column.type)];
}

void AddColumn(const Api& api, bind_info bind, const std::string& name, int type) {
  Owned<logical_type> plain(api.destroy_logical_type, api.create_logical_type(type == kList ? kBigint : type));
  Owned<logical_type> list(api.destroy_logical_type);
  if (type == kList) *list.out() = api.create_list_type(plain.get());
  api.bind_add_result_column(bind, name.c_str(), type == kList ? list.get() : plain.get());
}

void Bind(bind_info bind, const ScannedTable& scanned) {
  const Api& api = scanned.tables->api();
  const TableView table = scanned.tables->Find(scanned.name);
  AddColumn(api, bind, "row", kBigint);
  for (const TableColumn& column : table.columns)
    AddColumn(api, bind, std::string(column.name), TypeOf(column));
  if (!scanned.tables->is_registering()) api.bind_set_cardinality(bind, table.rows, true);
}

void Init(init_info init, const ScannedTable& scanned) {
  const Api& api = scanned.tables->api();
  auto scan = std::make_unique<Scan>();
  scan->table = scanned.tables->Find(scanned.name);
  for (idx_t i = 0; i < api.init_get_column_count(init); ++i) {
    const size_t column = api.init_get_column_index(init, i);
    scan->columns.push_back(column);
    if (column == 0 || column > scan->table.columns.size()) continue;
    if (scan->table.columns[column - 1].meaning == ColumnMeaning::kText) scan->texts = scanned.tables->texts();
  }
  api.init_set_max_threads(init, scan->table.rows / (kVectorsOfClaim * api.vector_size()) + 1);
  api.init_set_init_data(init, scan.release(), [](void* data) { delete static_cast<Scan*>(data); });
}

// Sets the bits of the rows that are unknown to 0. `is_unknown(i)`: of row i of the vector.
template <typename IsUnknown>
void MarkUnknown(const Api& api, vector out, size_t rows, IsUnknown is_unknown) {
  size_t first = 0;
  while (first < rows && !is_unknown(first))
    ++first;
  if (first == rows) return;
  api.vector_ensure_validity_writable(out);
  uint64_t* const validity = api.vector_get_validity(out);
  for (size_t word = first / 64; word * 64 < rows; ++word) {
    uint64_t bits = 0;
    for (size_t i = word * 64; i < std::min(rows, word * 64 + 64); ++i)
      bits |= static_cast<uint64_t>(!is_unknown(i)) << (i % 64);
    validity[word] = bits;
  }
}

template <typename T>
void FillNumbers(const Api& api, const TableColumn& column, Claim rows, vector out) {
  const T* const values = static_cast<const T*>(column.data) + rows.begin;
  const size_t count = rows.end - rows.begin;
  std::memcpy(api.vector_get_data(out), values, count * sizeof(T));
  if (!column.unknown) return;
  const T unknown = static_cast<T>(*column.unknown);
  MarkUnknown(api, out, count, [&](size_t i) { return values[i] == unknown; });
}

void FillTexts(const Api& api, const TableColumn& column, const string_t* texts, Claim rows, vector out) {
  const StringId* const ids = static_cast<const StringId*>(column.data) + rows.begin;
  auto* const filled = static_cast<string_t*>(api.vector_get_data(out));
  const size_t count = rows.end - rows.begin;
  bool has_none = false;
  for (size_t i = 0; i < count; ++i) {
    has_none |= ids[i] == StringId::kNone;
    filled[i] = ids[i] == StringId::kNone ? string_t{} : texts[Row(ids[i])];
  }
  if (has_none) MarkUnknown(api, out, count, [&](size_t i) { return ids[i] == StringId::kNone; });
}

void FillLists(const Api& api, const TableColumn& column, Claim rows, vector out) {
  const Int64List* const lists = static_cast<const Int64List*>(column.data) + rows.begin;
  const size_t count = rows.end - rows.begin;
  size_t items = 0;
  for (size_t i = 0; i < count; ++i)
    items += lists[i].size();
  api.list_vector_reserve(out, items);
  api.list_vector_set_size(out, items);
  auto* const entries = static_cast<list_entry*>(api.vector_get_data(out));
  auto* filled = static_cast<int64_t*>(api.vector_get_data(api.list_vector_get_child(out)));
  size_t offset = 0;
  for (size_t i = 0; i < count; ++i) {
    entries[i] = {offset, lists[i].size()};
    filled = std::copy(lists[i].begin(), lists[i].end(), filled);
    offset += lists[i].size();
  }
}

void FillColumn(const Api& api, const Scan& scan, size_t column_number, Claim rows, vector out) {
  if (column_number == 0) {
    auto* const filled = static_cast<int64_t*>(api.vector_get_data(out));
    for (size_t row = rows.begin; row < rows.end; ++row)
      filled[row - rows.begin] = static_cast<int64_t>(row);
    return;
  }
  const TableColumn& column = scan.table.columns[column_number - 1];
  if (column.meaning == ColumnMeaning::kText) return FillTexts(api, column, scan.texts, rows, out);
  switch (column.type) {
    case ColumnType::kUint8:
      return FillNumbers<uint8_t>(api, column, rows, out);
    case ColumnType::kUint16:
      return FillNumbers<uint16_t>(api, column, rows, out);
    case ColumnType::kUint32:
    case ColumnType::kInt32:
      return FillNumbers<uint32_t>(api, column, rows, out);
    case ColumnType::kUint64:
    case ColumnType::kInt64:
    case ColumnType::kFloat64:  // the unknown one is the bits of one NaN
      return FillNumbers<uint64_t>(api, column, rows, out);
    case ColumnType::kInt64List:
      return FillLists(api, column, rows, out);
  }
}

void Fill(const Api& api, Scan& scan, Claim& claim, data_chunk out) {
  const size_t rows_of_vector = api.vector_size();
  if (claim.begin == claim.end) {
    const size_t begin = scan.next.fetch_add(kVectorsOfClaim * rows_of_vector, std::memory_order_relaxed);
    claim = {std::min(begin, scan.table.rows), std::min(begin + kVectorsOfClaim * rows_of_vector, scan.table.rows)};
  }
  const Claim rows = {claim.begin, std::min(claim.end, claim.begin + rows_of_vector)};
  claim.begin = rows.end;
  for (size_t i = 0; i < scan.columns.size() && rows.begin < rows.end; ++i) {
    if (scan.columns[i] <= scan.table.columns.size())
      FillColumn(api, scan, scan.columns[i], rows, api.data_chunk_get_vector(out, i));
  }
  api.data_chunk_set_size(out, rows.end - rows.begin);
}

Status RegisterFunction(const Api& api, connection connected, TraceTables* tables, std::string_view name,
                        const std::string& function_name) {
  Owned<table_function> function(api.destroy_table_function, api.create_table_function());
  api.table_function_set_name(function.get(), function_name.c_str());
  api.table_function_set_extra_info(function.get(), new ScannedTable{tables, name},
                                    [](void* data) { delete static_cast<ScannedTable*>(data); });
  api.table_function_set_bind(function.get(), [](bind_info bind) {
    Bind(bind, *static_cast<const ScannedTable*>(LoadedDuckdb().bind_get_extra_info(bind)));
  });
  api.table_function_set_init(function.get(), [](init_info init) {
    Init(init, *static_cast<const ScannedTable*>(LoadedDuckdb().init_get_extra_info(init)));
  });
  api.table_function_set_local_init(function.get(), [](init_info init) {
    LoadedDuckdb().init_set_init_data(init, new Claim, [](void* data) { delete static_cast<Claim*>(data); });
  });
  api.table_function_set_function(function.get(), [](function_info info, data_chunk out) {
    const Api& loaded = LoadedDuckdb();
    Fill(loaded, *static_cast<Scan*>(loaded.function_get_init_data(info)),
         *static_cast<Claim*>(loaded.function_get_local_init_data(info)), out);
  });
  api.table_function_supports_projection_pushdown(function.get(), true);
  if (api.register_table_function(connected, function.get()) == kSuccess) return {};
  return Error{ErrorCode::kUnsupported, "DuckDB did not register the table function " + function_name};
}

}  // namespace

string_t TextReference(std::string_view text) {
  string_t reference = {};
  reference.length = static_cast<uint32_t>(text.size());
  constexpr size_t kInPlace = sizeof(reference.prefix) + sizeof(reference.rest);
  text.copy(reference.prefix, sizeof(reference.prefix));
  if (text.size() > kInPlace) {
    reference.pointer = text.data();
  } else if (text.size() > sizeof(reference.prefix)) {
    text.copy(reference.rest, sizeof(reference.rest), sizeof(reference.prefix));
  }
  return reference;
}

const string_t* TraceTables::texts() {
  std::call_once(texts_once_, [this] {
    const auto add = [this](std::string_view text) {
      if (!IsUtf8(text)) AppendUtf8(text, &escaped_.emplace_back());
      texts_.push_back(TextReference(IsUtf8(text) ? text : std::string_view(escaped_.back())));
    };
    texts_.reserve(trace_->string_count() + (only_ ? only_->own_texts.size() : 0));
    for (size_t i = 0; i < trace_->string_count(); ++i)
      add(trace_->text(static_cast<StringId>(i)));
    if (!only_) return;
    texts_.resize(only_->first_own_text);
    for (const std::string_view text : only_->own_texts)
      add(text);
  });
  return texts_.data();
}

TableView TraceTables::Find(std::string_view name) const {
  if (only_) return *only_;
  static const Trace none;
  return FindTable(is_registering_ ? none : *trace_, name).value_or(TableView());
}

Status TraceTables::Register(connection connected) {
  is_registering_ = true;
  std::string views;
  std::vector<std::string_view> names(TableNames().begin(), TableNames().end());
  if (only_) names = {only_->name};
  for (const std::string_view name : names) {
    const std::string function_name = "opscope_" + std::string(name);
    OPSCOPE_TRY(RegisterFunction(api_, connected, this, name, function_name));
    views.append("CREATE VIEW ").append(name).append(" AS SELECT * FROM ").append(function_name).append("();");
  }
  result created = {};
  const bool is_created = api_.query(connected, views.c_str(), &created) == kSuccess;
  const char* const message = api_.result_error(&created);
  Status status =
      is_created ? Status() : Error{ErrorCode::kUnsupported, message != nullptr ? message : "DuckDB refused the views"};
  api_.destroy_result(&created);
  is_registering_ = false;
  return status;
}

}  // namespace opscope::duckdb
