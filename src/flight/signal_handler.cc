// One handler for all signals that users name. It may run anywhere, also inside malloc, so it uses atomics, futexes,
// sigaction and pthread_sigmask alone: it wakes the dumper thread and calls the previous handler. A signal whose
// default is to end the process still does: the dumper thread raises it again after the dump, and a second signal ends
// the process at once.
//
// The handler is removed only if it is still the installed one, and its library is pinned: code that installed a
// handler over it may call it for the rest of the process. So a later installation may be over a handler that calls
// this one:
//
//   first user:   OnSignal -> A                            previous: A
//   a library:    L -> OnSignal -> A                       the last user goes; L stays, and OnSignal below it
//   next user:    OnSignal -> L -> OnSignal -> A           previous: L, A; the outer call wakes the dumper thread
// SPDX-License-Identifier: Apache-2.0
#include "flight/signal_handler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "base/mutex.h"
#include "base/system_error.h"

namespace opscope {
namespace {

// What was installed before OnSignal. Constant, and never freed: a call may be reading it. Equal ones are one.
struct PreviousAction {
  struct sigaction action{};
  const PreviousAction* below = nullptr;  // what OnSignal calls where `action` calls it in turn
  PreviousAction* next = nullptr;         // all of the signal
};

struct Handler {
  int users = 0;                  // guarded by handlers.mutex
  PreviousAction* all = nullptr;  // likewise
  // Null: OnSignal is not installed, and no handler calls it.
  std::atomic<const PreviousAction*> previous{nullptr};
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

void WakeDumpers(int signal) {
  Handler& handler = handlers.of[signal];
  if (handler.is_fatal.load(std::memory_order_acquire) && handler.came.exchange(true, std::memory_order_acq_rel)) {
    Default(signal);
    kill(getpid(), signal);
  }
  for (WaitingFutex& futex : waiting_futexes) {
    if (futex.signal.load(std::memory_order_acquire) == signal) futex.Wake();
  }
}

// A call of OnSignal that this thread is in.
struct RunningCall {
  const void* frame = nullptr;  // null: none
  int16_t signal = 0;
  int16_t depth = 0;  // how many calls for the signal are around it
};
// initial-exec: another model may allocate at the first access, which a handler must not.
__thread RunningCall running_call __attribute__((tls_model("initial-exec"))) = {};

// As the kernel would call it: one with SA_NODEFER may raise the signal and expect its handler to run at once.
void CallAction(const struct sigaction& action, int signal, siginfo_t* info, void* context) {
  const bool is_plain = (action.sa_flags & SA_SIGINFO) == 0;
  if (is_plain && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)) return;
  sigset_t own, before;
  sigemptyset(&own);
  if ((action.sa_flags & SA_NODEFER) != 0) sigaddset(&own, signal);
  pthread_sigmask(SIG_UNBLOCK, &own, &before);
  if (is_plain) {
    action.sa_handler(signal);
  } else {
    action.sa_sigaction(signal, info, context);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Uses atomics, futex, sigaction and pthread_sigmask alone: it may interrupt anything, malloc included.
void OnSignal(int signal, siginfo_t* info, void* context) {
  const int kept = errno;
  const RunningCall around = running_call;
  RunningCall call = {__builtin_frame_address(0), static_cast<int16_t>(signal), 0};
  // The stack grows downwards. A handler that jumped out of its call has left a frame that no longer exists.
  if (around.signal == signal && around.frame > call.frame) call.depth = static_cast<int16_t>(around.depth + 1);
  running_call = call;
  if (call.depth == 0) WakeDumpers(signal);
  const PreviousAction* previous = handlers.of[signal].previous.load(std::memory_order_acquire);
  for (int i = 0; i < call.depth && previous != nullptr; ++i)
    previous = previous->below;
  if (previous != nullptr) CallAction(previous->action, signal, info, context);
  running_call = around;
  errno = kept;
}

bool IsOurs(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == OnSignal;
}

void RestoreHandler(int signal) {
  Handler& handler = handlers.of[signal];
  const PreviousAction* previous = handler.previous.load(std::memory_order_relaxed);
  struct sigaction now{};
  // Another handler may have replaced it, and call it.
  if (previous == nullptr || sigaction(signal, nullptr, &now) != 0 || !IsOurs(now)) return;
  sigaction(signal, &previous->action, nullptr);
  handler.previous.store(previous->below, std::memory_order_release);
}

bool IsSame(const struct sigaction& a, const struct sigaction& b) {
  if (a.sa_flags != b.sa_flags || std::memcmp(&a.sa_mask, &b.sa_mask, sizeof(a.sa_mask)) != 0) return false;
  return (a.sa_flags & SA_SIGINFO) != 0 ? a.sa_sigaction == b.sa_sigaction : a.sa_handler == b.sa_handler;
}

// `action` over what OnSignal would call now. Null: memory is short.
const PreviousAction* Over(const struct sigaction& action, Handler* handler) OPSCOPE_REQUIRES(handlers.mutex) {
  const PreviousAction* below = handler->previous.load(std::memory_order_relaxed);
  // A handler that is there already did not call this one, or it would still stand below it.
  for (const PreviousAction* each = below; each != nullptr; each = each->below)
    if (IsSame(each->action, action)) return each;
  for (PreviousAction* each = handler->all; each != nullptr; each = each->next)
    if (each->below == below && IsSame(each->action, action)) return each;
  auto* made = new (std::nothrow) PreviousAction{action, below, handler->all};
  if (made != nullptr) handler->all = made;
  return made;
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
  struct sigaction before{};
  if (sigaction(signal, nullptr, &before) != 0) {
    return SystemErrorFor(SignalName(signal), errno, ErrorCode::kUnsupported);
  }
  // A handler that was installed over it may have put it back: then what is below it is known.
  const bool is_installed = IsOurs(before);
  const PreviousAction* previous =
      is_installed ? handler.previous.load(std::memory_order_relaxed) : Over(before, &handler);
  if (previous == nullptr) return Error{ErrorCode::kOutOfMemory, SignalName(signal) + ": out of memory"};
  const struct sigaction& below = previous->action;
  handler.came.store(false, std::memory_order_relaxed);
  handler.is_fatal.store(IsPlain(below, SIG_DFL) && EndsByDefault(signal), std::memory_order_release);
  handler.previous.store(previous, std::memory_order_release);
  if (is_installed) return {};
  const bool handled = !IsPlain(below, SIG_DFL) && !IsPlain(below, SIG_IGN);
  struct sigaction action{};
  // The one before decides which calls are interrupted; without one, as few as can be.
  if (handled) action.sa_mask = below.sa_mask;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | (handled ? below.sa_flags & SA_RESTART : SA_RESTART);
  action.sa_sigaction = OnSignal;
  if (sigaction(signal, &action, nullptr) != 0) {
    return SystemErrorFor(SignalName(signal), errno, ErrorCode::kUnsupported);
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
      if (signal < 1 || signal >= NSIG || (signal >= 32 && signal < SIGRTMIN)) why = "is not a signal for programs";
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
  const MutexLock lock(handlers.mutex);
  struct sigaction now{};
  if (sigaction(signal, nullptr, &now) != 0) return;
  // The default is back already where the last user has left during the dump.
  const bool is_restored = handlers.of[signal].users == 0 && IsPlain(now, SIG_DFL);
  if (!IsOurs(now) && !is_restored) return;
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
