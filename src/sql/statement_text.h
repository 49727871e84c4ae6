// What the text of a SQL statement says before DuckDB sees it: which names it uses, whether its rows are ordered, what
// an EXPLAIN explains. Only the lexical rules of SQL are needed for that: quotes, comments, parentheses.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "opscope/result.h"

namespace opscope {

// A word, a quoted name, a symbol of one character, or a literal (number, string).
struct SqlToken {
  enum Kind : uint8_t { kWord, kQuotedName, kSymbol, kLiteral };
  Kind kind;
  std::string text;  // of words in lower case, of quoted names without quotes, of literals ""
  size_t begin, end;
  int depth;  // of parentheses around it
};

// The tokens; an unfinished quote or comment ends with the text. O(text), without recursion.
[[nodiscard]] std::vector<SqlToken> SqlTokens(std::string_view sql);

// Refuses what reaches beyond the tables and what DuckDB's own settings do not close: functions that show settings,
// extensions or the environment, and those that run a text as SQL. kUnsupported names the function.
[[nodiscard]] Status RefuseOutsideNames(const std::vector<SqlToken>& tokens);

// Refuses a statement that does not begin as one that reads: SELECT, WITH, FROM, VALUES, DESCRIBE, SHOW, EXPLAIN or a
// parenthesis. DuckDB turns some others (PRAGMA, SUMMARIZE) into a SELECT. No token: no statement, which DuckDB
// refuses.
[[nodiscard]] Status RefuseOtherVerbs(const std::vector<SqlToken>& tokens);

// True if ORDER BY occurs outside of parentheses: then the statement itself orders its rows.
[[nodiscard]] bool OrdersItsRows(const std::vector<SqlToken>& tokens);

// What `EXPLAIN [ANALYZE] [VERBOSE] [(options)] statement` explains. `sql` itself if it does not begin with EXPLAIN.
[[nodiscard]] std::string_view ExplainedStatement(std::string_view sql, const std::vector<SqlToken>& tokens);

}  // namespace opscope
