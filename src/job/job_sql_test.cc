// SPDX-License-Identifier: Apache-2.0
#include "job/job_sql.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace opscope {
namespace {

// Writes down each statement.
class NotedEngine : public JobEngine {
 public:
  Status Define(const std::string& name, const std::string& select, bool is_kept) override {
    notes.push_back(name + (is_kept ? " kept: " : ": ") + select);
    return {};
  }
  Result<JobRows> Query(const std::string& select) override {
    notes.push_back("query: " + select);
    return JobRows{.columns = {"a"}, .json = "[[1]]"};
  }
  std::vector<std::string> notes;
};

TEST(JobSqlTest, SplitsAtSemicolonsOutsideOfTextsAndComments) {
  const std::vector<JobStatement> statements = SplitJobSql(
      "-- A comment; with one.\n-- @include other.sql\n-- @materialise\nCREATE OR REPLACE TEMPORARY VIEW a AS\n"
      "SELECT ';' AS x; -- and; here\nSELECT x FROM a;\n");
  ASSERT_EQ(statements.size(), 3u);
  EXPECT_EQ(statements[0].include, "other.sql");
  EXPECT_EQ(statements[1].view, "a");
  EXPECT_EQ(statements[1].select, "SELECT ';' AS x");
  EXPECT_TRUE(statements[1].is_kept);
  EXPECT_EQ(statements[2].view, "");
  EXPECT_EQ(statements[2].select, "SELECT x FROM a");
  EXPECT_FALSE(statements[2].is_kept);
}

TEST(JobSqlTest, EachFileEndsInOneSelectAndItsIncludesExist) {
  for (const auto& entry : std::filesystem::directory_iterator(OPSCOPE_SOURCE_DIR "/src/job/sql")) {
    const std::string name = entry.path().filename().string();
    const std::vector<JobStatement> statements = SplitJobSql(JobSqlFile(name));
    ASSERT_FALSE(statements.empty()) << name;
    for (const JobStatement& statement : statements) {
      EXPECT_TRUE(statement.include.empty() || !JobSqlFile(statement.include).empty()) << name;
      EXPECT_FALSE(statement.include.empty() && statement.select.empty()) << name;
    }
  }
}

TEST(JobSqlTest, RunsEachIncludeOnceAndFillsInNumbers) {
  NotedEngine engine;
  JobSqlRunner runner(&engine, {{"attempt", 3}, {"window_ns", 10}});
  ASSERT_TRUE(runner.Run("ranks.sql").ok());
  const size_t first = engine.notes.size();
  ASSERT_TRUE(runner.Run("problems.sql").ok());
  size_t definitions_of_files = 0;
  for (const std::string& note : engine.notes) {
    definitions_of_files += note.starts_with("job_judged_files");
    EXPECT_EQ(note.find("{{"), std::string::npos) << note;
  }
  EXPECT_EQ(definitions_of_files, 1u);
  EXPECT_GT(engine.notes.size(), first);
}

}  // namespace
}  // namespace opscope
