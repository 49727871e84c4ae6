// SPDX-License-Identifier: Apache-2.0
#include "flight/dump_path.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace opscope {
namespace {

TEST(DumpPath, FillsPlaceholdersAndNothingElse) {
  EXPECT_EQ(FillDumpPath("/a/{pid}/{number}-{number}.opscope", 7, 3), "/a/7/3-3.opscope");
  EXPECT_EQ(FillDumpPath("/a/plain.opscope", 7, 3), "/a/plain.opscope");
  EXPECT_EQ(FillDumpPath("{other}", 7, 3), "{other}");
}

TEST(DumpPath, PutsWhatIsMissingBeforeTheExtension) {
  uint64_t number = 2;
  EXPECT_EQ(FreeDumpPath("/no/flight.opscope", 7, &number), "/no/flight-7-2.opscope");
  EXPECT_EQ(FreeDumpPath("/no/{number}.opscope", 7, &number), "/no/2-7.opscope");
  EXPECT_EQ(FreeDumpPath("/no/{pid}.opscope", 7, &number), "/no/7-2.opscope");
  EXPECT_EQ(FreeDumpPath("/no.d/flight", 7, &number), "/no.d/flight-7-2");
  EXPECT_EQ(FreeDumpPath("/no/.flight", 7, &number), "/no/.flight-7-2");
  EXPECT_EQ(number, 2u);
}

TEST(DumpPath, PassesOverNumbersWhoseFileExists) {
  const std::string folder = testing::TempDir() + "dump_path_test";
  const std::string taken = folder + "-7-1.opscope";
  std::ofstream(taken) << "an earlier dump";
  uint64_t number = 1;
  EXPECT_EQ(FreeDumpPath(folder + ".opscope", 7, &number), folder + "-7-2.opscope");
  EXPECT_EQ(number, 2u);
  unlink(taken.c_str());
}

TEST(DumpPath, RelativeOnesAreOfTheFolderThatWasCurrent) {
  char folder[4096];
  ASSERT_NE(getcwd(folder, sizeof(folder)), nullptr);
  EXPECT_EQ(AbsoluteDumpPath("x.opscope"), std::string(folder) + "/x.opscope");
  EXPECT_EQ(AbsoluteDumpPath("/x.opscope"), "/x.opscope");
}

}  // namespace
}  // namespace opscope
