// SPDX-License-Identifier: Apache-2.0
#include "base/temporary_names.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace opscope {
namespace {

namespace fs = std::filesystem;

// In a process of its own: what is left of this one could note no more.
TEST(TemporaryNames, AreTakenAwayUnlessTheyWereForgotten) {
  std::string folder = testing::TempDir() + "opscope_names_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto path = [&](int i) { return folder + "/" + std::to_string(i); };
  for (int i = 0; i < 30; ++i)
    std::ofstream(path(i)) << "x";
  const pid_t child = fork();
  if (child == 0) {
    std::vector<int> places;
    for (int i = 0; i < 30; ++i) {  // more than there is room for at once
      const int place = RegisterTemporary(path(i).c_str());
      if (place < 0 || i % 3 != 0) UnregisterTemporary(place);
      if (place < 0) _exit(1);
      if (i == 20) break;
    }
    UnlinkTemporaries();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  for (int i = 0; i < 30; ++i)
    EXPECT_EQ(fs::exists(path(i)), i % 3 != 0 || i > 20) << i;
  fs::remove_all(folder);
}

TEST(TemporaryNames, DoNotMindHowManyThereAre) {
  std::vector<int> places;
  while (places.size() < 100)
    places.push_back(RegisterTemporary("/no/such/file"));
  EXPECT_EQ(places.back(), -1);
  for (const int place : places)
    UnregisterTemporary(place);
  const int again = RegisterTemporary("/no/such/file");
  EXPECT_GE(again, 0);
  UnregisterTemporary(again);
}

}  // namespace
}  // namespace opscope
