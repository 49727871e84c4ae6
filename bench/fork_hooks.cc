// What the recorder adds to a fork while eight threads record: the time of its three hooks (before, after
// in the parent, after in the child), in microseconds, as one JSON object per fork. Other hooks stand
// around them and read the clock: hooks run before a fork in the reverse order of their registration and
// after it in the order itself, so the first and the last to register see the recorder's between them.
//
//   fork_hooks [FORKS]
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "opscope/scope.h"

namespace {

int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

struct Times {
  int64_t before_begin, before_end, parent_begin, parent_end, child_begin, child_end;
};
Times* times = nullptr;  // shared with the child

void Note(int64_t Times::* place) {
  if (times != nullptr) times->*place = NowNs();
}

// The first hooks: this runs before the constructors of the shared libraries.
void RegisterFirst() {
  pthread_atfork([] { Note(&Times::before_end); }, [] { Note(&Times::parent_begin); },
                 [] { Note(&Times::child_begin); });
}
__attribute__((section(".preinit_array"), used)) void (*const register_first)() = RegisterFirst;

void RegisterLast() {
  pthread_atfork([] { Note(&Times::before_begin); }, [] { Note(&Times::parent_end); }, [] { Note(&Times::child_end); });
}

}  // namespace

int main(int argc, char** argv) {
  const int forks = argc > 1 ? std::atoi(argv[1]) : 100;
  RegisterLast();
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 1;
  times = static_cast<Times*>(page);
  opscope::WindowOptions options;
  options.at_cap = opscope::AtCap::kKeepNewest;
  options.max_bytes = uint64_t{64} << 20;
  opscope::Window* window = opscope_window_open(&options, nullptr);
  std::atomic<bool> done{false};
  std::vector<std::thread> writers(8);
  for (std::thread& writer : writers) {
    writer = std::thread([&done] {
      while (!done.load(std::memory_order_relaxed)) {
        OPSCOPE_SCOPE("outer");
        OPSCOPE_SCOPE("inner");
      }
    });
  }
  while (opscope_window_counts(window).threads < 9)
    std::this_thread::yield();
  for (int i = 0; i < forks; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return 1;
    const auto us = [](int64_t from, int64_t to) { return static_cast<double>(to - from) / 1000; };
    std::printf("{\"before\": %.3f, \"parent\": %.3f, \"child\": %.3f}\n", us(times->before_begin, times->before_end),
                us(times->parent_begin, times->parent_end), us(times->child_begin, times->child_end));
  }
  done = true;
  for (std::thread& writer : writers)
    writer.join();
  opscope_window_free(window);
  return 0;
}
