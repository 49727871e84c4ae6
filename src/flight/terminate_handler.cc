// std::set_terminate with a list of listeners. The handler runs on the throwing thread before the stack
// unwinds, so a dump shows the scopes in which the exception was thrown. It then calls the previous
// handler. The lock is only tried: if another thread terminates at the same moment, its dump is under way.
// The library stays loaded, because a handler installed over this one goes on calling it; when this one is installed
// over such a handler, its inner call goes to the handler that was there at first.
// SPDX-License-Identifier: Apache-2.0
#include "flight/terminate_handler.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <typeinfo>
#include <utility>

#include "base/mutex.h"

namespace opscope {
namespace {

constexpr int kMaxListeners = 16;

struct Terminate {
  Mutex mutex;
  TerminateListener* listeners[kMaxListeners] OPSCOPE_GUARDED_BY(mutex) = {};
  int count OPSCOPE_GUARDED_BY(mutex) = 0;
  bool prepared OPSCOPE_GUARDED_BY(mutex) = false;
  std::terminate_handler before = nullptr;
  std::terminate_handler first = nullptr;  // as `before`, but none that calls this one
  bool is_called_by_another OPSCOPE_GUARDED_BY(mutex) = false;
};
constinit Terminate state;
constinit thread_local bool is_terminating = false;

std::string TypeOfException() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) return {};
  int failed = 0;
  char* readable = abi::__cxa_demangle(type->name(), nullptr, nullptr, &failed);
  std::string name = failed == 0 && readable != nullptr ? readable : type->name();
  std::free(readable);
  return name;
}

void NotifyListeners() {
  // Held: another thread is notifying, or a listener's own failure terminates the program.
  if (!state.mutex.try_lock()) return;
  const MutexLock lock(state.mutex, std::adopt_lock);
  const std::string type = TypeOfException();
  for (TerminateListener* listener : state.listeners) {
    if (listener != nullptr) listener->OnUncaughtException(type);
  }
}

[[noreturn]] void OnTerminate() {
  const bool is_inner = std::exchange(is_terminating, true);
  const std::terminate_handler before = is_inner ? state.first : state.before;
  try {
    if (!is_inner) NotifyListeners();
  } catch (const std::bad_alloc&) {  // then without a dump
  }
  if (before != nullptr) before();
  std::abort();
}

void Prepare() OPSCOPE_REQUIRES(state.mutex) {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&OnTerminate), &self) != 0 && self.dli_fname != nullptr) {
    // A handler installed over this one goes on calling it.
    [[maybe_unused]] void* const pinned = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  }
  const auto unlock = []() OPSCOPE_UNCHECKED_LOCKS { state.mutex.unlock(); };
  pthread_atfork([]() OPSCOPE_UNCHECKED_LOCKS { state.mutex.lock(); }, unlock, unlock);
  state.prepared = true;
}

}  // namespace

bool ListenForTerminate(TerminateListener* listener) {
  MutexLock lock(state.mutex);
  if (!state.prepared) Prepare();
  for (TerminateListener*& place : state.listeners) {
    if (place != nullptr) continue;
    place = listener;
    if (state.count++ == 0 && std::get_terminate() != OnTerminate) {
      state.before = std::set_terminate(OnTerminate);
      if (!state.is_called_by_another) state.first = state.before;
    }
    return true;
  }
  return false;
}

void StopListening(TerminateListener* listener) {
  MutexLock lock(state.mutex);
  for (TerminateListener*& place : state.listeners) {
    if (place != listener) continue;
    place = nullptr;
    if (--state.count != 0) return;
    if (std::get_terminate() == OnTerminate) {
      std::set_terminate(state.before);
    } else {
      state.is_called_by_another = true;
    }
    return;
  }
}

}  // namespace opscope
