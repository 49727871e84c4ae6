// One handler for all signals that users name. It may run anywhere, also inside malloc, so it uses atomics,
// futexes and sigaction alone: it wakes the dumper thread and calls the previous handler. A signal whose
// default is to end the process still does: the dumper thread raises it again after the dump, and a second
// signal ends the process at once.
//
// The handler is removed only if it is still the installed one, and its library is pinned: code that
// installed a handler over it may call it for the rest of the process.
// SPDX-License-Identifier: Apache-2.0
#include "flight/signal_handler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/mutex.h"

namespace opscope {
namespace {

struct Handler {
  int users = 0;              // guarded by handlers.mutex
  struct sigaction before{};  // constant while the handler is installed
  std::atomic<bool> is_fatal{false};
  std::atomic<bool> came{false};  // a signal that ends the job, which waits for its dump
};

struct Handlers {
  Mutex mutex;
  bool prepared OPSCOPE_GUARDED_BY(mutex) = false;
  Handler of[NSIG];
};
constinit Handlers handlers;

bool IsPlain(const struct sigaction& action, void (*handler)(int)) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == handler;
}

// True if the default action of the signal ends the process.
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
      return false;  // meant for such uses; a user who names one expects the job to go on
    default:
      return signal < SIGRTMIN;
  }
}

void Default(int signal) {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
}

// Uses atomics, futex and sigaction alone: it may interrupt anything, malloc included.
void OnSignal(int signal, siginfo_t* info, void* context) {
  const int kept = errno;
  Handler& handler = handlers.of[signal];
  if (handler.is_fatal.load(std::memory_order_acquire) && handler.came.exchange(true, std::memory_order_acq_rel)) {
    Default(signal);
    kill(getpid(), signal);
  }
  for (WaitingFutex& futex : waiting_futexes) {
    if (futex.signal.load(std::memory_order_acquire) == signal) futex.Wake();
  }
  const struct sigaction& before = handler.before;
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

void RestoreHandler(int signal) {
  struct sigaction now{};
  if (sigaction(signal, nullptr, &now) != 0 || !IsOurs(now)) return;  // another handler replaced it
  sigaction(signal, &handlers.of[signal].before, nullptr);
}

// The child has no dumper thread.
void AfterForkInChild() OPSCOPE_UNCHECKED_LOCKS {
  for (int signal = 1; signal < NSIG; ++signal) {
    if (handlers.of[signal].users != 0) RestoreHandler(signal);
    handlers.of[signal].users = 0;
  }
  for (WaitingFutex& futex : waiting_futexes)
    futex.signal.store(0, std::memory_order_relaxed);
  handlers.mutex.unlock();
}

// A handler installed over this one goes on calling it, so this library must stay loaded.
void PinLibrary() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&OnSignal), &self) == 0 || self.dli_fname == nullptr) return;
  [[maybe_unused]] void* const pinned = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

Status Install(int signal) OPSCOPE_REQUIRES(handlers.mutex) {
  Handler& handler = handlers.of[signal];
  if (sigaction(signal, nullptr, &handler.before) != 0) {
    return Error{ErrorCode::kUnsupported, SignalName(signal) + ": " + std::generic_category().message(errno), errno};
  }
  if (IsOurs(handler.before)) return {};  // cannot be: there is no user
  const bool handled = !IsPlain(handler.before, SIG_DFL) && !IsPlain(handler.before, SIG_IGN);
  handler.came.store(false, std::memory_order_relaxed);
  handler.is_fatal.store(IsPlain(handler.before, SIG_DFL) && EndsByDefault(signal), std::memory_order_release);
  struct sigaction action{};
  // The one before decides which calls are interrupted; without one, as few as can be.
  if (handled) action.sa_mask = handler.before.sa_mask;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | (handled ? handler.before.sa_flags & SA_RESTART : SA_RESTART);
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

Status InstallSignalHandler(int signal, WaitingFutex* futex) {
  OPSCOPE_TRY(CheckSignal(signal));
  MutexLock lock(handlers.mutex);
  if (!handlers.prepared) {
    PinLibrary();
    pthread_atfork([]() OPSCOPE_UNCHECKED_LOCKS { handlers.mutex.lock(); },
                   []() OPSCOPE_UNCHECKED_LOCKS { handlers.mutex.unlock(); }, AfterForkInChild);
    handlers.prepared = true;
  }
  futex->signal.store(signal, std::memory_order_release);
  if (handlers.of[signal].users == 0) {
    if (Status status = Install(signal); !status.ok()) {
      futex->signal.store(0, std::memory_order_release);
      return status;
    }
  }
  ++handlers.of[signal].users;
  return {};
}

void RemoveSignalHandler(int signal, WaitingFutex* futex) {
  MutexLock lock(handlers.mutex);
  if (futex->signal.exchange(0, std::memory_order_acq_rel) != signal) return;
  if (--handlers.of[signal].users == 0) RestoreHandler(signal);
}

void RunDefaultAction(int signal) {
  if (!handlers.of[signal].is_fatal.load(std::memory_order_acquire)) return;
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
