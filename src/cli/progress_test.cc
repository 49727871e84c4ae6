// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "opscope/cli.h"

namespace opscope {
namespace {

// What is written to standard error meanwhile, on the other side of `fd`.
class StandardError {
 public:
  StandardError(int fd, int other_side) : kept_(dup(STDERR_FILENO)), other_side_(other_side) {
    dup2(fd, STDERR_FILENO);
    close(fd);
  }
  std::string Take() {
    dup2(kept_, STDERR_FILENO);
    close(kept_);
    // The writing side is closed: this ends after the last byte, with 0 from a pipe and EIO from a terminal.
    std::string written;
    char buffer[4096];
    for (ssize_t size; (size = read(other_side_, buffer, sizeof(buffer))) > 0;)
      written.append(buffer, static_cast<size_t>(size));
    close(other_side_);
    return written;
  }

 private:
  int kept_;
  int other_side_;
};

constexpr const char kName[] =
    "a\x1b"
    "b.json";

std::string OutputOn(int fd, int other_side, std::chrono::milliseconds quiet_at_first, const std::string& name,
                     size_t total = 4) {
  StandardError captured(fd, other_side);
  {
    TerminalProgress progress(name, quiet_at_first);
    progress.Show(0, 0);
    progress.Show(1, total);
    progress.Show(2, total);
  }
  return captured.Take();
}

std::string TerminalOutput(std::chrono::milliseconds quiet_at_first, const std::string& name = kName,
                           size_t total = 4) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_GE(master, 0);
  EXPECT_EQ(grantpt(master) + unlockpt(master), 0);
  return OutputOn(open(ptsname(master), O_RDWR | O_NOCTTY), master, quiet_at_first, name, total);
}

TEST(TerminalProgress, TellsATerminalHowFarItIsAndWipesTheLine) {
  EXPECT_EQ(TerminalOutput(std::chrono::milliseconds(0)),
            "\r\x1b[Kopscope: a\\x1bb.json [#####...............]  25 %\r\x1b[K");
}

TEST(TerminalProgress, TellsBytesWhereNobodyKnowsHowManyThereAre) {
  EXPECT_EQ(TerminalOutput(std::chrono::milliseconds(0), "standard input", 0),
            "\r\x1b[Kopscope: standard input: 0 MiB\r\x1b[K");
}

TEST(TerminalProgress, CutsANameThatDoesNotFitAtItsFront) {
  const std::string shown =
      TerminalOutput(std::chrono::milliseconds(0), std::string(200, 'x') + "/the_end_of_the_name.json");
  const std::string line = shown.substr(4, shown.rfind('\r') - 4);
  EXPECT_LT(line.size(), 80u) << line;
  EXPECT_TRUE(line.starts_with("opscope: ...x")) << line;
  EXPECT_NE(line.find("/the_end_of_the_name.json [#####."), std::string::npos) << line;
}

TEST(TerminalProgress, IsSilentWhileTheWorkIsShort) {
  EXPECT_EQ(TerminalOutput(std::chrono::hours(1)), "");
}

TEST(TerminalProgress, IsSilentWhereNobodyLooks) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(OutputOn(ends[1], ends[0], std::chrono::milliseconds(0), kName), "");
}

TEST(TerminalProgress, IsSilentWhenLoggingIsOff) {
  setenv("OPSCOPE_LOG", "off", 1);
  const std::string shown = TerminalOutput(std::chrono::milliseconds(0));
  unsetenv("OPSCOPE_LOG");
  EXPECT_EQ(shown, "");
}

}  // namespace
}  // namespace opscope
