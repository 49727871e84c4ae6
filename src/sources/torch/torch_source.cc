// The Source of PyTorch: the start and the stop of a recording, and the functions of TorchSource. kParts lists the
// parts of a recording; all other code of this library belongs to one of them or is called by one.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch_source.h"

#include <ATen/record_function.h>
#include <unistd.h>

#include <atomic>
#include <iterator>
#include <string>
#include <string_view>

#include "base/json_escape.h"
#include "opscope/recorder.h"
#include "sources/streams/failures.h"
#include "sources/streams/window_fact.h"
#include "sources/torch/callbacks/callback_pool.h"
#include "sources/torch/calls/operator_signatures.h"
#include "sources/torch/hooks/capture_mode.h"
#include "sources/torch/hooks/profiler_state.h"
#include "sources/torch/kineto_state.h"
#include "sources/torch/memory/allocations.h"
#include "sources/torch/overhead.h"
#include "sources/torch/tensors/referenced_tensors.h"
#include "sources/torch/tensors/tensor_numbers.h"
#include "sources/torch/user_range.h"

namespace opscope {
namespace {

// By instance; written by the thread that claimed it.
struct OpenSession {
  std::atomic<uint64_t> session{0};  // 0: no session, or its facts have been recorded
  pid_t process = 0;
  Window* window = nullptr;
  uint32_t flags = 0;
};
constinit OpenSession open_sessions[kCallbackInstances];

void AddCaptureMode(Window* window, uint32_t instance) {
  const char* why_callbacks = WhyCallbacks(instance);
  std::string mode_json;
  AppendQuotedUtf8(&mode_json, why_callbacks != nullptr ? std::string("callbacks: ") + why_callbacks : "hooks");
  AddWindowFact(window, kTorchCaptureModeKey, mode_json);
}

// Event numbers continue over all recordings of a process, as torch's do. REQUIRES: the recording has stopped.
void AddFirstEventId(Window* window) {
  static constinit std::atomic<uint32_t> next_id{1};
  const auto recorded = static_cast<uint32_t>(opscope_window_counts(window).recorded);
  uint32_t first = next_id.fetch_add(recorded, std::memory_order_relaxed);
  if (first == 0 || first + recorded < first) {  // the 32 bits overflow: start again at 1
    first = 1;
    next_id.store(1 + recorded, std::memory_order_relaxed);
  }
  AddWindowFact(window, kFirstEventIdKey, std::to_string(first));
}

// A part of a recording that is switched on and off independently of the others. A part that needs a flag of the window
// (torch_source_flags) does nothing for a window without it.
struct TorchPart {
  // `instance`: the recording's callback (callback_pool.h), bound to its window. Returns null, or a static sentence if
  // the recording cannot start. May throw. After an error or an exception the part is off for this instance.
  const char* (*start)(uint32_t instance, uint32_t flags);
  // No effect if the part is off for the instance.
  void (*stop)(uint32_t instance);
};

// Started in this order, stopped in reverse. Tensor numbers come before the callback that uses them; allocations,
// profiler state and hooks need the registered callback to see whether a thread is recorded.
constexpr TorchPart kParts[] = {
    {&StartTensorNumbers, &StopTensorNumbers},
    {&RegisterCallback, &UnregisterCallback},
    {&StartAllocations, &StopAllocations},
    {&StartProfilerState, &StopProfilerState},
    {&StartHooks, &StopHooks},
};

constexpr const char* kNotRegistered = "PyTorch could not register the callback";

void StopParts(uint32_t instance) {
  for (size_t i = std::size(kParts); i-- > 0;)
    kParts[i].stop(instance);
}

// Null: all parts are on; else all are off.
const char* StartParts(uint32_t instance, uint32_t flags) {
  try {
    for (const TorchPart& part : kParts) {
      if (const char* error = part.start(instance, flags)) {
        StopParts(instance);
        return error;
      }
    }
    return nullptr;
  } catch (...) {
    StopParts(instance);
    return kNotRegistered;
  }
}

void* Start(const Source* /*self*/, Window* window, uint32_t flags, const char** error) {
  const char* unused = nullptr;
  if (error == nullptr) error = &unused;
  if (opscope_recorder_abi() != kRecorderAbi) {
    *error = "the recorder library in this process is of another version than the PyTorch source";
    return nullptr;
  }
  try {
    const uint32_t slot = opscope_window_slot(window);
    const uint64_t session = ClaimCallback(slot, opscope_window_id(window), flags);
    if (session == 0) {
      *error = "all 64 callback instances of the PyTorch source are taken";
      return nullptr;
    }
    const uint32_t instance = InstanceOfSession(session);
    if (const char* why_not = StartParts(instance, flags)) {
      *error = why_not;
      ReleaseCallback(instance);
      return nullptr;
    }
    OpenSession& open = open_sessions[instance];
    open.process = getpid();
    open.window = window;
    open.flags = flags;
    open.session.store(session);
    AddCaptureMode(window, instance);
    // The recorder attached this thread when the window opened, without torch's thread number.
    opscope_stream_attach(slot, at::RecordFunction::currentThreadId());
    return reinterpret_cast<void*>(session);
  } catch (...) {
    *error = kNotRegistered;
    return nullptr;
  }
}

void Stop(void* session) {
  try {
    const auto number = reinterpret_cast<uint64_t>(session);
    const uint32_t instance = InstanceOfSession(number);
    OpenSession& open = open_sessions[instance];
    // Read before the instance is released and can be claimed for another session.
    Window* window = open.window;
    const uint32_t flags = open.flags;
    uint64_t expected = number;
    const bool needs_facts = open.process == getpid() && open.session.compare_exchange_strong(expected, 0);
    if (BeginRelease(number)) {
      StopParts(instance);
      ReleaseCallback(instance);
    }
    if (!needs_facts) return;
    if ((flags & torch_source_flags::kTensors) != 0) {
      AddWindowFact(window, kOperatorsKey, "\"" + RecordedOperatorSignatures() + "\"");
    }
    AddFirstEventId(window);
  } catch (...) {
    CountFailure();
  }
}

void Pause(void* session, bool paused) {
  PauseCallback(reinterpret_cast<uint64_t>(session), paused);
}

uint64_t CurrentThread() {
  return at::RecordFunction::currentThreadId();
}

constexpr SourceFlag kFlags[] = {{"inputs", torch_source_flags::kInputs},
                                 {"all_threads", torch_source_flags::kAllThreads},
                                 {"overload_names", torch_source_flags::kOverloadNames},
                                 {"memory", torch_source_flags::kMemory},
                                 {"tensors", torch_source_flags::kTensors},
                                 {"stacks", torch_source_flags::kStacks},
                                 {"modules", torch_source_flags::kModules}};

constexpr TorchSource kSource = {.source = {.flag_count = std::size(kFlags),
                                            .name = "torch",
                                            .flags = kFlags,
                                            .start = &Start,
                                            .stop = &Stop,
                                            .pause = &Pause,
                                            .thread_number = &CurrentThread,
                                            .failures = &FailureCount,
                                            .overhead = &OverheadJson},
                                 .torch_version = OPSCOPE_TORCH_VERSION,
                                 .is_traced = &IsTraced,
                                 .enter = &EnterUserRange,
                                 .enter_async = &EnterAsyncUserRange,
                                 .exit = &ExitUserRange,
                                 .set_async = &SetUserRangeAsync,
                                 .hold = &RecordReferencedTensors,
                                 .probe_capture_mode = &ProbeCaptureMode,
                                 .set_probe_result = &SetProbeResult,
                                 .kineto_is_idle = &KinetoIsIdle};

}  // namespace
}  // namespace opscope

const opscope::TorchSource* opscope_torch_source() {
  return &opscope::kSource;
}
const opscope::Source* opscope_source() {
  return &opscope::kSource.source;
}
