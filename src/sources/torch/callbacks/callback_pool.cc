// The states of an instance, and which thread has to remove its callback from torch's list.
//
//   free -> claimed -> armed -> claimed -> free      stopped on its own thread, or a global callback
//                                      \-> stopped -> free      stopped on another thread
//
// Thread A starts a window and thread B stops it: B cannot reach A's list of callbacks. The instance becomes "stopped",
// and A frees it at its next start, or when A ends (OwnerMark). Until then torch goes on calling the start function on
// A, which finds kDisarmed and returns.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/callbacks/callback_pool.h"

#include <ATen/record_function.h>
#include <pthread.h>

#include <algorithm>
#include <vector>

#include "base/mutex.h"
#include "opscope/torch_source.h"
#include "sources/streams/failures.h"

namespace opscope {

constinit CallbackBinding callback_bindings[kCallbackInstances + 1];

namespace {

enum class Use : uint32_t {
  kFree = 0,
  kClaimed,  // one thread is moving it between two of the other states
  kArmed,
  kStopped,    // unbound; the thread that registered it has yet to remove the callback
  kInherited,  // in the child of a fork: torch still has it as a global callback, so it is never reused
};

// No thread has to remove the callback: it is global, was removed already, or its thread has ended.
constexpr uint64_t kOwnerGone = 0;

struct Instance {
  std::atomic<Use> use{Use::kFree};
  std::atomic<uint32_t> uses{0};  // number of claims; part of the session number, so no session number repeats
  std::atomic<uint64_t> owner{kOwnerGone};
  std::atomic<bool> global{false};
  std::atomic<at::CallbackHandle> handle{at::INVALID_CALLBACK_HANDLE};
};

constinit Instance instances[kCallbackInstances];
constinit std::atomic<uint32_t> next_instance{0};
constinit std::atomic<uint64_t> last_owner{kOwnerGone};

constinit Mutex registration;

at::CallbackHandle Register(const at::RecordFunctionCallback& callback, bool global) {
  const MutexLock lock(registration);
  return global ? at::addGlobalCallback(callback) : at::addThreadLocalCallback(callback);
}

void Unregister(at::CallbackHandle handle) {
  const MutexLock lock(registration);
  at::removeCallback(handle);
}

void FreeIfStopped(Instance* instance) {
  Use stopped = Use::kStopped;
  instance->use.compare_exchange_strong(stopped, Use::kFree);
}

// Each thread that has claimed an instance has one. Its destructor runs when the thread ends, and with it torch's list
// of the thread's callbacks.
struct OwnerMark {
  uint64_t number = ++last_owner;

  OwnerMark() = default;
  OwnerMark(const OwnerMark&) = delete;
  OwnerMark& operator=(const OwnerMark&) = delete;
  ~OwnerMark() {
    for (Instance& instance : instances) {
      uint64_t mine = number;
      // ReleaseCallback stores kStopped, then loads the owner; here the owner is stored first, then the state is
      // loaded. So at least one of the two sees both stores, and frees the instance.
      if (instance.owner.compare_exchange_strong(mine, kOwnerGone)) FreeIfStopped(&instance);
    }
  }
};

uint64_t ThisOwner() {
  thread_local OwnerMark mark;
  return mark.number;
}

bool ThisThreadHolds(at::CallbackHandle handle) {
  const auto& entries = at::get_record_function_tls_().sorted_tls_callbacks_;
  for (const auto& entry : entries) {  // nearly always one entry; std::any_of unrolls for many
    if (entry.handle_ == handle) return true;
  }
  return false;
}

// Removes callbacks of unbound instances from this thread's list.
void RemoveDisarmed() {
  std::vector<at::CallbackHandle> stale;
  for (const auto& entry : at::get_record_function_tls_().sorted_tls_callbacks_) {
    const int index = InstanceOf(entry.callback_.start());
    if (index >= 0 && callback_bindings[index].generation.load() == kDisarmed) stale.push_back(entry.handle_);
  }
  for (const at::CallbackHandle handle : stale)
    Unregister(handle);
}

// Frees the instances that wait for this thread. Another thread may have stopped them, or torch may have restored a
// callback here after its stop (from a ThreadLocalState that it captured before).
void SweepThisThread(uint64_t owner) {
  RemoveDisarmed();
  for (Instance& instance : instances) {
    if (instance.owner.load() == owner) FreeIfStopped(&instance);
  }
}

Instance* ClaimInstance() {
  for (uint32_t tried = 0; tried < kCallbackInstances; ++tried) {
    Instance* instance = &instances[next_instance.fetch_add(1) % kCallbackInstances];
    Use use = Use::kFree;
    if (instance->use.compare_exchange_strong(use, Use::kClaimed)) return instance;
  }
  return nullptr;
}

// The child of a fork records nothing for its parent. Its one thread still has the parent's callbacks in its list; they
// are removed, so that an operator costs there what it costs without a profiler. Global callbacks are unbound but stay
// registered: removing one takes a lock of torch's that another thread of the parent may have held.
void ResetInForkedChild() OPSCOPE_UNCHECKED_LOCKS {
  registration.unlock();
  for (uint32_t i = 0; i < kCallbackInstances; ++i) {
    callback_bindings[i].Unbind();
    if (instances[i].use.load() == Use::kFree) continue;
    instances[i].owner.store(kOwnerGone);
    instances[i].use.store(instances[i].global.load() ? Use::kInherited : Use::kFree);
  }
  try {
    RemoveDisarmed();
  } catch (...) {
    CountFailure();
  }
}

__attribute__((constructor)) void Load() {
  pthread_atfork([]() OPSCOPE_UNCHECKED_LOCKS { registration.lock(); },
                 []() OPSCOPE_UNCHECKED_LOCKS { registration.unlock(); }, &ResetInForkedChild);
}

uint64_t SessionOf(const Instance* instance) {
  return uint64_t{instance->uses.load()} << 8 | (static_cast<uint64_t>(instance - instances) + 1);
}

}  // namespace

Mutex& RegistrationLock() {
  return registration;
}

void BindInstance(uint32_t instance, uint32_t window_slot, uint64_t window_generation, uint32_t flags) {
  CallbackBinding& binding = callback_bindings[instance];
  binding.flags.store(flags);
  binding.start.store(StartFor(flags));
  binding.Bind(window_slot, window_generation);
}

int InstanceOf(at::RecordFunctionCallback::StartCallback start) {
  const auto* found = std::find(start_functions.begin(), start_functions.end(), start);
  return found != start_functions.end() ? static_cast<int>(found - start_functions.begin()) : -1;
}

bool SeesThisThread(uint32_t instance) {
  const Instance& asked = instances[instance];
  return asked.global.load(std::memory_order_relaxed) || ThisThreadHolds(asked.handle.load(std::memory_order_relaxed));
}

bool InstanceSet::SeesThisThread() const {
  bool sees = false;
  ForEach([&sees](uint32_t instance) { sees = sees || opscope::SeesThisThread(instance); });
  return sees;
}

uint64_t ClaimCallback(uint32_t window_slot, uint64_t window_generation, uint32_t flags) {
  const uint64_t owner = ThisOwner();
  SweepThisThread(owner);
  Instance* instance = ClaimInstance();
  if (instance == nullptr) return 0;
  const bool global = (flags & torch_source_flags::kAllThreads) != 0;
  instance->uses.fetch_add(1);
  instance->global.store(global);
  instance->owner.store(global ? kOwnerGone : owner);
  BindInstance(static_cast<uint32_t>(instance - instances), window_slot, window_generation, flags);
  return SessionOf(instance);
}

const char* RegisterCallback(uint32_t index, uint32_t flags) {
  Instance& instance = instances[index];
  at::RecordFunctionCallback callback(start_functions[index], &EndRange);
  callback.needsInputs((flags & torch_source_flags::kInputs) != 0);
  instance.handle.store(Register(callback, instance.global.load()));
  instance.use.store(Use::kArmed);
  return nullptr;
}

// A pause leaves the callback registered: only its own thread could register it again, and torch's tasks have copies of
// it. A paused callback costs torch's call and one comparison.
void PauseCallback(uint64_t session, bool paused) {
  const uint32_t index = InstanceOfSession(session);
  if (index >= kCallbackInstances) return;
  const Instance& instance = instances[index];
  if (SessionOf(&instance) != session || instance.use.load() != Use::kArmed) return;
  callback_bindings[index].Pause(paused);
}

bool BeginRelease(uint64_t session) {
  const uint32_t index = InstanceOfSession(session);
  if (index >= kCallbackInstances) return false;
  Instance* instance = &instances[index];
  Use armed = Use::kArmed;
  return SessionOf(instance) == session && instance->use.compare_exchange_strong(armed, Use::kClaimed);
}

void UnregisterCallback(uint32_t index) {
  callback_bindings[index].Unbind();
  Instance& instance = instances[index];
  const at::CallbackHandle handle = instance.handle.exchange(at::INVALID_CALLBACK_HANDLE);
  // Looked up first: torch logs a warning when it shall remove a callback that is not there.
  const bool is_here = instance.global.load() || ThisThreadHolds(handle);
  if (is_here && handle != at::INVALID_CALLBACK_HANDLE) Unregister(handle);
  if (is_here || instance.owner.load() == ThisOwner()) instance.owner.store(kOwnerGone);
}

void ReleaseCallback(uint32_t index) {
  Instance& instance = instances[index];
  instance.use.store(Use::kStopped);
  if (instance.owner.load() == kOwnerGone) FreeIfStopped(&instance);
}

}  // namespace opscope
