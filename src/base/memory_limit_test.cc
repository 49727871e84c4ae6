// SPDX-License-Identifier: Apache-2.0
#include "base/memory_limit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace opscope {
namespace {

class MemoryLimitTest : public testing::Test {
 protected:
  MemoryLimitTest() : root_(testing::TempDir() + "/memory_limit_" + std::to_string(getpid())) {}
  ~MemoryLimitTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << "\n";
  }
  uint64_t Limit() const { return MemoryLimit(root_.string()); }

 private:
  const std::filesystem::path root_;
};

TEST_F(MemoryLimitTest, IsThatOfTheMachineWithoutControlGroups) {
  const uint64_t machine = Limit();
  EXPECT_GT(machine, uint64_t{1} << 20);
  EXPECT_LE(MemoryLimit(), machine);
}

TEST_F(MemoryLimitTest, IsTheSmallestOfTheGroupsAround) {
  Write("proc/self/cgroup", "0::/slurm/job_7/step");
  const uint64_t machine = Limit();
  Write("sys/fs/cgroup/slurm/job_7/step/memory.max", "max");
  EXPECT_EQ(Limit(), machine);
  Write("sys/fs/cgroup/slurm/job_7/memory.max", "2000000");
  Write("sys/fs/cgroup/slurm/memory.max", "3000000");
  EXPECT_EQ(Limit(), 2'000'000u);
}

TEST_F(MemoryLimitTest, OfAContainerIsThatOfItsRoot) {
  Write("proc/self/cgroup", "0::/../outside");
  Write("sys/fs/cgroup/memory.max", "1000000");
  EXPECT_EQ(Limit(), 1'000'000u);
}

TEST_F(MemoryLimitTest, KnowsTheFirstVersionOfControlGroups) {
  Write("proc/self/cgroup", "12:cpu,cpuacct:/a\n9:memory:/a\nno group");
  Write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "4000000");
  EXPECT_EQ(Limit(), 4'000'000u);
}

}  // namespace
}  // namespace opscope
