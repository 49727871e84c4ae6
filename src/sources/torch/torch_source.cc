// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch_source.h"

#include <ATen/record_function.h>

#include <atomic>
#include <string>

#include "opscope/recorder.h"
#include "sources/torch/allocations.h"
#include "sources/torch/callback_bank.h"
#include "sources/torch/failures.h"
#include "sources/torch/held_tensors.h"
#include "sources/torch/operator_kinds.h"
#include "sources/torch/own_cost.h"
#include "sources/torch/profiler_presence.h"
#include "sources/torch/route.h"
#include "sources/torch/user_range.h"

namespace opscope {
namespace {

constinit std::atomic<uint64_t> failures{0};

void* Start(uint32_t window_slot, uint64_t window_generation, uint32_t flags, const char** error) {
  const char* unused = nullptr;
  if (error == nullptr) error = &unused;
  if (opscope_recorder_abi() != kRecorderAbi) {
    *error = "the recorder library in this process is of another version than the PyTorch source";
    return nullptr;
  }
  try {
    const uint64_t session = ArmCallback(window_slot, window_generation, flags);
    if (session != 0) {
      if ((flags & torch_source_flags::kMemory) != 0 && !StartAllocations(InstanceOfSession(session), error)) {
        DisarmCallback(session);
        return nullptr;
      }
      StartPresence(InstanceOfSession(session), flags);
      StartRoute(InstanceOfSession(session), flags);
      // The recorder has attached this thread already, without torch's number of it.
      opscope_stream_attach(window_slot, at::RecordFunction::currentThreadId());
      return reinterpret_cast<void*>(session);
    }
    *error = "all 64 callback instances of the PyTorch source are taken";
  } catch (...) {
    *error = "PyTorch could not register the callback";
  }
  return nullptr;
}

void Stop(void* session) {
  try {
    DisarmCallback(reinterpret_cast<uint64_t>(session));
  } catch (...) {
    CountFailure();
  }
}

void Pause(void* session, bool paused) {
  PauseCallback(reinterpret_cast<uint64_t>(session), paused);
}

void TellOperators(void (*sink)(void* context, const char* text, size_t size), void* context) {
  try {
    const std::string text = KindsOfNotedOperators();
    sink(context, text.data(), text.size());
  } catch (...) {
    CountFailure();
  }
}

uint64_t CurrentThread() {
  return at::RecordFunction::currentThreadId();
}

constexpr TorchSource kSource = {
    .abi = kTorchSourceAbi,
    .torch_version = OPSCOPE_TORCH_VERSION,
    .start = &Start,
    .stop = &Stop,
    .pause = &Pause,
    .is_traced = &IsTraced,
    .enter = &EnterUserRange,
    .exit = &ExitUserRange,
    .set_async = &SetUserRangeAsync,
    .current_thread = &CurrentThread,
    .failures = &FailureCount,
    .own_cost = &OwnCostJson,
    .hold = &HoldTensors,
    .operators = &TellOperators,
    .try_route = &TryRoute,
    .take_route_verdict = &TakeRouteVerdict,
    .why_callbacks = [](void* session) { return WhyCallbacks(InstanceOfSession(reinterpret_cast<uint64_t>(session))); },
};

}  // namespace

void CountFailure() {
  failures.fetch_add(1, std::memory_order_relaxed);
}
uint64_t FailureCount() {
  return failures.load(std::memory_order_relaxed);
}

}  // namespace opscope

const opscope::TorchSource* opscope_torch_source() {
  return &opscope::kSource;
}
