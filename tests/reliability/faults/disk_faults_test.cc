// A disk that is full, a folder that may not be written, signals in the middle of calls: the old file stays or the
// whole new one stands there, nothing is left beside it, the error names the path and the system's reason, and the
// job goes on. Mapped recordings: src/profiler/record_to_faults_test.cc. OPSCOPE_SOAK=1: every call of each job.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "jobs.h"

namespace faults {
namespace {

struct Refusals {
  Call call;
  const char* name;
  std::vector<int> numbers;
};

const Refusals kWriting[] = {
    {Call::kOpen, "open", {ENOSPC, EACCES, EROFS, EMFILE, EDQUOT}},
    {Call::kWrite, "write", {ENOSPC, EDQUOT, EIO}},
    {Call::kRename, "rename", {EXDEV, EACCES, EIO}},
    {Call::kClose, "close", {EIO, ENOSPC, EDQUOT}},
};
// 0: a partial write. None of these is an error for the caller.
const Refusals kInterruptions[] = {{Call::kOpen, "open", {EINTR}}, {Call::kWrite, "write", {EINTR, 0}}};

void ExpectToBear(const std::string& what, const Refusals& refusals, const Job& job) {
  uint64_t points = 0;
  for (const int number : refusals.numbers) {
    for (const bool persists : {false, true}) {
      if (persists && number == EINTR) continue;  // would never end, and should not
      const Report report = FailEach({refusals.call, number, persists}, job);
      EXPECT_EQ(report.wrong, "") << what << ", " << refusals.name << ", " << std::strerror(number)
                                  << (persists ? ", from there on" : ", once");
      points += report.points;
    }
  }
  EXPECT_GT(points, 0u) << what << " does not " << refusals.name;
  std::printf("%-20s %-7s %5lu places failed\n", what.c_str(), refusals.name, static_cast<unsigned long>(points));
}

TEST(DiskFaults, OfSavingDumpingAndExportingLeaveTheOldFileOrAWholeOne) {
  const Folder folder;
  const std::string recording = folder.Path("recording.opscope");
  MakeRecording(recording);
  for (const Refusals& refusals : kWriting) {
    ExpectToBear("save", refusals, Saving(folder.Path("saved.opscope")));
    ExpectToBear("dump", refusals, Dumping(folder.Path("dumped.opscope")));
    for (const char* name : {"x.opscope", "x.json", "x.json.gz", "x.json.zst"})
      ExpectToBear(std::string("export ") + name, refusals, Exporting(recording, folder.Path(name)));
  }
}

TEST(DiskFaults, OfASchedulesSavingDoNotEndItsRecording) {
  const Folder folder;
  for (const Refusals& refusals : kWriting)
    ExpectToBear("schedule", refusals, ScheduledRecording(folder.Path("steps.opscope")));
}

TEST(DiskFaults, OfReadingAreErrors) {
  const Folder folder;
  const std::string recording = folder.Path("recording.opscope");
  MakeRecording(recording);
  ExpectToBear("read", {Call::kOpen, "open", {EACCES, EMFILE, EIO}}, Reading(recording));
}

TEST(DiskFaults, InterruptionsAndShortWritesChangeNothing) {
  const Folder folder;
  const std::string recording = folder.Path("recording.opscope");
  MakeRecording(recording);
  for (const Refusals& interruptions : kInterruptions) {
    ExpectToBear("save", interruptions, Saving(folder.Path("saved.opscope")));
    ExpectToBear("dump", interruptions, Dumping(folder.Path("dumped.opscope")));
    ExpectToBear("export x.json.gz", interruptions, Exporting(recording, folder.Path("x.json.gz")));
    ExpectToBear("opscope info", interruptions, CommandLine({"info", recording}, folder.path()));
  }
}

TEST(DiskFaults, AThreadThatIsNotToBeHadChangesNothing) {
  const Folder folder;
  const std::string recording = folder.Path("recording.opscope");
  MakeRecording(recording);
  const Refusals refusals = {Call::kThread, "thread", {EAGAIN}};
  ExpectToBear("export x.json.gz", refusals, Exporting(recording, folder.Path("x.json.gz")));
}

// Beyond the limit the system ends a job by SIGXFSZ that does not see to it.
TEST(DiskFaults, AFileSizeLimitIsAnErrorAndEndsNobody) {
  const Folder folder;
  EXPECT_EQ(RunInChildProcess([&](Trial* trial) -> std::string {
              const rlimit limit = {8192, RLIM_INFINITY};
              if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return "no limit";
              return SavingWithoutRoom(folder.Path("saved.opscope"))(trial);
            }),
            "");
}

TEST(DiskFaults, AFullFileSystemIsAnErrorAndEndsNobody) {
  const Folder folder;
  const std::string wrong = RunInChildProcess([&](Trial* trial) -> std::string {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=32k") != 0) {
      return "cannot mount";
    }
    return SavingWithoutRoom(folder.Path("saved.opscope"))(trial);
  });
  if (wrong == "cannot mount") GTEST_SKIP() << "this process may not mount a file system";
  EXPECT_EQ(wrong, "");
}

TEST(DiskFaults, AFolderThatMayNotBeWrittenIsAnError) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody who may not write";
  const Folder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  EXPECT_EQ(RunInChildProcess([&](Trial* trial) -> std::string {
              return SavingWithoutRoom(folder.Path("saved.opscope"), [] {
                constexpr uid_t kNobody = 65534;
                return setresuid(kNobody, kNobody, kNobody) == 0;
              })(trial);
            }),
            "");
}

}  // namespace
}  // namespace faults
