// SPDX-License-Identifier: Apache-2.0
#include "profiler/signal_door.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <system_error>

namespace opscope {
namespace {

struct Door {
  int users = 0;              // doors.mutex
  struct sigaction before{};  // constant while the handler is installed
  std::atomic<bool> ends_the_job{false};
  std::atomic<bool> came{false};  // a signal that ends the job, which waits for its dump
};

struct Doors {
  std::mutex mutex;
  bool prepared = false;
  Door door[NSIG];
};
constinit Doors doors;

bool IsPlain(const struct sigaction& action, void (*handler)(int)) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == handler;
}

// What a signal does that nobody handles.
bool EndsByDefault(int signal) {
  switch (signal) {
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
      return false;
    case SIGUSR1:
    case SIGUSR2:
      return false;  // made for such uses: whoever names one does not want to end by it
    default:
      return signal < SIGRTMIN;
  }
}

void Default(int signal) {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
}

// Nothing but atomics, futex and sigaction: it may come anywhere, also inside malloc.
void OnSignal(int signal, siginfo_t* info, void* context) {
  const int kept = errno;
  Door& door = doors.door[signal];
  if (door.ends_the_job.load(std::memory_order_acquire) && door.came.exchange(true, std::memory_order_acq_rel)) {
    Default(signal);
    kill(getpid(), signal);
  }
  for (WakeWord& word : wake_words) {
    if (word.signal.load(std::memory_order_acquire) == signal) word.Wake();
  }
  const struct sigaction& before = door.before;
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  }
  errno = kept;
}

bool IsOurs(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == OnSignal;
}

void TakeBack(int signal) {
  struct sigaction now{};
  if (sigaction(signal, nullptr, &now) != 0 || !IsOurs(now)) return;  // somebody else's by now
  sigaction(signal, &doors.door[signal].before, nullptr);
}

// The child has nobody who would dump it.
void AfterForkInChild() {
  for (int signal = 1; signal < NSIG; ++signal) {
    if (doors.door[signal].users != 0) TakeBack(signal);
    doors.door[signal].users = 0;
  }
  for (WakeWord& word : wake_words)
    word.signal.store(0, std::memory_order_relaxed);
  doors.mutex.unlock();
}

// Whoever put a handler over ours goes on calling it: the code must stay, whatever library it is in.
void PinThisCode() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&OnSignal), &self) == 0 || self.dli_fname == nullptr) return;
  [[maybe_unused]] void* const pinned = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

// REQUIRES: doors.mutex is held.
Status Install(int signal) {
  Door& door = doors.door[signal];
  if (sigaction(signal, nullptr, &door.before) != 0) {
    return Error{ErrorCode::kUnsupported, SignalName(signal) + ": " + std::generic_category().message(errno), errno};
  }
  if (IsOurs(door.before)) return {};  // cannot be: there is no user
  const bool handled = !IsPlain(door.before, SIG_DFL) && !IsPlain(door.before, SIG_IGN);
  door.came.store(false, std::memory_order_relaxed);
  door.ends_the_job.store(IsPlain(door.before, SIG_DFL) && EndsByDefault(signal), std::memory_order_release);
  struct sigaction action{};
  // The one before decides which calls are interrupted; without one, as few as can be.
  if (handled) action.sa_mask = door.before.sa_mask;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | (handled ? door.before.sa_flags & SA_RESTART : SA_RESTART);
  action.sa_sigaction = OnSignal;
  if (sigaction(signal, &action, nullptr) != 0) {
    return Error{ErrorCode::kUnsupported, SignalName(signal) + ": " + std::generic_category().message(errno), errno};
  }
  return {};
}

}  // namespace

Status CheckSignal(int signal) {
  const char* why = nullptr;
  switch (signal) {
    case SIGKILL:
    case SIGSTOP:
      why = "cannot be handled";
      break;
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGSYS:
    case SIGABRT:
      why = "stands for a fault of the program, which does not go on";
      break;
    default:
      if (signal < 1 || signal >= NSIG || (signal >= 32 && signal < SIGRTMIN)) why = "is no signal for programs";
  }
  if (why == nullptr) return {};
  return Error{ErrorCode::kInvalidArgument, "flight recorder: " + SignalName(signal) + " " + why};
}

Status OpenSignalDoor(int signal, WakeWord* word) {
  OPSCOPE_TRY(CheckSignal(signal));
  std::lock_guard<std::mutex> lock(doors.mutex);
  if (!doors.prepared) {
    PinThisCode();
    pthread_atfork([] { doors.mutex.lock(); }, [] { doors.mutex.unlock(); }, AfterForkInChild);
    doors.prepared = true;
  }
  word->signal.store(signal, std::memory_order_release);
  if (doors.door[signal].users == 0) {
    if (Status status = Install(signal); !status.ok()) {
      word->signal.store(0, std::memory_order_release);
      return status;
    }
  }
  ++doors.door[signal].users;
  return {};
}

void CloseSignalDoor(int signal, WakeWord* word) {
  std::lock_guard<std::mutex> lock(doors.mutex);
  if (word->signal.exchange(0, std::memory_order_acq_rel) != signal) return;
  if (--doors.door[signal].users == 0) TakeBack(signal);
}

void EndAsWithoutDoor(int signal) {
  if (!doors.door[signal].ends_the_job.load(std::memory_order_acquire)) return;
  struct sigaction now{};
  if (sigaction(signal, nullptr, &now) != 0 || !IsOurs(now)) return;
  Default(signal);
  kill(getpid(), signal);
}

std::string SignalName(int signal) {
  static constexpr struct {
    int number;
    const char* name;
  } kNames[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
                {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
                {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
                {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGCHLD, "SIGCHLD"},
                {SIGCONT, "SIGCONT"}, {SIGSTOP, "SIGSTOP"}, {SIGTSTP, "SIGTSTP"}, {SIGURG, "SIGURG"},
                {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGPROF, "SIGPROF"}, {SIGWINCH, "SIGWINCH"},
                {SIGIO, "SIGIO"},     {SIGSYS, "SIGSYS"}};
  for (const auto& known : kNames) {
    if (known.number == signal) return known.name;
  }
  return "signal " + std::to_string(signal);
}

}  // namespace opscope
