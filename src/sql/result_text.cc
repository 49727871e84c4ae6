// The rows of a query as JSON, CSV and a table. Unlike the results of other verbs (ResultTable), columns and types are
// the statement's, so each value is written by its type at run time.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/escaped_text.h"
#include "base/json_object.h"
#include "opscope/analysis/quality.h"
#include "opscope/report/info.h"
#include "opscope/report/quality.h"
#include "opscope/sql.h"
#include "report/text_table.h"
#include "sql/sql_rows.h"

namespace opscope {

using duckdb::AppendValue;
using duckdb::ValueForm;
using duckdb::VectorView;

namespace {

// Numbers are aligned to the right.
bool IsNumberType(int type) {
  return (type >= duckdb::kTinyint && type <= duckdb::kDouble) || type == duckdb::kHugeint ||
         type == duckdb::kUhugeint || type == duckdb::kDecimal;
}

// The two columns of EXPLAIN.
bool IsPlan(const std::vector<SqlColumn>& columns) {
  return columns.size() == 2 && columns[0].name == "explain_key" && columns[1].name == "explain_value";
}

}  // namespace

void SqlResult::Rows::AppendJson(ValueForm form, std::string* out) const {
  *out += '[';
  const size_t begin = out->size();
  ForEach([&] { *out += out->size() == begin ? "\n[" : "],\n["; },
          [&](size_t column, const VectorView& values, uint64_t row) {
            if (column > 0) *out += ',';
            AppendValue(session->api(), types[column], values, row, form, out);
          });
  *out += out->size() == begin ? "]" : "]\n]";
}

void SqlResult::AppendJsonRows(std::string* out) const {
  rows_->AppendJson(ValueForm::kJson, out);
}

void SqlResult::AppendExactJsonRows(std::string* out) const {
  rows_->AppendJson(ValueForm::kExactJson, out);
}

std::string SqlResult::Json(const Trace& trace) const {
  return Json(ProblemsJson(trace), JudgeQuality(trace));
}

std::string SqlResult::Json(std::string_view problems_json, const Quality& quality) const {
  std::string out;
  JsonObject document(&out);
  document.Text("schema", "opscope.query/1");
  document.Key("columns") += '[';
  for (const SqlColumn& column : columns()) {
    if (out.back() != '[') out += ',';
    JsonObject described(&out);
    described.Text("name", column.name);
    described.Text("type", column.type);
    described.Close();
  }
  out += ']';
  AppendJsonRows(&document.Key("rows"));
  document.Json("truncated", is_truncated() ? "true" : "false");
  document.Json("problems", problems_json);
  document.Json("quality", QualityJson(quality));
  document.Close();
  return out + "\n";
}

std::string SqlResult::Csv() const {
  std::string out;
  for (size_t i = 0; i < columns().size(); ++i) {
    if (i > 0) out += ',';
    AppendCsvField(&out, columns()[i].name);
  }
  std::string text;
  rows_->ForEach([&] { out += "\r\n"; },
                 [&](size_t column, const VectorView& values, uint64_t row) {
                   if (column > 0) out += ',';
                   text.clear();
                   AppendValue(rows_->session->api(), rows_->types[column], values, row, ValueForm::kPlain, &text);
                   if (IsNumberType(rows_->types[column].id)) {
                     out += text;
                   } else {
                     AppendCsvField(&out, text);
                   }
                 });
  return out + "\r\n";
}

// A plan is a drawing of several lines, which a cell of a table would escape and cut.
std::string SqlResult::Rows::PlanText() const {
  std::string plan, out;
  ForEach([] {},
          [&](size_t column, const VectorView& values, uint64_t row) {
            if (column != 1) return;
            AppendValue(session->api(), types[column], values, row, ValueForm::kPlain, &plan);
            if (!plan.ends_with('\n')) plan += '\n';
          });
  for (size_t begin = 0; begin < plan.size();) {
    const size_t end = plan.find('\n', begin);
    out += EscapedText(std::string_view(plan).substr(begin, end - begin)) + '\n';
    begin = end + 1;
  }
  return out;
}

std::string SqlResult::Text(size_t width) const {
  if (row_count() == 0) return "";
  if (IsPlan(columns())) return rows_->PlanText();
  std::vector<TextColumn> table(columns().size());
  for (size_t i = 0; i < table.size(); ++i) {
    table[i].title = columns()[i].name;
    table[i].is_text = !IsNumberType(rows_->types[i].id);
  }
  rows_->ForEach([] {},
                 [&](size_t column, const VectorView& values, uint64_t row) {
                   std::string& cell = table[column].cells.emplace_back();
                   AppendValue(rows_->session->api(), rows_->types[column], values, row, ValueForm::kPlain, &cell);
                   if (values.IsNull(row)) cell = "NULL";
                 });
  return LayOutTable(std::move(table), width);
}

}  // namespace opscope
