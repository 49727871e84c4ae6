// A lexer of SQL, and three questions to its tokens.
//
//   SELECT "a b", 'it''s' FROM (VALUES (1)) -- comment
//   word   name   literal word symbol word ...
//
// DuckDB closes files, network and extensions by settings, but some of its functions still show settings, and `query()`
// runs any text that it is given. A search in the text would find names in strings and comments, and would miss "quoted
// names"; so the lexical rules are followed: quotes with doubled quotes, E'' strings with backslashes, $tag$ strings,
// comments that nest. Each name counts wherever it occurs, which is stricter than a parser and cannot be evaded.
// SPDX-License-Identifier: Apache-2.0
#include "sql/statement_text.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.h"

namespace opscope {
namespace {

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

class SqlLexer {
 public:
  explicit SqlLexer(std::string_view sql) : sql_(sql) {}

  std::vector<SqlToken> Run() {
    while (at_ < sql_.size()) {
      const char c = sql_[at_];
      if (StartsWith("--")) {
        at_ = std::min(sql_.find_first_of("\r\n", at_), sql_.size());
      } else if (StartsWith("/*")) {
        SkipComment();
      } else if (c == '\'') {
        AddLiteral(EndOfQuoted(at_, '\'', false));
      } else if ((c == 'e' || c == 'E') && Next() == '\'') {
        AddLiteral(EndOfQuoted(at_ + 1, '\'', true));
      } else if (c == '"') {
        AddQuotedName();
      } else if (c == '$' && AddDollarString()) {
      } else if (IsLetter(c)) {
        AddWord();
      } else if (IsDigit(c)) {
        AddLiteral(EndOfWord(at_));
      } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
        ++at_;
      } else {
        AddSymbol(c);
      }
    }
    return std::move(tokens_);
  }

 private:
  bool StartsWith(std::string_view prefix) const { return sql_.substr(at_).starts_with(prefix); }
  char Next() const { return at_ + 1 < sql_.size() ? sql_[at_ + 1] : '\0'; }

  void Add(SqlToken::Kind kind, std::string text, size_t end) {
    tokens_.push_back({kind, std::move(text), at_, end, depth_});
    at_ = end;
  }
  void AddLiteral(size_t end) { Add(SqlToken::kLiteral, "", end); }

  size_t EndOfWord(size_t at) const {
    while (at < sql_.size() && (IsLetter(sql_[at]) || IsDigit(sql_[at]) || sql_[at] == '$'))
      ++at;
    return at;
  }

  void AddWord() {
    const size_t end = EndOfWord(at_);
    Add(SqlToken::kWord, LowerCase(sql_.substr(at_, end - at_)), end);
  }

  // Behind the closing quote. `at`: the opening one.
  size_t EndOfQuoted(size_t at, char quote, bool has_backslashes) const {
    for (++at; at < sql_.size(); ++at) {
      if (has_backslashes && sql_[at] == '\\') {
        ++at;
      } else if (sql_[at] == quote) {
        if (at + 1 >= sql_.size() || sql_[at + 1] != quote) return at + 1;
        ++at;
      }
    }
    return sql_.size();
  }

  void AddQuotedName() {
    const size_t end = EndOfQuoted(at_, '"', false);
    std::string name;
    for (size_t i = at_ + 1; i + 1 < end; ++i) {
      name += LowerCase(sql_[i]);
      if (sql_[i] == '"') ++i;
    }
    Add(SqlToken::kQuotedName, std::move(name), end);
  }

  bool AddDollarString() {
    size_t tag_end = at_ + 1;
    while (tag_end < sql_.size() && (IsLetter(sql_[tag_end]) || (IsDigit(sql_[tag_end]) && tag_end > at_ + 1)))
      ++tag_end;
    if (tag_end >= sql_.size() || sql_[tag_end] != '$') return false;
    const std::string_view tag = sql_.substr(at_, tag_end + 1 - at_);
    const size_t close = sql_.find(tag, tag_end + 1);
    AddLiteral(close == std::string_view::npos ? sql_.size() : close + tag.size());
    return true;
  }

  void SkipComment() {
    size_t open = 0;
    do {
      if (StartsWith("/*")) {
        ++open;
        at_ += 2;
      } else if (StartsWith("*/")) {
        --open;
        at_ += 2;
      } else {
        ++at_;
      }
    } while (open > 0 && at_ < sql_.size());
  }

  void AddSymbol(char c) {
    if (c == ')' || c == ']' || c == '}') depth_ -= depth_ > 0;
    Add(SqlToken::kSymbol, std::string(1, c), at_ + 1);
    if (c == '(' || c == '[' || c == '{') ++depth_;
  }

  std::string_view sql_;
  size_t at_ = 0;
  int depth_ = 0;
  std::vector<SqlToken> tokens_;
};

constexpr std::string_view kOutsideNames[] = {
    // Scans of raw pointers, and SQL as a text.
    "arrow_scan", "arrow_scan_dumb", "pandas_scan", "seq_scan", "json_execute_serialized_sql",
    // Settings, the environment, files, and state of the process.
    "copy_database", "current_setting", "getenv", "force_checkpoint", "pg_settings", "import_database", "set_config",
    "pragma_database_list", "truncate_duckdb_logs", "write_log", "which_secret", "duckdb_settings",
    "duckdb_temporary_files", "duckdb_variables"};
// Pieces of names: DuckDB has several such functions, and new releases add more.
constexpr std::string_view kOutsideParts[] = {"duckdb_ext",        "duckdb_secret",    "duckdb_log", "duckdb_prof",
                                              "duckdb_grammar",    "extension_v",      "enable_",    "disable_",
                                              "external_resource", "grammar_extension"};

constexpr std::array<std::string_view, 8> kReadingVerbs = {"select",   "with", "from",    "values",
                                                           "describe", "show", "explain", "("};

bool IsOutsideName(std::string_view name) {
  const auto is_part = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  return std::find(std::begin(kOutsideNames), std::end(kOutsideNames), name) != std::end(kOutsideNames) ||
         std::any_of(std::begin(kOutsideParts), std::end(kOutsideParts), is_part);
}

bool IsName(const SqlToken& token) {
  return token.kind == SqlToken::kWord || token.kind == SqlToken::kQuotedName;
}

}  // namespace

std::vector<SqlToken> SqlTokens(std::string_view sql) {
  return SqlLexer(sql).Run();
}

Status RefuseOutsideNames(const std::vector<SqlToken>& tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!IsName(tokens[i])) continue;
    const bool is_called = i + 1 < tokens.size() && tokens[i + 1].text == "(";
    const bool has_escapes = tokens[i].text == "u" && i + 2 < tokens.size() && tokens[i + 1].text == "&" &&
                             tokens[i + 2].kind == SqlToken::kQuotedName && tokens[i + 1].end == tokens[i + 2].begin;
    if (has_escapes) return Error{ErrorCode::kUnsupported, "names with Unicode escapes (U&\"...\") are not allowed"};
    if (((tokens[i].text == "query" || tokens[i].text == "checkpoint") && is_called) || IsOutsideName(tokens[i].text))
      return Error{ErrorCode::kUnsupported,
                   tokens[i].text + " is not allowed: a query reads the tables of the trace alone"};
  }
  return {};
}

Status RefuseOtherVerbs(const std::vector<SqlToken>& tokens) {
  if (tokens.empty()) return {};
  const bool is_opening = tokens[0].kind == SqlToken::kWord || tokens[0].text == "(";
  if (is_opening && std::find(kReadingVerbs.begin(), kReadingVerbs.end(), tokens[0].text) != kReadingVerbs.end())
    return {};
  return Error{ErrorCode::kUnsupported,
               "only a statement that reads is allowed: SELECT, WITH, FROM, VALUES, DESCRIBE, SHOW or EXPLAIN of one"};
}

bool OrdersItsRows(const std::vector<SqlToken>& tokens) {
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].depth == 0 && tokens[i].kind == SqlToken::kWord && tokens[i].text == "order" &&
        tokens[i + 1].kind == SqlToken::kWord && tokens[i + 1].text == "by")
      return true;
  }
  return false;
}

std::string_view ExplainedStatement(std::string_view sql, const std::vector<SqlToken>& tokens) {
  size_t at = 0;
  const auto is_word = [&](std::string_view word) {
    return at < tokens.size() && tokens[at].kind == SqlToken::kWord && tokens[at].text == word;
  };
  if (!is_word("explain")) return sql;
  ++at;
  while (is_word("analyze") || is_word("analyse") || is_word("verbose"))
    ++at;
  const bool has_options = at + 1 < tokens.size() && tokens[at].text == "(" &&
                           (tokens[at + 1].text == "analyze" || tokens[at + 1].text == "format");
  if (has_options) {
    while (at < tokens.size() && !(tokens[at].text == ")" && tokens[at].depth == 0))
      ++at;
    ++at;
  }
  return at < tokens.size() ? sql.substr(tokens[at].begin) : std::string_view();
}

}  // namespace opscope
