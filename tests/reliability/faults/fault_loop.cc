// Runs a job once per failing call: call 1 fails, then call 2, and so on until the job ends before reaching that call.
// Each trial is a forked child, so that a crash, a hang (alarm after 20 s) or a leak is the result of that trial alone.
//
// Trying each of 10,000 allocations is too slow for every test run: beyond the first 40 places the distance between two
// trials grows by 1/15, which gives about 125 trials. OPSCOPE_SOAK=1 tries all of them.
// SPDX-License-Identifier: Apache-2.0
#include "fault_loop.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace faults {
namespace {

constexpr unsigned kLimitS = 20;
constexpr uint64_t kMaxPlaces = 1000000;

enum ChildStatus : int { kReached = 0, kNotReached = 1, kWrong = 2 };

bool FoundLeaks() {
#ifdef __SANITIZE_ADDRESS__
  return __lsan_do_recoverable_leak_check() != 0;
#else
  return false;
#endif
}

[[noreturn]] void RunInChild(const Fault& fault, uint64_t at, const Job& job, int complaints) {
  alarm(kLimitS);
  Trial trial(fault, at);
  std::string wrong;
  try {
    wrong = job(&trial);
    Disarm();
  } catch (...) {
    Disarm();
    wrong = "an exception came out";
  }
  if (wrong.empty() && FoundLeaks()) wrong = "memory leaked";
  if (!wrong.empty()) {
    [[maybe_unused]] const ssize_t written = write(complaints, wrong.data(), wrong.size());
    _exit(kWrong);
  }
  _exit(trial.failed() ? kReached : kNotReached);
}

std::string ReadAll(int descriptor) {
  std::string text;
  char part[512];
  for (ssize_t got; (got = read(descriptor, part, sizeof(part))) > 0;)
    text.append(part, static_cast<size_t>(got));
  return text;
}

struct Ending {
  bool was_reached = false;
  std::string wrong;
};

Ending RunOnce(const Fault& fault, uint64_t at, const Job& job) {
  int complaints[2];
  if (pipe(complaints) != 0) return {false, "no pipe"};
  const pid_t child = fork();
  if (child < 0) return {false, "no process"};
  if (child == 0) RunInChild(fault, at, job, complaints[1]);
  close(complaints[1]);
  Ending ending{false, ReadAll(complaints[0])};
  close(complaints[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    ending.wrong = WTERMSIG(status) == SIGALRM ? "it hangs" : std::string("killed: ") + strsignal(WTERMSIG(status));
    ending.was_reached = true;
  } else {
    ending.was_reached = WEXITSTATUS(status) != kNotReached;
    if (WEXITSTATUS(status) > kWrong) ending.wrong = "exit status " + std::to_string(WEXITSTATUS(status));
    if (WEXITSTATUS(status) == kWrong && ending.wrong.empty()) ending.wrong = "wrong";
  }
  return ending;
}

// The next place after `at`: each at first, then fewer and fewer.
uint64_t NextPlace(uint64_t at) {
  if (std::getenv("OPSCOPE_SOAK") != nullptr || at < 40) return at + 1;
  return at + 1 + at / 15;
}

}  // namespace

Report FailEach(const Fault& fault, const Job& job) {
  if (const char* place = std::getenv("FAULT_AT")) {  // in this process, for a debugger
    Trial trial(fault, std::strtoull(place, nullptr, 10));
    return {1, job(&trial)};
  }
  constexpr int kShown = 5;
  Report report;
  int wrongs = 0;
  for (uint64_t at = 1; at < kMaxPlaces && wrongs < kShown; at = NextPlace(at)) {
    const Ending ending = RunOnce(fault, at, job);
    if (!ending.wrong.empty()) {
      ++wrongs;
      report.wrong += "call " + std::to_string(at) + ": " + ending.wrong + "\n";
    }
    if (!ending.was_reached) break;
    ++report.points;
  }
  return report;
}

std::string RunInChildProcess(const Job& job) {
  return RunOnce({}, 0, job).wrong;
}

}  // namespace faults
