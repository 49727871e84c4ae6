// Splits a file of SQL into statements at the semicolons outside of comments and texts, and runs them: views first,
// those of included files before them, then the SELECT of the answer. Views of an earlier file stay, so that the files
// of one question share what they have in common.
// SPDX-License-Identifier: Apache-2.0
#include "job/job_sql.h"

#include <algorithm>
#include <utility>

#include "base/assign.h"
#include "job/job_tables.h"

namespace opscope {

extern const std::string_view kJobSql;  // made of src/job/sql by the build

namespace {

constexpr std::string_view kCreate = "CREATE OR REPLACE TEMPORARY VIEW ";

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \n") + 1 - first);
}

// Damage of a file of the JOB has nothing to do with the statement.
Error OfStatement(const std::string& file, const Error& error) {
  return error.code == ErrorCode::kMalformed ? error : Error{error.code, file + ": " + error.message};
}

bool ReadsTable(std::string_view select, const std::string& table) {
  return select.find("FROM " + table) != std::string_view::npos;
}

}  // namespace

std::string_view JobSqlFile(std::string_view file) {
  const std::string head = "-- @file " + std::string(file) + "\n";
  const size_t at = kJobSql.find(head);
  if (at == std::string_view::npos) return {};
  const size_t begin = at + head.size();
  return kJobSql.substr(begin, kJobSql.find("-- @file ", begin) - begin);
}

std::vector<JobStatement> SplitJobSql(std::string_view text) {
  std::vector<JobStatement> statements;
  JobStatement next;
  std::string sql;
  bool in_text = false;
  const auto end_statement = [&] {
    const std::string_view whole = Trimmed(sql);
    if (!whole.empty()) {
      if (whole.starts_with(kCreate)) {
        const size_t as = whole.find(" AS");
        next.view = whole.substr(kCreate.size(), as - kCreate.size());
        next.select = Trimmed(whole.substr(as + 3));
      } else {
        next.select = whole;
      }
      statements.push_back(std::exchange(next, {}));
    }
    sql.clear();
  };
  for (size_t at = 0; at < text.size(); ++at) {
    if (!in_text && text.substr(at, 2) == "--") {
      const size_t end = std::min(text.find('\n', at), text.size());
      std::string_view comment = Trimmed(text.substr(at + 2, end - at - 2));
      if (comment == "@materialise") next.is_kept = true;
      if (constexpr std::string_view kInclude = "@include "; comment.starts_with(kInclude))
        statements.push_back({.include = std::string(comment.substr(kInclude.size())), .view = {}, .select = {}});
      at = end;
      sql += '\n';
      continue;
    }
    if (text[at] == '\'') in_text = !in_text;
    if (text[at] == ';' && !in_text) {
      end_statement();
    } else {
      sql += text[at];
    }
  }
  end_statement();
  return statements;
}

std::string JobSqlRunner::Filled(std::string text) const {
  for (const auto& [name, number] : parameters_) {
    const std::string mark = "{{" + name + "}}";
    for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos;)
      text.replace(at, mark.size(), std::to_string(number));
  }
  return text;
}

Status JobSqlRunner::Include(const std::string& file) {
  if (!included_.insert(file).second) return {};
  for (const JobStatement& statement : SplitJobSql(JobSqlFile(file))) {
    if (!statement.include.empty()) {
      OPSCOPE_TRY(Include(statement.include));
      continue;
    }
    if (statement.view.empty()) continue;
    const Status defined = engine_->Define(statement.view, Filled(statement.select), statement.is_kept);
    if (!defined.ok()) return OfStatement(file, defined.error());
  }
  return {};
}

Result<std::string> JobSqlRunner::Prepare(const std::string& file) {
  OPSCOPE_TRY(Include(file));
  for (const JobStatement& statement : SplitJobSql(JobSqlFile(file)))
    if (statement.include.empty() && statement.view.empty()) return Filled(statement.select);
  return std::string();
}

Result<JobRows> JobSqlRunner::Run(const std::string& file) {
  OPSCOPE_ASSIGN(const std::string select, Prepare(file));
  if (select.empty()) return JobRows{.columns = {}, .json = "[]"};
  Result<JobRows> rows = engine_->Query(select);
  if (!rows.ok()) return OfStatement(file, rows.error());
  return rows;
}

Status JobSqlRunner::Stream(const std::string& file, const JobEngine::UseRows& use) {
  OPSCOPE_ASSIGN(const std::string select, Prepare(file));
  const Status streamed = engine_->Stream(select, use);
  return streamed.ok() ? streamed : OfStatement(file, streamed.error());
}

// A caller may have left tables out: what would be made of them is left out, too.
Status DeriveJobTables(const std::vector<JobTableFiles>& tables, JobEngine* engine) {
  std::set<std::string> missing;
  for (const JobTable& table : JobTables())
    missing.insert("stored_" + std::string(table.name));
  for (const JobTableFiles& table : tables)
    missing.erase(table.source);
  if (missing.contains("stored_ranks")) return {};
  for (const JobStatement& statement : SplitJobSql(JobSqlFile("derived_columns.sql"))) {
    const auto is_read = [&](const std::string& table) { return ReadsTable(statement.select, table); };
    if (std::any_of(missing.begin(), missing.end(), is_read)) {
      missing.insert(statement.view);
      continue;
    }
    OPSCOPE_TRY(engine->Define(statement.view, statement.select, statement.is_kept));
  }
  return {};
}

}  // namespace opscope
