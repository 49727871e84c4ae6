// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/hooks/range_hooks.h"

#include <c10/util/Type.h>

#include <algorithm>
#include <utility>

#include "sources/streams/address_cache.h"

namespace opscope::drop_in {

constinit __thread ThreadView this_thread{};
constinit Globals globals{};

namespace {

constinit __thread bool thread_has_ended = false;

// What Demangle has said on this thread, by the address of the name.
struct KnownName {
  const char* name = nullptr;
  std::string mangled, text;
};
using KnownNames = AddressCache<KnownName, 8>;
constinit __thread KnownNames* known_names = nullptr;

// Made after torch's list, so it ends before.
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

void NoteThisThread() {
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

// The block of static TLS lies right below what the thread pointer points to; one that was made later lies in the heap.
bool ThreadViewIsFound() {
#if !defined(OPSCOPE_TLS_DESCRIPTORS)
  return true;  // by a call, which takes some nanoseconds and needs no room
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
  if (this_thread.list == nullptr) NoteThisThread();
  const size_t changes = globals.changes->load(std::memory_order_relaxed);
  if (changes != globals.quiet.load(std::memory_order_relaxed) &&
      changes != globals.noisy.load(std::memory_order_relaxed)) {
    (at::hasGlobalCallbacks() ? globals.noisy : globals.quiet).store(changes, std::memory_order_relaxed);
  }
  return at::getStepCallbacksUnlessEmpty(scope);
}

// Torch would copy the list and make the lists of its ten scopes anew, 130 instructions each, 170 with a callback.
// Numbers are never reused, so equal numbers are equal callbacks. What a sampled callback has left to wait for would be
// drawn again, from a distribution without memory.
void SetList(const at::RecordFunctionTLS& list) {
  if (this_thread.list == nullptr) NoteThisThread();
  const at::RecordFunctionTLS* mine = this_thread.list;
  const bool is_same = mine != nullptr && mine->tls_record_function_enabled_ == list.tls_record_function_enabled_ &&
                       HaveSameCallbacks(*mine, list);
  if (!is_same) at::set_record_function_tls_(list);
}

std::string Demangle(const char* name) {
  if (name == nullptr || thread_has_ended) return c10::demangle(name);
  if (OPSCOPE_UNLIKELY(known_names == nullptr)) {
    NoteThisThread();  // whose end will free them
    known_names = new KnownNames;
  }
  KnownName& place = known_names->EntryOf(name);
  // The text too: a library may have been unloaded and another one lie there.
  if (place.name != name || place.mangled != name) place = {name, name, c10::demangle(name)};
  return place.text;
}

}  // namespace opscope::drop_in
