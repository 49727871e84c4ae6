// What the disk and the system may refuse to the file of record_to: the program goes on as if nothing were, the
// recording is complete (in memory where not in the file), and one sentence says why.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "flight/temporary_folder_for_test.h"
#include "opscope/import.h"
#include "opscope/profiler.h"

namespace {

enum class Call { kNone, kFallocate, kWrite, kShortWrite, kMap, kPopulate, kRename, kCut };

// The call that fails: the `countdown`-th of this kind from now. Several threads may call.
struct Fault {
  std::atomic<Call> call{Call::kNone};
  std::atomic<int> countdown{0};
  std::atomic<int> error{0};
  std::atomic<bool> for_ever{false};
  std::atomic<int> fired{0};
} fault;

[[maybe_unused]] bool Fails(Call call) {
  if (fault.call.load() != call) return false;
  const int left = fault.countdown.fetch_sub(1);
  if (left > 1 || (left < 1 && !fault.for_ever.load())) return false;
  fault.fired.fetch_add(1);
  errno = fault.error.load();
  return true;
}

}  // namespace

// These stand before the C library's for the whole program, the shared recorder included; ThreadSanitizer needs
// to be first itself.
#if !defined(__SANITIZE_THREAD__)
constexpr bool kCallsCanFail = true;
#define STANDS_BEFORE extern "C" __attribute__((visibility("default")))

STANDS_BEFORE int fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  if (Fails(Call::kFallocate)) return -1;
  return static_cast<int>(syscall(SYS_fallocate, descriptor, mode, offset, bytes));
}
STANDS_BEFORE ssize_t pwrite(int descriptor, const void* data, size_t bytes, off_t offset) {
  if (Fails(Call::kWrite)) return -1;
  if (bytes > 1 && Fails(Call::kShortWrite)) bytes /= 2;
  return syscall(SYS_pwrite64, descriptor, data, bytes, offset);
}
STANDS_BEFORE void* mmap(void* place, size_t bytes, int protection, int flags, int descriptor, off_t offset) noexcept {
  if (descriptor >= 0 && (flags & MAP_SHARED) != 0 && Fails(Call::kMap)) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, place, bytes, protection, flags, descriptor, offset));
}
STANDS_BEFORE int madvise(void* place, size_t bytes, int advice) noexcept {
  constexpr int kPopulateWrite = 23;
  if (advice == kPopulateWrite && Fails(Call::kPopulate)) return -1;
  return static_cast<int>(syscall(SYS_madvise, place, bytes, advice));
}
STANDS_BEFORE int rename(const char* from, const char* to) noexcept {
  if (Fails(Call::kRename)) return -1;
  return static_cast<int>(syscall(SYS_rename, from, to));
}
STANDS_BEFORE int ftruncate(int descriptor, off_t bytes) noexcept {
  if (Fails(Call::kCut)) return -1;
  return static_cast<int>(syscall(SYS_ftruncate, descriptor, bytes));
}
#else
constexpr bool kCallsCanFail = false;
#endif

namespace opscope {
namespace {

constexpr uint64_t kPerThread = 60000;  // 1.9 MB; a segment of the file holds 4.2 MB
constexpr uint64_t kThreads = 3;

void Work() {
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([] {
      for (uint64_t i = 0; i < kPerThread; ++i)
        OPSCOPE_SCOPE("work");
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

bool HasProblem(const Trace& trace, std::string_view kind) {
  const ProblemColumns& problems = trace.problems();
  for (size_t i = 0; i < problems.size(); ++i) {
    if (trace.text(problems.kind[i]) == kind) return true;
  }
  return false;
}

struct Outcome {
  std::vector<std::string> warnings;
  bool file_is_there = false;
  bool file_is_partial = false;
  uint64_t spans_in_file = 0;
};

// Records into folder/x.opscope and checks what must hold whatever was refused.
Outcome RecordWith(const TemporaryFolder& folder, const std::function<void()>& work) {
  Outcome outcome;
  const std::string path = folder.File("x.opscope");
  Profiler profiler(
      {.on_warning = [&](std::string_view text) { outcome.warnings.emplace_back(text); }, .record_to = path});
  EXPECT_TRUE(profiler.Start().ok());
  work();
  EXPECT_TRUE(profiler.Stop().ok());
  fault.call.store(Call::kNone);
  EXPECT_EQ(profiler.recorded(), kPerThread * kThreads);
  EXPECT_EQ(profiler.dropped(), 0u);
  const TemporaryFolder elsewhere;
  EXPECT_TRUE(profiler.Save(elsewhere.File("saved.opscope")).ok());
  const Result<Trace> saved = ImportFile(elsewhere.File("saved.opscope"));
  EXPECT_TRUE(saved.ok());
  if (!saved.ok()) return outcome;
  EXPECT_EQ(saved.value().spans().size(), kPerThread * kThreads);
  EXPECT_FALSE(saved.value().is_partial());
  EXPECT_EQ(HasProblem(saved.value(), "record_to_failed"), !outcome.warnings.empty());
  for (const std::string& warning : outcome.warnings)
    EXPECT_EQ(warning.rfind("record_to: " + path + ": ", 0), 0u) << warning;
  outcome.file_is_there = std::filesystem::exists(path);
  if (!outcome.file_is_there) return outcome;
  const Result<Trace> file = ImportFile(path);
  EXPECT_TRUE(file.ok()) << file.error().message;
  if (!file.ok()) return outcome;
  outcome.file_is_partial = file.value().is_partial();
  outcome.spans_in_file = file.value().spans().size();
  EXPECT_FALSE(HasProblem(file.value(), "damaged_block"));
  EXPECT_TRUE(outcome.file_is_partial || outcome.spans_in_file == kPerThread * kThreads);
  return outcome;
}

// After a failure the file may try again, with a smaller piece or later.
bool IsOvercome(Call call, int k, int error, bool for_ever) {
  if (call == Call::kShortWrite || call == Call::kCut || error == EINTR) return true;
  return !for_ever && ((call == Call::kFallocate && k == 3) || (call == Call::kPopulate && k == 1));
}

Outcome RecordUnder(Call call, int k, int error, bool for_ever) {
  SCOPED_TRACE("call " + std::to_string(static_cast<int>(call)) + ", the " + std::to_string(k) + "th, errno " +
               std::to_string(error) + (for_ever ? " for ever" : ""));
  const TemporaryFolder folder;
  fault.fired.store(0);
  fault.error.store(error);
  fault.countdown.store(k);
  fault.for_ever.store(for_ever);
  fault.call.store(call);
  const Outcome outcome = RecordWith(folder, Work);
  EXPECT_LE(folder.FileCount(), outcome.file_is_there ? 1u : 0u) << "something was left behind";
  const bool is_told = fault.fired.load() > 0 && !IsOvercome(call, k, error, for_ever);
  EXPECT_EQ(outcome.warnings.size(), is_told ? 1u : 0u);
  EXPECT_TRUE(is_told || outcome.spans_in_file == kPerThread * kThreads);
  return outcome;
}

TEST(RecordToFaults, ARefusedGrowthCostsTheFileAndNotTheRecording) {
  if (!kCallsCanFail) GTEST_SKIP() << "ThreadSanitizer stands before the C library";
  for (const int error : {ENOSPC, EDQUOT, EIO, EFBIG, EINTR}) {
    for (int k = 1; k <= 4; ++k) {
      const Outcome outcome = RecordUnder(Call::kFallocate, k, error, error != EINTR);
      EXPECT_EQ(outcome.file_is_there, k > 2 || error == EINTR) << k;  // head and first segment come first
    }
  }
}

TEST(RecordToFaults, ASmallerSegmentIsTakenWhereAWholeOneIsRefused) {
  if (!kCallsCanFail) GTEST_SKIP() << "ThreadSanitizer stands before the C library";
  const Outcome outcome = RecordUnder(Call::kFallocate, 3, ENOSPC, false);
  EXPECT_EQ(fault.fired.load(), 1);
  EXPECT_FALSE(outcome.file_is_partial);
}

TEST(RecordToFaults, AFileSystemThatCannotAllocateIsFilledWithZeroes) {
  if (!kCallsCanFail) GTEST_SKIP() << "ThreadSanitizer stands before the C library";
  const TemporaryFolder folder;
  fault.error.store(EOPNOTSUPP);
  fault.countdown.store(1);
  fault.for_ever.store(true);
  fault.call.store(Call::kFallocate);
  const Outcome outcome = RecordWith(folder, Work);
  EXPECT_TRUE(outcome.warnings.empty());
  EXPECT_EQ(outcome.spans_in_file, kPerThread * kThreads);
}

TEST(RecordToFaults, AnyOtherCallMayBeRefused) {
  if (!kCallsCanFail) GTEST_SKIP() << "ThreadSanitizer stands before the C library";
  for (const Call call : {Call::kWrite, Call::kMap, Call::kPopulate, Call::kRename, Call::kCut}) {
    for (const int k : {1, 2, 3, 5, 9, 18}) {
      RecordUnder(call, k, EIO, true);
      RecordUnder(call, k, ENOSPC, false);
    }
  }
  for (const int k : {1, 2, 3, 4, 5, 6}) {
    RecordUnder(Call::kWrite, k, EINTR, false);
    RecordUnder(Call::kShortWrite, k, 0, k % 2 == 0);
  }
}

TEST(RecordToFaults, ALimitOnTheSizeOfFilesRaisesNoSignal) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const TemporaryFolder folder;
  const Outcome outcome = RecordWith(folder, [&] {
    rlimit small = before;
    small.rlim_cur = uint64_t{1} << 20;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    Work();
    // Ending the file needs no more than what is there, so the limit may stay; Save writes elsewhere.
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  });
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_NE(outcome.warnings[0].find("File too large (while growing the file)"), std::string::npos)
      << outcome.warnings[0];
}

// Number of the descriptor that the recorder has open on the file, or -1.
int DescriptorOn(const std::string& path) {
  for (int number = 3; number < 256; ++number) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(number), error);
    if (!error && target == std::filesystem::canonical(path)) return number;
  }
  return -1;
}

TEST(RecordToFaults, ADescriptorThatBecameSomebodyElsesIsLeftAlone) {
  const TemporaryFolder folder;
  const std::string other = folder.File("other");
  const Outcome outcome = RecordWith(folder, [&] {
    const int number = DescriptorOn(folder.File("x.opscope"));
    ASSERT_GE(number, 3);
    const int mine = open(other.c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_EQ(dup2(mine, number), number);
    close(mine);
    Work();
  });
  EXPECT_EQ(outcome.warnings.size(), 1u);
  EXPECT_EQ(std::filesystem::file_size(other), 0u);
  EXPECT_TRUE(outcome.file_is_partial);
  EXPECT_GT(outcome.spans_in_file, kPerThread);  // a segment was there before
}

TEST(RecordToFaults, AFolderThatGoesAwayCostsNothing) {
  const TemporaryFolder folder;
  const Outcome outcome = RecordWith(folder, [&] {
    std::filesystem::remove_all(folder.path());
    Work();
  });
  EXPECT_TRUE(outcome.warnings.empty());
  EXPECT_FALSE(outcome.file_is_there);
  ASSERT_TRUE(std::filesystem::create_directory(folder.path()));
}

// A disk of a few MiB, seen by this process alone. False: only root can have one.
bool MountSmallDisk(const std::string& place, const char* options) {
  return unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", place.c_str(), "tmpfs", 0, options) == 0;
}

// On a disk of its own, in a child, so that a signal would be seen as such.
int OnSmallDisk(const char* options, const std::function<void(const TemporaryFolder&)>& job) {
  const TemporaryFolder disk;
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    if (!MountSmallDisk(disk.path(), options)) _exit(77);
    {
      const TemporaryFolder folder(disk.path());
      job(folder);
    }
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(RecordToFaults, AFullDiskIsNoSignalAndNoLoss) {
  for (const char* options : {"size=256k", "size=1m", "size=3m", "size=5m"}) {
    SCOPED_TRACE(options);
    const int status = OnSmallDisk(options, [](const TemporaryFolder& folder) {
      std::vector<std::string> warnings;
      Profiler profiler({.on_warning = [&](std::string_view text) { warnings.emplace_back(text); },
                         .record_to = folder.File("x.opscope")});
      EXPECT_TRUE(profiler.Start().ok());
      Work();
      // What lies in the file already may be written again although the disk is full.
      EXPECT_TRUE(profiler.Stop().ok());
      EXPECT_EQ(profiler.recorded(), kPerThread * kThreads);
      EXPECT_EQ(profiler.dropped(), 0u);
      ASSERT_EQ(warnings.size(), 1u);
      EXPECT_NE(warnings[0].find("No space left on device"), std::string::npos) << warnings[0];
    });
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no right to mount";
    EXPECT_EQ(status, 0);
  }
}

TEST(RecordToFaults, AProcessKilledOnAFullDiskLeavesWhatFitted) {
  const int status = OnSmallDisk("size=3m", [](const TemporaryFolder& folder) {
    const pid_t recorder = fork();
    if (recorder == 0) {
      Profiler profiler({.record_to = folder.File("x.opscope")});
      (void)profiler.Start();
      const Scope outer("outer");
      for (uint64_t i = 0; i < kPerThread * kThreads; ++i)
        OPSCOPE_SCOPE("work");
      kill(getpid(), SIGKILL);
    }
    int end = 0;
    ASSERT_EQ(waitpid(recorder, &end, 0), recorder);
    ASSERT_TRUE(WIFSIGNALED(end) && WTERMSIG(end) == SIGKILL) << end;
    const Result<Trace> trace = ImportFile(folder.File("x." + std::to_string(recorder) + ".opscope"));
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_GT(trace.value().spans().size(), uint64_t{2} << 20 >> 5);  // 2 MiB of records
    EXPECT_TRUE(HasProblem(trace.value(), "recording_not_ended"));
    EXPECT_TRUE(HasProblem(trace.value(), "missing_chunk"));  // the thread went on in memory
    EXPECT_FALSE(HasProblem(trace.value(), "damaged_block"));
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no right to mount";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace opscope
