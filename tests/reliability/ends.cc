// A program that ends in the given way: ends WAY STATE. Its output and status must not depend on whether it records. It
// writes the time just before its end to file descriptor 3, if that is open.
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "recording.h"

namespace {

void AboutToEnd() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t ns = static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
  [[maybe_unused]] const ssize_t written = write(3, &ns, sizeof(ns));
}

struct EndsAtDestruction {
  int status;
  ~EndsAtDestruction() {
    if (status == 0) return;
    OPSCOPE_SCOPE("in a destructor");
    AboutToEnd();
    std::fflush(stdout);
    _exit(status);
  }
};

struct RecordsAtDestruction {
  ~RecordsAtDestruction() {
    OPSCOPE_SCOPE("in a destructor");
    std::printf("destructor\n");
  }
};

jmp_buf back;

void JumpBack() {
  OPSCOPE_SCOPE("jumped over");
  OPSCOPE_SCOPE("inside it");
  longjmp(back, 1);
}

__attribute__((noinline)) void ThrowFrom(int depth) {
  OPSCOPE_SCOPE("unwound");
  if (depth > 0) ThrowFrom(depth - 1);
  throw std::runtime_error("thrown");
}

void EndInNoexcept() noexcept {
  ThrowFrom(3);
}

void* WaitForCancel(void*) {
  OPSCOPE_SCOPE("cancelled");
  for (;;)
    usleep(1000);
}

void* SpinUntilCancelled(void*) {
  int before;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
  for (;;)
    __asm__ volatile("" ::: "memory");
}

int CancelOf(void* (*run)(void*)) {
  pthread_t thread;
  pthread_create(&thread, nullptr, run, nullptr);
  usleep(1000);
  pthread_cancel(thread);
  void* result = nullptr;
  pthread_join(thread, &result);
  std::printf("cancelled: %d\n", result == PTHREAD_CANCELED);
  AboutToEnd();
  return 21;
}

[[noreturn]] void DieOf(int signal) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  std::fflush(stdout);
  AboutToEnd();
  raise(signal);
  _exit(99);
}

int EndByThread(void (*end)()) {
  std::thread(end).detach();
  for (;;)
    usleep(1000);
}

int ForkAndReturn() {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    OPSCOPE_SCOPE("child");
    std::exit(5);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child ended with %d\n", WEXITSTATUS(status));
  AboutToEnd();
  return 22;
}

int Replace() {
  std::fflush(stdout);
  AboutToEnd();
  execl("/bin/sh", "sh", "-c", "echo replaced; exit 23", nullptr);
  return 99;
}

int JumpAndReturn() {
  static int i;
  for (i = 0; i < 100; ++i) {
    OPSCOPE_SCOPE("around");
    if (setjmp(back) == 0) JumpBack();
  }
  std::printf("jumped\n");
  AboutToEnd();
  return 24;
}

int CatchAndReturn() {
  for (int i = 0; i < 100; ++i) {
    try {
      ThrowFrom(10);
    } catch (const std::runtime_error&) {
    }
  }
  std::printf("caught\n");
  AboutToEnd();
  return 25;
}

int EndOfThreadWithOpenScopes() {
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        OPSCOPE_SCOPE("open at the end of the thread");
        pthread_exit(nullptr);
      },
      nullptr);
  pthread_join(thread, nullptr);
  AboutToEnd();
  return 26;
}

int LeaveThreadsRunning() {
  static std::atomic<bool> run{true};  // a loop that does nothing, as the plain one, would be taken for none
  for (int t = 0; t < 4; ++t) {
    std::thread([] {
      while (run)
        OPSCOPE_SCOPE("still running");
    }).detach();
  }
  usleep(1000);
  AboutToEnd();
  return 27;
}

void ExitInHandler(int) {
  OPSCOPE_SCOPE("handler");
  AboutToEnd();
  _exit(28);
}

int Overflow(int depth);
int (*volatile overflow)(int) = Overflow;  // the compiler may not see that it never returns
int Overflow(int depth) {
  char room[4096];
  __asm__ volatile("" ::"r"(room) : "memory");
  return overflow(depth + 1) + room[0];
}

struct Way {
  const char* name;
  int (*end)();
};

constexpr Way kWays[] = {
    {"return",
     [] {
       AboutToEnd();
       return 3;
     }},
    {"exit",
     [] {
       AboutToEnd();
       std::exit(4);
       return 0;
     }},
    {"quick_exit",
     [] {
       at_quick_exit([] {
         std::printf("at quick exit\n");
         std::fflush(stdout);
       });
       AboutToEnd();
       std::quick_exit(5);
       return 0;
     }},
    {"_exit",
     [] {
       AboutToEnd();
       _exit(6);
       return 0;
     }},
    {"abort",
     [] {
       DieOf(SIGABRT);
       return 0;
     }},
    {"sigterm",
     [] {
       DieOf(SIGTERM);
       return 0;
     }},
    {"sigint",
     [] {
       DieOf(SIGINT);
       return 0;
     }},
    {"sigkill",
     [] {
       DieOf(SIGKILL);
       return 0;
     }},
    {"sigpipe",
     [] {
       DieOf(SIGPIPE);
       return 0;
     }},
    {"sigsegv",
     [] {
       DieOf(SIGSEGV);
       return 0;
     }},
    {"stack overflow",
     [] {
       const rlimit none{0, 0};
       setrlimit(RLIMIT_CORE, &none);
       AboutToEnd();
       return overflow(0);
     }},
    {"alarm",
     [] {
       AboutToEnd();
       ualarm(1000, 0);
       for (;;)
         pause();
       return 0;
     }},
    {"uncaught exception",
     [] {
       const rlimit none{0, 0};
       setrlimit(RLIMIT_CORE, &none);
       AboutToEnd();
       ThrowFrom(10);
       return 0;
     }},
    {"exception in noexcept",
     [] {
       const rlimit none{0, 0};
       setrlimit(RLIMIT_CORE, &none);
       AboutToEnd();
       EndInNoexcept();
       return 0;
     }},
    {"uncaught exception of a thread",
     [] {
       const rlimit none{0, 0};
       setrlimit(RLIMIT_CORE, &none);
       return EndByThread([] {
         AboutToEnd();
         ThrowFrom(10);
       });
     }},
    {"exit by a thread",
     [] {
       return EndByThread([] {
         OPSCOPE_SCOPE("exits");
         AboutToEnd();
         std::exit(7);
       });
     }},
    {"_exit by a thread",
     [] {
       return EndByThread([] {
         OPSCOPE_SCOPE("exits");
         AboutToEnd();
         _exit(8);
       });
     }},
    {"exit at exit",
     [] {
       std::atexit([] {
         OPSCOPE_SCOPE("at exit");
         std::printf("at exit\n");
         std::fflush(stdout);
         _exit(9);
       });
       AboutToEnd();
       return 0;
     }},
    {"thread-local destructor",
     [] {
       return EndByThread([] {
         thread_local EndsAtDestruction ends{10};
         ends.status = 10;
         OPSCOPE_SCOPE("before its thread's end");
       });
     }},
    {"static destructor",
     [] {
       static EndsAtDestruction ends{11};
       return ends.status == 11 ? 0 : 99;
     }},
    {"scopes in destructors",
     [] {
       static RecordsAtDestruction of_the_process;
       thread_local RecordsAtDestruction of_the_thread;
       (void)&of_the_process;
       (void)&of_the_thread;
       std::atexit([] { OPSCOPE_SCOPE("at exit"); });
       AboutToEnd();
       return 12;
     }},
    {"exec", Replace},
    {"main thread ends first",
     [] {
       std::thread([] {
         usleep(2000);
         std::printf("the last thread\n");
         AboutToEnd();
#if !defined(RELIABILITY_PLAIN) || defined(__SANITIZE_THREAD__)  // which has a thread of its own
         std::exit(0);  // here it is not the last: others record in the background
#endif
       }).detach();
       OPSCOPE_SCOPE("open in the main thread");
       pthread_exit(nullptr);
       return 0;
     }},
    {"cancelled thread", [] { return CancelOf(WaitForCancel); }},
    {"cancelled at any moment", [] { return CancelOf(SpinUntilCancelled); }},
    {"jump out of scopes", JumpAndReturn},
    {"exceptions through scopes", CatchAndReturn},
    {"thread ends with open scopes", EndOfThreadWithOpenScopes},
    {"threads left running", LeaveThreadsRunning},
    {"fork", ForkAndReturn},
    {"handler exits",
     [] {
       signal(SIGUSR1, ExitInHandler);
       std::fflush(stdout);
       raise(SIGUSR1);
       return 0;
     }},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) {  // how many ways there are
    const auto index = static_cast<size_t>(std::atoi(argv[1]));
    if (index < std::size(kWays)) std::printf("%s", kWays[index].name);
    return 0;
  }
  if (argc < 3) return 98;
  const auto index = static_cast<size_t>(std::atoi(argv[1]));
  if (index >= std::size(kWays)) return 97;
  StartRecording(argv[2]);
  std::printf("%s\n", kWays[index].name);
  return kWays[index].end();
}
