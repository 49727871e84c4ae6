// SPDX-License-Identifier: Apache-2.0
#include "sql/statement_text.h"

#include <gtest/gtest.h>

#include <string>

namespace opscope {
namespace {

std::string Words(std::string_view sql) {
  std::string words;
  for (const SqlToken& token : SqlTokens(sql))
    words += (words.empty() ? "" : " ") + (token.kind == SqlToken::kLiteral ? "?" : token.text);
  return words;
}

bool IsRefused(std::string_view sql) {
  return !RefuseOutsideNames(SqlTokens(sql)).ok();
}

TEST(StatementText, TakesStringsAndCommentsAsOneToken) {
  EXPECT_EQ(Words("SELECT 'a''b', E'it\\'s', $$x$$, $t$ $$ $t$ FROM T -- query(\n, U"),
            "select ? , ? , ? , ? from t , u");
  EXPECT_EQ(Words("/* a /* b */ query( */ SELECT 1.5e3"), "select ? . ?");
  EXPECT_EQ(Words("\"A \"\"b\"\"\" x$1"), "a \"b\" x$1");
}

TEST(StatementText, EndsAnUnfinishedQuoteWithTheText) {
  for (const char* sql : {"'", "\"", "$$", "$a$x", "/*", "/*/*", "E'\\", "'a''", "--", "$", "\"a\"\""})
    EXPECT_LE(SqlTokens(sql).size(), 2u) << sql;
}

TEST(StatementText, RefusesNamesThatReachOutside) {
  for (const char* sql :
       {"SELECT current_setting('x')", "SELECT \"CURRENT_setting\"('x')", "SELECT 'x'.current_setting()",
        "FROM query('SELECT 1')", "FROM query ('SELECT 1')", "FROM \"query\"('x')", "FROM query/**/('x')",
        "FROM duckdb_settings()", "FROM pg_catalog.pg_settings", "SELECT getenv('HOME')", "FROM duckdb_extensions()",
        "FROM arrow_scan(0, 0, 0)", "FROM checkpoint()", "FROM register_external_resource('x')",
        "FROM duckdb_external_resources()", "FROM U&\"qu\\0065ry\"('x')", "/* ' */ SELECT getenv('HOME') --'"})
    EXPECT_TRUE(IsRefused(sql)) << sql;
}

TEST(StatementText, AllowsTheseNamesInTexts) {
  for (const char* sql :
       {"SELECT 'current_setting(1)'", "SELECT 1 AS query, 2 AS checkpoint", "-- getenv('x')\nSELECT 1",
        "SELECT $$getenv('x')$$", "SELECT E'\\'getenv(1)'", "SELECT query, u & \"a\" FROM t"})
    EXPECT_FALSE(IsRefused(sql)) << sql;
}

TEST(StatementText, RefusesVerbsThatDoNotRead) {
  for (const char* sql :
       {"PRAGMA version", "SUMMARIZE spans", "call x()", "\"select\" 1", "1", "'select'", "DROP VIEW spans"})
    EXPECT_FALSE(RefuseOtherVerbs(SqlTokens(sql)).ok()) << sql;
  for (const char* sql : {"SELECT 1", "with a as (select 1) from a", "(SELECT 1)", "-- x\nFROM t", "VALUES (1)",
                          "Show tables", "DESCRIBE spans", "EXPLAIN SELECT 1", ""})
    EXPECT_TRUE(RefuseOtherVerbs(SqlTokens(sql)).ok()) << sql;
}

TEST(StatementText, OrdersItsRowsOutsideOfParenthesesOnly) {
  for (const char* sql : {"SELECT 1 ORDER BY 1", "WITH a AS (SELECT 1) SELECT 1 order/**/by 1 LIMIT 2"})
    EXPECT_TRUE(OrdersItsRows(SqlTokens(sql))) << sql;
  for (const char* sql : {"SELECT 1", "SELECT row_number() OVER (ORDER BY 1)", "FROM (SELECT 1 ORDER BY 1)",
                          "SELECT 'ORDER BY'", "SELECT list(x ORDER BY y) FROM t", "SELECT \"order\" by"})
    EXPECT_FALSE(OrdersItsRows(SqlTokens(sql))) << sql;
}

TEST(StatementText, FindsWhatAnExplainExplains) {
  const auto explained = [](const std::string& sql) { return std::string(ExplainedStatement(sql, SqlTokens(sql))); };
  EXPECT_EQ(explained("EXPLAIN SELECT 1"), "SELECT 1");
  EXPECT_EQ(explained("explain Analyze SELECT (1)"), "SELECT (1)");
  EXPECT_EQ(explained("EXPLAIN (ANALYZE, FORMAT json) DROP TABLE x"), "DROP TABLE x");
  EXPECT_EQ(explained("EXPLAIN (SELECT 1)"), "(SELECT 1)");
  EXPECT_EQ(explained("SELECT 1"), "SELECT 1");
  EXPECT_EQ(explained("EXPLAIN"), "");
}

}  // namespace
}  // namespace opscope
