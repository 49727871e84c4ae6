// SPDX-License-Identifier: Apache-2.0
#include "base/constant_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>

namespace opscope {
namespace {

std::span<const uint8_t> BytesOf(ConstantMemory* memory, size_t bytes) {
  return {static_cast<const uint8_t*>(memory->AtLeast(bytes)), bytes};
}

bool AllAre(std::span<const uint8_t> bytes, uint8_t value) {
  return std::all_of(bytes.begin(), bytes.end(), [value](uint8_t byte) { return byte == value; });
}

// Pages of this process alone: what a file in memory lends is not among them.
size_t PrivateBytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  size_t size = 0, resident = 0, shared = 0;
  if (file != nullptr) {
    EXPECT_EQ(std::fscanf(file, "%zu %zu %zu", &size, &resident, &shared), 3);
    std::fclose(file);
  }
  return (resident - shared) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

TEST(ConstantMemory, IsTheByteAtEveryLength) {
  for (const uint8_t byte : {uint8_t{0x00}, uint8_t{0xff}, uint8_t{0x7a}}) {
    ConstantMemory memory(byte);
    for (const size_t bytes : {size_t{0}, size_t{1}, size_t{4096}, size_t{4097}, (size_t{1} << 20) - 1, size_t{1} << 20,
                               (size_t{5} << 20) + 12345})
      EXPECT_TRUE(AllAre(BytesOf(&memory, bytes), byte)) << int{byte} << " " << bytes;
  }
}

TEST(ConstantMemory, KeepsWhatItReturned) {
  ConstantMemory memory(0xff);
  const auto small = BytesOf(&memory, 100), large = BytesOf(&memory, size_t{3} << 20);
  EXPECT_TRUE(AllAre(small, 0xff));
  EXPECT_TRUE(AllAre(large, 0xff));
}

TEST(ConstantMemory, IsMappedAnewOnlyWhenItIsTooShort) {
  ConstantMemory memory(0xff);
  const void* first = memory.AtLeast(1 << 20);
  EXPECT_EQ(memory.AtLeast(10), first);
  EXPECT_EQ(memory.AtLeast(1 << 20), first);
  EXPECT_NE(memory.AtLeast(2 << 20), first);
}

TEST(ConstantMemory, CostsNoMemoryWhenRead) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's shadow of it is memory";
#endif
  constexpr size_t kBytes = size_t{64} << 20;
  for (const uint8_t byte : {uint8_t{0x00}, uint8_t{0xff}}) {
    ConstantMemory memory(byte);
    const size_t before = PrivateBytes();
    EXPECT_TRUE(AllAre(BytesOf(&memory, kBytes), byte));
    EXPECT_LT(PrivateBytes(), before + kBytes / 16) << int{byte};
  }
}

// Only the first memory of ones in a process writes the file, so the test needs a process in which no other test ran.
void ReadOnesUnderAFileSizeLimit() {
  const rlimit small{4096, 4096};
  if (setrlimit(RLIMIT_FSIZE, &small) != 0) _exit(2);
  ConstantMemory memory(0xff);
  _exit(AllAre(BytesOf(&memory, size_t{2} << 20), 0xff) ? 0 : 1);
}

TEST(ConstantMemoryDeathTest, IsThereUnderALimitOfFileSizes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(ReadOnesUnderAFileSizeLimit(), testing::ExitedWithCode(0), "");
}

// A descriptor that stays could be written to by its number, or be closed with all others and given to another file.
TEST(ConstantMemory, KeepsNoDescriptor) {
  ConstantMemory memory(0xff);
  EXPECT_TRUE(AllAre(BytesOf(&memory, 100), 0xff));
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code is_gone;
    const std::string file = std::filesystem::read_symlink(entry, is_gone).string();
    EXPECT_FALSE(file.starts_with("/memfd:opscope")) << file;  // files of this folder may have "opscope" in their paths
  }
}

}  // namespace
}  // namespace opscope
