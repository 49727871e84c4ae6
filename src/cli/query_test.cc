// `opscope query` where there is no DuckDB; python/tests/test_sql.py runs it with one.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "cli/program_for_test.h"

namespace opscope {
namespace {

constexpr const char kNoDuckdb[] = "OPSCOPE_DUCKDB_LIB=/nowhere/libduckdb.so " OPSCOPE_COMMAND;

class Query : public Cli {
 protected:
  Outcome RunWithoutDuckdb(const std::string& arguments) const {
    return Run("--version >" + Quoted(Path("version")) + " && " + kNoDuckdb + " " + arguments);
  }
};

TEST_F(Query, NamesWhatToInstallWithoutDuckdb) {
  const std::string trace = Golden("mlp_steps");
  for (const std::string& arguments : {"query " + Quoted(trace) + " 'SELECT 1'",
                                       "export " + Quoted(trace) + " --to parquet -o " + Quoted(Path("out"))}) {
    const Outcome outcome = RunWithoutDuckdb(arguments);
    EXPECT_EQ(outcome.exit_code, 1) << arguments;
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(IsOneLine(outcome.error)) << outcome.error;
    EXPECT_NE(outcome.error.find("opscope[sql]"), std::string::npos) << outcome.error;
    EXPECT_FALSE(fs::exists(Path("out")));
  }
}

TEST_F(Query, RefusesWrongUsage) {
  const std::string trace = Quoted(Golden("mlp_steps"));
  EXPECT_EQ(Run("query " + trace).exit_code, 2);
  EXPECT_EQ(Run("query - -").exit_code, 2);
  EXPECT_EQ(Run("query " + trace + " 'SELECT 1' --limit 0").exit_code, 2);
  EXPECT_EQ(Run("query " + trace + " 'SELECT 1' --max-seconds -1").exit_code, 2);
  EXPECT_EQ(Run("query " + trace + " 'SELECT 1' --json --csv").exit_code, 2);
  EXPECT_EQ(Run("export " + trace + " --to parquet -o -").exit_code, 2);
}

TEST_F(Query, RefusesAStatementThatWritesBeforeItLooksForDuckdb) {
  const Outcome outcome = RunWithoutDuckdb("query " + Quoted(Golden("mlp_steps")) + " 'DROP VIEW spans'");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(outcome.error.starts_with("opscope: query: only a statement that reads")) << outcome.error;
}

}  // namespace
}  // namespace opscope
