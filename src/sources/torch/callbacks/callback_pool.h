// The pool of callbacks that the source registers with torch. A torch callback is a plain function pointer without
// user data, so the function itself has to say which window a call belongs to. The pool has 64 instances of the start
// function, and each is bound to one window at a time.
//
// Late calls
//   Only the thread that registered a thread-local callback can remove it, and torch copies a thread's list of
//   callbacks into futures, jit::fork and autograd tasks (ThreadLocalState). So torch may call a start function long
//   after its window closed, on any thread. Three rules make such a call harmless:
//   1. An instance holds the generation of its window, and generations are never reused. An unbound instance holds
//      kDisarmed, which is the generation of no window and no stream.
//   2. An instance that another thread stopped stays in use until its own thread has removed the callback (at its next
//      start) or has ended.
//   3. Free instances are handed out round-robin. A late copy meets a new window only after 64 more windows were
//      opened while it waited.
// All state is atomic and constant-initialised, and nothing is destroyed while torch can still call. The child of a
// fork starts with an empty pool: it unbinds every instance and removes the parent's callbacks from its thread.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/record_function.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include "base/mutex.h"
#include "sources/streams/window_binding.h"

namespace opscope {

inline constexpr uint32_t kCallbackInstances = 64;
// One more instance, which is never registered with torch: overhead.cc calls it directly.
inline constexpr uint32_t kCalibrationInstance = kCallbackInstances;

// The common part of the start functions for one kind of window; StartFor chooses it by the flags.
struct CallbackBinding;
using StartOfWindow = std::unique_ptr<at::ObserverContext> (*)(const at::RecordFunction& range,
                                                               const CallbackBinding& binding);

// The data that a start function reads, in one cache line.
struct alignas(64) CallbackBinding : WindowBinding {
  std::atomic<StartOfWindow> start{nullptr};  // StartFor(flags)
  std::atomic<uint32_t> flags{0};             // torch_source_flags of the window
};

extern CallbackBinding callback_bindings[kCallbackInstances + 1];

// Defined in range_callbacks.cc: one start function per instance, which calls its binding's `start`. One function per
// instance and kind of window would be 520 functions, which add a second to the adapter's compilation.
StartOfWindow StartFor(uint32_t flags);  // torch_source_flags
extern const std::array<at::RecordFunctionCallback::StartCallback, kCallbackInstances + 1> start_functions;
void EndRange(const at::RecordFunction& range, at::ObserverContext* context);
// Replaces a context made by a start function by one that ends the range when torch deletes it, for a range whose
// EndRange torch will not call.
void EndWhenDeleted(at::ObserverContext* context);

// Hold this lock while registering or removing a callback. A fork waits for it. Torch takes its own lock for these
// changes; if another thread forked meanwhile, torch's lock would stay locked in the child, which removes callbacks
// too.
Mutex& RegistrationLock();

// From now on the instance's start function records into this window.
void BindInstance(uint32_t instance, uint32_t window_slot, uint64_t window_generation, uint32_t flags);
// The number of the instance with this start function; -1: the pool has no such function.
int InstanceOf(at::RecordFunctionCallback::StartCallback start);

// Life cycle of an instance: ClaimCallback, RegisterCallback, UnregisterCallback, ReleaseCallback. The two in the
// middle are the start and the stop of a part of the source (TorchPart in torch_source.cc).

// Takes a free instance and binds it to the window. Returns a session, or 0 when every instance is taken.
uint64_t ClaimCallback(uint32_t window_slot, uint64_t window_generation, uint32_t flags);
// Returns null. Throws what torch throws.
const char* RegisterCallback(uint32_t instance, uint32_t flags);
// Unbinds the instance, and removes its callback from torch if this thread may do that.
void UnregisterCallback(uint32_t instance);
// False: the session has been stopped already, or belongs to the parent of a fork. Returns true to one caller only,
// which then stops the parts and calls ReleaseCallback.
bool BeginRelease(uint64_t session);
// REQUIRES: the instance is unregistered.
void ReleaseCallback(uint32_t instance);
// Pauses or resumes the recording of ranges that begin. One caller at a time per session.
void PauseCallback(uint64_t session, bool paused);

// The instance of a session from ClaimCallback.
inline uint32_t InstanceOfSession(uint64_t session) {
  return static_cast<uint32_t>(session & 0xff) - 1;
}
// Whether torch would call the armed instance for an operator of the calling thread.
bool SeesThisThread(uint32_t instance);

// A set of instances, such as those whose windows record memory.
class InstanceSet {
 public:
  void Add(uint32_t instance) { bits_.fetch_or(BitOf(instance)); }
  // True: it was the only one.
  bool Remove(uint32_t instance) { return bits_.fetch_and(~BitOf(instance)) == BitOf(instance); }
  void Clear() { bits_.store(0); }
  bool empty() const { return bits_.load(std::memory_order_relaxed) == 0; }
  // Calls visit(instance) for each.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (uint64_t left = bits_.load(std::memory_order_relaxed); left != 0; left &= left - 1)
      visit(static_cast<uint32_t>(std::countr_zero(left)));
  }
  // Whether SeesThisThread is true for any of them.
  bool SeesThisThread() const;

 private:
  static constexpr uint64_t BitOf(uint32_t instance) { return uint64_t{1} << instance; }

  std::atomic<uint64_t> bits_{0};
};
static_assert(kCallbackInstances <= 64);

}  // namespace opscope
