// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/constant_memory.h"

namespace opscope {
namespace {

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "opscope_file_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const char* name) const { return folder_ + "/" + name; }
  static std::string Content(const std::string& path) {
    Result<InputFile> opened = InputFile::Open(path);
    if (!opened.ok()) return "error: " + opened.error().message;
    return Rest(&opened.value());
  }
  static std::string Rest(InputFile* file) {
    std::string content;
    std::array<std::byte, 5> part;
    while (true) {
      const Result<size_t> got = file->Read(part);
      if (!got.ok()) return "error: " + got.error().message;
      if (got.value() == 0) return content;
      content.append(reinterpret_cast<const char*>(part.data()), got.value());
    }
  }
  size_t EntryCount() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_))
      ++count;
    return count;
  }

  std::string folder_;
};

TEST_F(Files, ReadWhatWasWritten) {
  ASSERT_TRUE(WriteFileAtomically(Path("a"), "some bytes").ok());
  EXPECT_EQ(Content(Path("a")), "some bytes");
  ASSERT_TRUE(WriteFileAtomically(Path("a"), "").ok());
  EXPECT_EQ(Content(Path("a")), "");
  EXPECT_EQ(EntryCount(), 1u);
}

TEST_F(Files, SayTheirSizeWhereTheyHaveOne) {
  ASSERT_TRUE(WriteFileAtomically(Path("a"), "some bytes").ok());
  Result<InputFile> file = InputFile::Open(Path("a"));
  EXPECT_EQ(file.value().size(), 10u);
  EXPECT_EQ(Rest(&file.value()), "some bytes");
  EXPECT_EQ(InputFile::Open("/dev/null").value().size(), 0u);
  EXPECT_EQ(Content("/proc/self/mem"), "error: /proc/self/mem: Input/output error");  // nothing is mapped at 0
}

TEST_F(Files, EndWhereSomebodyCutsThem) {
  ASSERT_TRUE(WriteFileAtomically(Path("a"), std::string(100'000, 'x')).ok());
  Result<InputFile> file = InputFile::Open(Path("a"));
  std::filesystem::resize_file(Path("a"), 7);
  EXPECT_EQ(file.value().size(), 100'000u);
  EXPECT_EQ(Rest(&file.value()), "xxxxxxx");
}

TEST_F(Files, AreReadFromWhereADescriptorStandsWhichStaysOpen) {
  ASSERT_TRUE(WriteFileAtomically(Path("a"), "some bytes").ok());
  const int descriptor = open(Path("a").c_str(), O_RDONLY | O_CLOEXEC);
  lseek(descriptor, 5, SEEK_SET);
  std::filesystem::remove(Path("a"));
  {
    Result<InputFile> file = InputFile::FromDescriptor(descriptor, "standard input");
    EXPECT_EQ(file.value().size(), 5u);
    EXPECT_EQ(Rest(&file.value()), "bytes");
  }
  EXPECT_EQ(close(descriptor), 0);
  const Result<InputFile> closed = InputFile::FromDescriptor(descriptor, "standard input");
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.error().message, "standard input: Bad file descriptor");
}

TEST_F(Files, WaitForDescriptorsThatDoNotWaitThemselves) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  Result<InputFile> file = InputFile::FromDescriptor(ends[0], "socket");
  std::thread writer([end = ends[1]] {
    for (const char* part : {"sent ", "in ", "parts"})
      ASSERT_GT(write(end, part, strlen(part)), 0);
    close(end);
  });
  EXPECT_EQ(Rest(&file.value()), "sent in parts");
  writer.join();
  close(ends[0]);
}

TEST_F(Files, KeepTheOldContentUntilCommit) {
  ASSERT_TRUE(WriteFileAtomically(Path("a"), "old").ok());
  {
    Result<AtomicFile> file = AtomicFile::Create(Path("a"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file.value().Write("half").ok());
    EXPECT_EQ(Content(Path("a")), "old");
  }
  EXPECT_EQ(Content(Path("a")), "old");
  EXPECT_EQ(EntryCount(), 1u);
}

TEST_F(Files, HaveNoNameUntilCommit) {
  const int nameless = open(folder_.c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (nameless < 0) GTEST_SKIP() << "this file system has no files without names";
  close(nameless);
  Result<AtomicFile> file = AtomicFile::Create(Path("a"));
  ASSERT_TRUE(file.value().Write("half").ok());
  EXPECT_EQ(EntryCount(), 0u);
  ASSERT_TRUE(file.value().Commit().ok());
  EXPECT_EQ(Content(Path("a")), "half");
  EXPECT_EQ(EntryCount(), 1u);
}

TEST_F(Files, KeepTheModeOfWhatTheyReplace) {
  const auto mode_of = [](const std::string& path) {
    struct stat facts;
    return stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
  };
  const mode_t umask_before = umask(027);
  EXPECT_TRUE(WriteFileAtomically(Path("new"), "x").ok());
  EXPECT_EQ(mode_of(Path("new")), 0640u);
  std::filesystem::create_symlink("new", Path("link"));
  for (const mode_t mode : {0604u, 0666u, 0600u}) {
    chmod(Path("new").c_str(), mode);
    EXPECT_TRUE(WriteFileAtomically(Path("link"), "y").ok());
    EXPECT_EQ(mode_of(Path("new")), mode);
  }
  chmod(Path("new").c_str(), 0666);
  EXPECT_TRUE(AtomicFile::Create(Path("new"), 0600).value().Commit().ok());
  EXPECT_EQ(mode_of(Path("new")), 0600u);
  umask(umask_before);
}

TEST_F(Files, NameThePathAndTheReasonInErrors) {
  const Result<InputFile> missing = InputFile::Open(Path("none"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().system_errno, ENOENT);
  EXPECT_EQ(missing.error().message, Path("none") + ": No such file or directory");
  const Result<InputFile> folder = InputFile::Open(folder_);
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().code, ErrorCode::kIo);
  EXPECT_EQ(folder.error().system_errno, EISDIR);
  EXPECT_FALSE(AtomicFile::Create(folder_).ok());
  EXPECT_EQ(WriteFileAtomically(Path("no/such/folder"), "x").error().system_errno, ENOENT);
}

TEST_F(Files, AreWrittenBehindSymbolicLinksWhichStay) {
  namespace fs = std::filesystem;
  fs::create_directory(Path("real"));
  fs::create_symlink("real/x", Path("link"));  // to nothing yet, relative to the folder of the link
  fs::create_symlink(Path("link"), Path("link to link"));
  fs::create_symlink("round", Path("round"));
  for (const std::string content : {"first", "second"}) {
    ASSERT_TRUE(WriteFileAtomically(Path("link to link"), content).ok());
    EXPECT_EQ(Content(Path("real/x")), content);
    EXPECT_TRUE(fs::is_symlink(Path("link")) && fs::is_symlink(Path("link to link")));
  }
  EXPECT_FALSE(fs::is_symlink(Path("real/x")));
  const Status status = WriteFileAtomically(Path("round"), "nowhere");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().system_errno, ELOOP);
  EXPECT_NE(status.error().message.find(Path("round")), std::string::npos);
  EXPECT_EQ(EntryCount(), 4u);
}

TEST_F(Files, ReportAFullDevice) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  const Status status = WriteFileAtomically("/dev/full", std::string(1 << 20, 'x'));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().system_errno, ENOSPC);
  EXPECT_NE(status.error().message.find("/dev/full"), std::string::npos);
}

// A print of the program would go into them.
TEST_F(Files, NeverTakeTheNumbersOfStandardStreams) {
  ASSERT_TRUE(WriteFileAtomically(Path("in"), "some bytes").ok());
  const pid_t child = fork();
  if (child == 0) {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      close(stream);
    const Result<InputFile> in = InputFile::Open(Path("in"));
    Result<AtomicFile> out = AtomicFile::Create(Path("out"));
    ConstantMemory ones(0xff);
    const bool is_right = in.ok() && out.ok() && out.value().Write("x").ok() && ones.AtLeast(1) != nullptr;
    int taken = 0;
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      taken += fcntl(stream, F_GETFD) < 0 ? 0 : 1;
    _exit(is_right ? taken : 10);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Files, ReadPipes) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  std::thread writer([path = Path("pipe")] {
    const int end = open(path.c_str(), O_WRONLY);
    for (const char* part : {"piped ", "in ", "parts"})
      ASSERT_GT(write(end, part, strlen(part)), 0);
    close(end);
  });
  EXPECT_EQ(Content(Path("pipe")), "piped in parts");
  writer.join();
}

}  // namespace
}  // namespace opscope
