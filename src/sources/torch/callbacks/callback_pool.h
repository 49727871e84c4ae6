// The pool of callbacks that the source registers with torch. A torch callback is a plain function pointer without
// user data, so the function itself has to say which window a call belongs to. The pool has 64 instances of the start
// function, and each is bound to one window at a time.
//
// Late calls
//   Only the thread that registered a thread-local callback can remove it, and torch copies a thread's list of
//   callbacks into futures, jit::fork and autograd tasks (ThreadLocalState). So torch may call a start function long
//   after its window closed, on any thread. Three rules make such a call harmless:
//   1. An instance holds the generation of its window, and generations are never reused. An unbound instance holds
//      kDisarmed, which no window and no stream has.
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
#include <cstdint>
#include <memory>

#include "base/mutex.h"
#include "sources/streams/window_binding.h"

namespace opscope {

inline constexpr uint32_t kCallbackInstances = 64;
// One more instance, which is never registered with torch: overhead.cc calls it directly.
inline constexpr uint32_t kCalibrationInstance = kCallbackInstances;

// What the start functions of one kind of window do; StartFor chooses it by the flags.
struct CallbackBinding;
using StartOfWindow = std::unique_ptr<at::ObserverContext> (*)(const at::RecordFunction& range,
                                                               const CallbackBinding& binding);

// All that a start function reads, in one line of the processor's cache.
struct alignas(64) CallbackBinding : WindowBinding {
  std::atomic<StartOfWindow> start{nullptr};  // StartFor(flags)
  std::atomic<uint32_t> flags{0};             // torch_source_flags of the window
};

extern CallbackBinding callback_bindings[kCallbackInstances + 1];

// The functions, in range_callbacks.cc: one start function per instance, which calls that of its binding. One per
// instance and kind of window were 520, and a second of the adapter's compilation.
StartOfWindow StartFor(uint32_t flags);  // of torch_source_flags
extern const std::array<at::RecordFunctionCallback::StartCallback, kCallbackInstances + 1> start_functions;
void EndRange(const at::RecordFunction& range, at::ObserverContext* context);
// Replaces a context made by a start function by one that ends the range when torch deletes it: torch will not call
// EndRange for this range.
void EndWhenDeleted(at::ObserverContext* context);

// Hold this lock while registering or removing a callback. Torch takes a lock of its own for that; if another thread
// forked meanwhile, torch's lock would stay locked in the child, which has to remove callbacks too. A fork waits for
// this lock.
Mutex& RegistrationLock();

// From now on the instance's start function records into this window.
void BindInstance(uint32_t instance, uint32_t window_slot, uint64_t window_generation, uint32_t flags);
// The number of the instance with this start function; -1: it is not one of the pool.
int InstanceOf(at::RecordFunctionCallback::StartCallback start);

// The life of an instance: it is claimed, registered with torch, unregistered, released. The two in the middle are a
// part of the source (TorchPart in torch_source.cc), which starts and stops between the other two.

// Takes a free instance and binds it to the window. Returns a session, 0 when every instance is taken.
uint64_t ClaimCallback(uint32_t window_slot, uint64_t window_generation, uint32_t flags);
// Returns null. Throws what torch throws.
const char* RegisterCallback(uint32_t instance, uint32_t flags);
// Unbinds the instance, and removes its callback from torch where this thread may do that.
void UnregisterCallback(uint32_t instance);
// False: the session has been stopped already, or belongs to the parent of a fork. True to one caller, who then stops
// the parts and calls ReleaseCallback.
bool BeginRelease(uint64_t session);
// REQUIRES: the instance is unregistered.
void ReleaseCallback(uint32_t instance);
// Pauses or resumes recording of ranges that begin. One caller at a time per session.
void PauseCallback(uint64_t session, bool paused);

// Of a session from ClaimCallback.
inline uint32_t InstanceOfSession(uint64_t session) {
  return static_cast<uint32_t>(session & 0xff) - 1;
}
// Whether torch would call the armed instance for an operator of the calling thread.
bool SeesThisThread(uint32_t instance);

}  // namespace opscope
