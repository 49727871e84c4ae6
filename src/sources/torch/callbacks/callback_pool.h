// The callbacks that torch is given. Torch's callbacks are plain function pointers without user data,
// so which window a call belongs to must be in the function itself: a bank of 64 instances of the
// start function, each bound to one window at a time.
//
// Why binding and unbinding is careful
//   A thread-local callback can be removed by its own thread alone, and torch copies the list of them
//   into futures, jit::fork and autograd's tasks (ThreadLocalState). So a start function may be called
//   long after its window closed, on any thread. Hence:
//   1. An instance names the generation of its window; generations are never reused. A disarmed
//      instance holds kDisarmed, which no window and no stream has.
//   2. An instance that was stopped from another thread stays taken until its own thread has removed
//      the callback (at its next start) or has ended.
//   3. Free instances are handed out round-robin, so a late copy meets a new window only when 64 more
//      windows were opened while it waited.
// All state is atomic and constant-initialised, nothing is destroyed while a callback can still come.
// The child of a fork starts empty: every instance is disarmed, the parent's callbacks leave its thread.
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
// One more, which is never registered with torch: overhead.cc calls it itself.
inline constexpr uint32_t kCalibrationInstance = kCallbackInstances;

// What a start function does, by what the window wants.
struct CallbackBinding;
using StartOfWindow = std::unique_ptr<at::ObserverContext> (*)(const at::RecordFunction& range,
                                                               const CallbackBinding& binding);

// What a start function reads.
struct alignas(64) CallbackBinding : WindowBinding {
  std::atomic<StartOfWindow> start{nullptr};  // of the flags
  std::atomic<uint32_t> flags{0};             // of torch_source_flags
};

extern CallbackBinding callback_bindings[kCallbackInstances + 1];

// The functions, in range_callbacks.cc: one start function per instance, which calls that of its binding. One per
// instance and kind of window were 520, and a second of the adapter's compilation.
StartOfWindow StartFor(uint32_t flags);  // of torch_source_flags
extern const std::array<at::RecordFunctionCallback::StartCallback, kCallbackInstances + 1> start_functions;
void EndRange(const at::RecordFunction& range, at::ObserverContext* context);
// Makes of a start function's context one whose deletion ends the range: EndRange will not be called.
void EndWhenDeleted(at::ObserverContext* context);

// Held while torch's lists are changed: torch takes a lock of its own for that, and a fork that caught
// another thread inside would leave it taken in the child, which has lists to change too.
Mutex& RegistrationLock();

// Tells the instance's start function what to record, and where.
void BindInstance(uint32_t instance, uint32_t window_slot, uint64_t window_generation, uint32_t flags);
// The instance whose start function this is, or -1.
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
