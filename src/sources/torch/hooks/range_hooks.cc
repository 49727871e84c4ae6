// The slow paths of the hooks, and the two hooks that need no sink.
//
// The fast path of Ask reads two variables of torch: the thread's list of callbacks, whose address ThreadView caches,
// and the version of the global callbacks (callback_version.h). A version at which there were no global callbacks is
// "quiet": while the version is the same, the thread's list contains all callbacks that watch the thread. The cached
// address must not outlive the list, which torch destroys at the thread's end; EndOfThread is constructed after the
// list and so destroyed before it.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/hooks/range_hooks.h"

#include <c10/util/Type.h>

#include <algorithm>
#include <utility>

#include "sources/streams/address_cache.h"

namespace opscope::range_hooks {

constinit __thread ThreadView this_thread{};
constinit Globals globals{};

namespace {

constinit __thread bool thread_has_ended = false;

// Results of Demangle on this thread, by the address of the mangled name.
struct KnownName {
  const char* name = nullptr;
  std::string mangled, text;
};
using KnownNames = AddressCache<KnownName, 8>;
constinit __thread KnownNames* known_names = nullptr;

struct EndOfThread {
  bool is_armed = true;
  EndOfThread() = default;
  EndOfThread(const EndOfThread&) = delete;
  EndOfThread& operator=(const EndOfThread&) = delete;
  ~EndOfThread() {
    this_thread.list = nullptr;
    thread_has_ended = true;
    delete std::exchange(known_names, nullptr);
  }
};

void CacheThisThread() {
  if (thread_has_ended) return;
  const at::RecordFunctionTLS& list = at::get_record_function_tls_();
  this_thread.number = at::RecordFunction::currentThreadId();
  thread_local EndOfThread end;
  if (end.is_armed) this_thread.list = &list;
}

bool HaveSameCallbacks(const at::RecordFunctionTLS& a, const at::RecordFunctionTLS& b) {
  const auto &of_a = a.sorted_tls_callbacks_, &of_b = b.sorted_tls_callbacks_;
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), [](const auto& one, const auto& other) {
    return one.handle_ == other.handle_ && one.enabled_ == other.enabled_;
  });
}

}  // namespace

// Static TLS lies directly below the thread pointer; a TLS block that was allocated later lies in the heap.
bool ThreadViewIsStatic() {
#if !defined(OPSCOPE_TLS_DESCRIPTORS)
  return true;  // without descriptors a call to __tls_get_addr finds the variable, in a few nanoseconds
#elif defined(__x86_64__)
  uintptr_t thread;
  __asm__("mov %%fs:0, %0" : "=r"(thread));
  constexpr uintptr_t kNear = uintptr_t{1} << 20;
  return thread - reinterpret_cast<uintptr_t>(&this_thread) < kNear;
#else
  return false;
#endif
}

__attribute__((noinline)) std::optional<at::StepCallbacks> AskTorch(at::RecordScope scope) {
  if (this_thread.list == nullptr) CacheThisThread();
  const size_t version = globals.version->load(std::memory_order_relaxed);
  if (version != globals.quiet.load(std::memory_order_relaxed) &&
      version != globals.noisy.load(std::memory_order_relaxed)) {
    (at::hasGlobalCallbacks() ? globals.noisy : globals.quiet).store(version, std::memory_order_relaxed);
  }
  return at::getStepCallbacksUnlessEmpty(scope);
}

// Torch would copy the list and rebuild its lists for ten scopes, 130 instructions each, 170 with a callback. Handles
// are never reused, so equal handles mean equal callbacks. Torch would also draw a new random interval for each sampled
// callback; that distribution is memoryless, so keeping the old draw changes nothing.
void SetList(const at::RecordFunctionTLS& list) {
  if (this_thread.list == nullptr) CacheThisThread();
  const at::RecordFunctionTLS* mine = this_thread.list;
  const bool is_same = mine != nullptr && mine->tls_record_function_enabled_ == list.tls_record_function_enabled_ &&
                       HaveSameCallbacks(*mine, list);
  if (!is_same) at::set_record_function_tls_(list);
}

std::string Demangle(const char* name) {
  if (name == nullptr || thread_has_ended) return c10::demangle(name);
  if (OPSCOPE_UNLIKELY(known_names == nullptr)) {
    CacheThisThread();  // registers EndOfThread, which frees the cache
    known_names = new KnownNames;
  }
  KnownName& known = known_names->EntryOf(name);
  // Compare the text too: a library may have been unloaded and another one loaded at its address.
  if (known.name != name || known.mangled != name) known = {name, name, c10::demangle(name)};
  return known.text;
}

}  // namespace opscope::range_hooks
