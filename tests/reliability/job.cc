// Starts a program with its output in a pipe and descriptor 3 in another one. Just before its end the program writes
// the current time to descriptor 3; from there to the return of waitpid is the duration of its end, which a recorder
// must not prolong.
// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "soak.h"

namespace {

int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

[[noreturn]] void Become(const std::vector<std::string>& command, int output, int about_to_end) {
  const int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, 0);
  dup2(nothing, 2);
  dup2(output, 1);
  dup2(about_to_end, 3);
  for (int descriptor = 4; descriptor < 64; ++descriptor)
    close(descriptor);
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  if (kSanitized) setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // a program that ends abruptly has not freed its memory
  execv(arguments[0], arguments.data());
  _exit(127);
}

// Reads until all writers have closed the pipe. Returns false on timeout.
bool ReadAll(int descriptor, int64_t until_ns, std::string* text) {
  for (;;) {
    pollfd ready{descriptor, POLLIN, 0};
    const int64_t left_ms = (until_ns - NowNs()) / 1000000;
    if (left_ms <= 0 || poll(&ready, 1, static_cast<int>(left_ms)) == 0) return false;
    char buffer[4096];
    const ssize_t size = read(descriptor, buffer, sizeof(buffer));
    if (size <= 0) return true;
    text->append(buffer, static_cast<size_t>(size));
  }
}

}  // namespace

std::string Job::description() const {
  if (status == -1) return "did not end; output: " + output;
  const std::string how = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                              : "status " + std::to_string(WEXITSTATUS(status));
  return how + "; output: " + output;
}

Job RunJob(const std::vector<std::string>& command, int limit_s) {
  int output[2], about[2];
  Job job;
  if (pipe2(output, O_CLOEXEC) != 0 || pipe2(about, O_CLOEXEC) != 0) return job;
  const pid_t child = fork();
  if (child == 0) Become(command, output[1], about[1]);
  close(output[1]);
  close(about[1]);
  const bool ended = ReadAll(output[0], NowNs() + int64_t{limit_s} * 1000000000, &job.output);
  if (!ended) kill(child, SIGKILL);
  waitpid(child, &job.status, 0);
  const int64_t end = NowNs();
  if (!ended) job.status = -1;
  int64_t said = 0;
  if (read(about[0], &said, sizeof(said)) == sizeof(said)) job.ending_ms = static_cast<double>(end - said) / 1e6;
  close(output[0]);
  close(about[0]);
  return job;
}
