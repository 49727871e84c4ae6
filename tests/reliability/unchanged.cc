// Thirty small programs whose results must not depend on whether they are recorded: unchanged NUMBER STATE.
// Each works inside scopes, in amounts that make the recorder take new chunks meanwhile.
// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <iostream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "recording.h"

extern char** environ;

namespace {

// Scopes with names old and new, counters, a thread: what a recorded program does between its own steps.
void Annotate() {
  for (int i = 0; i < 300; ++i) {
    OPSCOPE_SCOPE("outer");
    OPSCOPE_SCOPE("inner");
  }
}

void PrintBits(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  std::printf("%016llx\n", static_cast<unsigned long long>(bits));
}

double Series(double x) {
  double sum = 0;
  for (int i = 1; i < 20000; ++i) {
    OPSCOPE_SCOPE("term");
    sum += std::sin(x * i) / i + std::exp(-x / i) * 1e-3 + std::pow(x, 1.0 / i) * 1e-5;
  }
  return sum;
}

uint32_t ControlWord() {
#if defined(__x86_64__)
  uint32_t word;
  __asm__ volatile("stmxcsr %0" : "=m"(word));
  return word;
#else
  return 0;
#endif
}

template <typename Draw>
void PrintDraws(const Draw& draw) {
  for (int i = 0; i < 5; ++i) {
    Annotate();
    std::printf("%.17g ", static_cast<double>(draw()));
  }
  std::printf("\n");
}

void PrintMask() {
  sigset_t mask, pending;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  sigpending(&pending);
  for (int signal = 1; signal < 65; ++signal)
    std::printf("%d%d", sigismember(&mask, signal), sigismember(&pending, signal));
  std::printf("\n");
}

struct Program {
  const char* name;
  void (*run)();
};

constexpr Program kPrograms[] = {
    {"numerics", [] { PrintBits(Series(0.37)); }},
    {"numerics rounded up",
     [] {
       std::fesetround(FE_UPWARD);
       PrintBits(Series(0.37));
       std::printf("%d\n", std::fegetround() == FE_UPWARD);
     }},
    {"float exceptions",
     [] {
       std::feclearexcept(FE_ALL_EXCEPT);
       Annotate();
       std::printf("%x ", static_cast<unsigned>(std::fetestexcept(FE_ALL_EXCEPT)));
       volatile double zero = 0;
       const volatile double infinite = 1 / zero;
       (void)infinite;
       Annotate();
       std::printf("%x\n", static_cast<unsigned>(std::fetestexcept(FE_ALL_EXCEPT)));
     }},
    {"float control word",
     [] {
#if defined(__x86_64__)
       const uint32_t flushing = ControlWord() | 0x8040;
       __asm__ volatile("ldmxcsr %0" ::"m"(flushing));
#endif
       Annotate();
       std::printf("%x\n", ControlWord() & ~0x3fu);
       volatile double tiny = 1e-310;
       PrintBits(tiny * 0.5);
     }},
    {"numerics of threads",
     [] {
       std::vector<double> sums(4);
       std::vector<std::thread> threads;
       for (size_t t = 0; t < sums.size(); ++t)
         threads.emplace_back([&sums, t] { sums[t] = Series(0.1 * static_cast<double>(t + 1)); });
       for (std::thread& thread : threads)
         thread.join();
       for (const double sum : sums)
         PrintBits(sum);
     }},
    {"rand",
     [] {
       std::srand(7);
       PrintDraws(std::rand);
     }},
    {"random",
     [] {
       srandom(7);
       PrintDraws(random);
     }},
    {"drand48",
     [] {
       srand48(7);
       PrintDraws(drand48);
     }},
    {"mt19937",
     [] {
       std::mt19937_64 engine(7);
       PrintDraws([&engine] { return std::normal_distribution<double>()(engine); });
     }},
    {"locale",
     [] {
       std::setlocale(LC_ALL, "C.UTF-8");
       Annotate();
       std::printf("%s %s %.1f\n", std::setlocale(LC_ALL, nullptr), std::localeconv()->decimal_point, 1.5);
     }},
    {"errno",
     [] {
       int changed = 0;
       for (int i = 0; i < 100000; ++i) {
         errno = 77;
         {
           OPSCOPE_SCOPE("outer");
           OPSCOPE_SCOPE("inner");
         }
         changed += errno != 77;
       }
       std::printf("%d\n", changed);
     }},
    {"errno of threads",
     [] {
       int changed = 0;
       for (int i = 0; i < 50; ++i) {
         std::thread([&changed] {
           errno = 78;
           Annotate();
           changed += errno != 78;
         }).join();
       }
       std::printf("%d\n", changed);
     }},
    {"stdio",
     [] {
       std::printf("begun ");
       Annotate();
       std::fprintf(stdout, "and ");
       std::fflush(stdout);
       Annotate();
       std::cout << "ended " << std::hex << 255 << std::dec << " " << 0.1 << "\n" << std::flush;
     }},
    {"stdio buffers",
     [] {
       static char buffer[64];
       std::setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
       for (int i = 0; i < 40; ++i) {
         Annotate();
         std::printf("line %d\n", i);
       }
     }},
    {"environment",
     [] {
       setenv("UNCHANGED", "yes", 1);
       Annotate();
       for (char** entry = environ; *entry != nullptr; ++entry)
         std::printf("%s\n", *entry);
     }},
    {"resource limits",
     [] {
       Annotate();
       for (int kind = 0; kind < 16; ++kind) {
         rlimit limit{};
         getrlimit(static_cast<__rlimit_resource>(kind), &limit);
         std::printf("%llu %llu\n", static_cast<unsigned long long>(limit.rlim_cur),
                     static_cast<unsigned long long>(limit.rlim_max));
       }
     }},
    {"umask",
     [] {
       umask(027);
       Annotate();
       std::printf("%o\n", umask(0));
     }},
    {"current folder",
     [] {
       Annotate();
       char path[4096];
       std::printf("%s\n", getcwd(path, sizeof(path)));
     }},
    {"signal mask",
     [] {
       sigset_t mask;
       sigemptyset(&mask);
       sigaddset(&mask, SIGUSR1);
       sigaddset(&mask, SIGTERM);
       pthread_sigmask(SIG_BLOCK, &mask, nullptr);
       raise(SIGUSR1);
       Annotate();
       PrintMask();
       std::thread(PrintMask).join();
     }},
    {"signal handlers",
     [] {
       Annotate();
       for (int number = 1; number < 65; ++number) {
         struct sigaction action = {};
         if (sigaction(number, nullptr, &action) == 0) {
           std::printf("%d %d %x\n", number, action.sa_handler == SIG_DFL, static_cast<unsigned>(action.sa_flags));
         }
       }
       stack_t stack{};
       sigaltstack(nullptr, &stack);
       std::printf("%x %zu\n", static_cast<unsigned>(stack.ss_flags), stack.ss_size);
     }},
    {"timers",
     [] {
       Annotate();
       for (const auto kind : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
         itimerval value;
         getitimer(kind, &value);
         std::printf("%ld %ld\n", static_cast<long>(value.it_value.tv_sec),
                     static_cast<long>(value.it_interval.tv_usec));
       }
       std::printf("%u\n", alarm(0));
     }},
    {"thread names",
     [] {
       char name[16] = {};
       Annotate();
       prctl(PR_GET_NAME, name);
       std::printf("%.9s\n", name);  // not what tells the two builds apart
       pthread_setname_np(pthread_self(), "renamed");
       Annotate();
       prctl(PR_GET_NAME, name);
       std::printf("%s %d %d\n", name, prctl(PR_GET_DUMPABLE), prctl(PR_GET_TIMERSLACK));
     }},
    {"scheduling",
     [] {
       Annotate();
       cpu_set_t processors;
       sched_getaffinity(0, sizeof(processors), &processors);
       std::printf("%d %d %d\n", sched_getscheduler(0), getpriority(PRIO_PROCESS, 0), CPU_COUNT(&processors));
     }},
    {"cancellation",
     [] {
       int before_state = 0, before_type = 0;
       pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
       Annotate();
       pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before_state);
       pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before_type);
       std::printf("%d %d\n", before_state, before_type);
     }},
    {"time zone",
     [] {
       setenv("TZ", "Asia/Kolkata", 1);
       tzset();
       Annotate();
       const time_t moment = 1700000000;
       tm parts{};
       localtime_r(&moment, &parts);
       std::printf("%d:%d %ld\n", parts.tm_hour, parts.tm_min, timezone);
     }},
    {"exceptions in flight",
     [] {
       struct Counts {
         ~Counts() {
           Annotate();
           std::printf("%d\n", std::uncaught_exceptions());
         }
       };
       try {
         OPSCOPE_SCOPE("throws");
         const Counts counts;
         throw std::runtime_error("thrown");
       } catch (const std::exception& caught) {
         std::printf("%s\n", caught.what());
       }
     }},
    {"children",
     [] {
       for (int i = 0; i < 10; ++i) {
         std::fflush(stdout);
         const pid_t child = fork();
         if (child == 0) {
           Annotate();
           _exit(i);
         }
         int status = 0;
         waitpid(child, &status, 0);
         std::printf("%d ", WEXITSTATUS(status));
       }
       std::printf("%d %d\n", waitpid(-1, nullptr, WNOHANG), errno == ECHILD);
     }},
    {"open files",
     [] {
       const int file = open("/dev/null", O_RDONLY);
       Annotate();
       char byte;
       const ssize_t got = read(file, &byte, 1);
       std::printf("%zd %d %d %d\n", got, fcntl(file, F_GETFD), fcntl(0, F_GETFL) & O_NONBLOCK, fcntl(1, F_GETFD));
     }},
    {"order of a hash table",
     [] {
       std::unordered_map<std::string, int> table;
       for (int i = 0; i < 200; ++i) {
         OPSCOPE_SCOPE("insert");
         table["key " + std::to_string(i * 7919)] = i;
       }
       for (const auto& [key, value] : table)
         std::printf("%d ", value);
       std::printf("\n");
     }},
    {"thread-local data",
     [] {
       thread_local int own = 5;
       Annotate();
       std::thread([] {
         Annotate();
         own += 1;
         std::printf("%d ", own);
       }).join();
       char text[] = "a,b,c";
       std::printf("%s ", std::strtok(text, ","));
       Annotate();
       std::printf("%s %d\n", std::strtok(nullptr, ","), own);
     }},
};
static_assert(std::size(kPrograms) == 30);

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 98;
  const auto number = static_cast<size_t>(std::atoi(argv[1]));
  if (number >= std::size(kPrograms)) return 97;
  StartRecording(argv[2]);
  std::printf("%s\n", kPrograms[number].name);
  kPrograms[number].run();
  return 0;
}
