// The final name has the old file or a whole new one at any moment: many processes that save under one name, a
// process killed while it saves, names that are links or folders. OPSCOPE_SOAK=1: 200 kills, else 40.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "jobs.h"
#include "opscope/export.h"
#include "opscope/import.h"

namespace faults {
namespace {

namespace fs = std::filesystem;

// Empty: it is there, whole.
std::string WrongWithRecording(const std::string& path, uint64_t spans) {
  const opscope::Result<opscope::Trace> trace = opscope::ImportFile(path);
  if (!trace.ok()) return trace.error().message;
  if (trace.value().is_partial()) return "it is cut";
  if (trace.value().spans().size() == spans) return "";
  return std::to_string(trace.value().spans().size()) + " spans and not " + std::to_string(spans);
}

uint64_t SpansOf(const std::string& path) {
  const opscope::Result<opscope::Trace> trace = opscope::ImportFile(path);
  return trace.ok() ? trace.value().spans().size() : 0;
}

// A child that writes the trace of `from` to `path` again and again; `times` 0: until it is killed.
pid_t StartExporting(const std::string& from, const std::string& path, int times) {
  const pid_t child = fork();
  if (child != 0) return child;
  const opscope::Result<opscope::Trace> trace = opscope::ImportFile(from);
  if (!trace.ok()) _exit(2);
  for (int i = 0; times == 0 || i < times; ++i) {
    const opscope::Status written = path.ends_with(".json") ? opscope::ExportChromeTrace(trace.value(), path)
                                                            : opscope::ExportOpscope(trace.value(), path);
    if (!written.ok()) _exit(1);
  }
  _exit(0);
}

TEST(OneName, SixteenProcessesMaySaveUnderIt) {
  const Folder folder;
  const std::string from = folder.Path("from.opscope"), path = folder.Path("all.opscope");
  MakeRecording(from);
  const uint64_t spans = SpansOf(from);
  ASSERT_GT(spans, 0u);
  std::vector<pid_t> children;
  for (int i = 0; i < 16; ++i)
    children.push_back(StartExporting(from, path, 5));
  int looks = 0;
  for (const pid_t child : children) {
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      if (!fs::exists(path)) continue;
      ASSERT_EQ(WrongWithRecording(path, spans), "") << "look " << looks;
      ++looks;
    }
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  EXPECT_EQ(WrongWithRecording(path, spans), "");
  EXPECT_EQ(NamesIn(folder.path()), (std::vector<std::string>{"all.opscope", "from.opscope"}));
  std::printf("16 processes x 5 files under one name, read %d times meanwhile: whole each time\n", looks);
}

// Has a file open there that has no name yet, or one of its own.
bool IsWriting(pid_t child, const std::string& folder) {
  std::error_code is_gone;
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(child) + "/fd", is_gone)) {
    const std::string file = fs::read_symlink(entry, is_gone).string();
    if (file.starts_with(folder) && (file.ends_with("(deleted)") || file.find(".tmp") != std::string::npos))
      return true;
  }
  return false;
}

TEST(OneName, HasTheOldOrAWholeNewFileWhenTheWriterIsKilled) {
  const Folder folder;
  const std::string from = folder.Path("from.opscope"), path = folder.Path("killed.json");  // in many pieces
  MakeRecording(from);
  int status = 0;
  waitpid(StartExporting(from, path, 1), &status, 0);
  const uint64_t spans = SpansOf(path);
  ASSERT_GT(spans, 0u);
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const int kills = std::getenv("OPSCOPE_SOAK") != nullptr ? 200 : 40;
  int cut_short = 0;
  for (int i = 0; i < kills; ++i) {
    const pid_t child = StartExporting(from, path, 0);
    usleep(static_cast<useconds_t>(std::uniform_int_distribution<int>(0, 60000)(random)));  // the moment is the subject
    kill(child, SIGSTOP);
    waitpid(child, &status, WUNTRACED);
    ASSERT_TRUE(WIFSTOPPED(status)) << "it ended by itself: " << status;
    cut_short += IsWriting(child, folder.path()) ? 1 : 0;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    ASSERT_EQ(WrongWithRecording(path, spans), "") << "kill " << i;
    for (const std::string& name : NamesIn(folder.path())) {
      if (name.find(".tmp") != std::string::npos) fs::remove(folder.Path(name));
    }
  }
  std::printf("%d kills, %d of them in the middle of a file: the final name was whole each time\n", kills, cut_short);
  EXPECT_GT(cut_short, 0) << "no kill came while a file was written";
}

class NameInTheWay : public testing::Test {
 protected:
  void SetUp() override {
    MakeRecording(from_);
    opscope::Result<opscope::Trace> trace = opscope::ImportFile(from_);
    ASSERT_TRUE(trace.ok());
    trace_.emplace(std::move(trace).value());
  }
  opscope::Status Export(const std::string& path) { return opscope::ExportOpscope(*trace_, path); }

  Folder folder_;
  std::string from_ = folder_.Path("from.opscope");
  std::optional<opscope::Trace> trace_;
};

TEST_F(NameInTheWay, OfAFolderIsAnErrorAndTheFolderStays) {
  fs::create_directory(folder_.Path("x.opscope"));
  const opscope::Status status = Export(folder_.Path("x.opscope"));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().system_errno, EISDIR);
  EXPECT_EQ(NamesIn(folder_.path()), (std::vector<std::string>{"from.opscope", "x.opscope"}));
}

TEST_F(NameInTheWay, OfALinkMayBeReadAfterwards) {
  fs::create_symlink("elsewhere.opscope", folder_.Path("x.opscope"));  // to nothing
  ASSERT_TRUE(Export(folder_.Path("x.opscope")).ok());
  EXPECT_EQ(WrongWithRecording(folder_.Path("x.opscope"), trace_->spans().size()), "");
}

TEST_F(NameInTheWay, OfAMissingFolderIsAnErrorThatNamesIt) {
  const opscope::Status status = Export(folder_.Path("none/x.opscope"));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().system_errno, ENOENT);
  EXPECT_NE(status.error().message.find("none/x.opscope"), std::string::npos);
}

TEST_F(NameInTheWay, OfADumpIsForItsUserAlone) {
  const std::string path = folder_.Path("dumped.opscope");
  EXPECT_EQ(RunInChildProcess(Dumping(path)), "");
  struct stat facts{};
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

}  // namespace
}  // namespace faults
