// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch_source.h"

#include <ATen/record_function.h>
#include <unistd.h>

#include <atomic>
#include <iterator>
#include <string>
#include <string_view>

#include "opscope/recorder.h"
#include "sources/streams/failures.h"
#include "sources/torch/allocations.h"
#include "sources/torch/callback_bank.h"
#include "sources/torch/held_tensors.h"
#include "sources/torch/keyword_json.h"
#include "sources/torch/kineto_state.h"
#include "sources/torch/operator_kinds.h"
#include "sources/torch/own_cost.h"
#include "sources/torch/profiler_state.h"
#include "sources/torch/route.h"
#include "sources/torch/user_range.h"

namespace opscope {
namespace {

// By instance; of the one who has armed it.
struct OpenSession {
  std::atomic<uint64_t> session{0};  // 0: none, or its end was told
  pid_t process = 0;
  Window* window = nullptr;
  uint32_t flags = 0;
};
constinit OpenSession open_sessions[kCallbackInstances];

void Tell(Window* window, std::string_view key, std::string_view value_json) {
  std::string member = "\"";
  member.append(key).append("\":").append(value_json);
  opscope_window_add_metadata(window, member.c_str());
}

void TellRoute(Window* window, uint32_t instance) {
  const char* why_callbacks = WhyCallbacks(instance);
  std::string route;
  AppendJsonString(why_callbacks != nullptr ? std::string("callbacks: ") + why_callbacks : "drop-in functions", &route);
  Tell(window, kTorchRouteKey, route);
}

// The numbers of torch's events go on over the recordings of a process, as torch's do. Nothing is recorded any more.
void TellFirstEventId(Window* window) {
  static constinit std::atomic<uint32_t> next_id{1};
  const auto recorded = static_cast<uint32_t>(opscope_window_counts(window).recorded);
  uint32_t first = next_id.fetch_add(recorded, std::memory_order_relaxed);
  if (first == 0 || first + recorded < first) {  // 32 bits are used up: they begin anew
    first = 1;
    next_id.store(1 + recorded, std::memory_order_relaxed);
  }
  Tell(window, kFirstEventIdKey, std::to_string(first));
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
    const uint64_t session = ArmCallback(slot, opscope_window_id(window), flags);
    if (session != 0) {
      const uint32_t instance = InstanceOfSession(session);
      if ((flags & torch_source_flags::kMemory) != 0 && !StartAllocations(instance, error)) {
        DisarmCallback(session);
        return nullptr;
      }
      OpenSession& open = open_sessions[instance];
      open.process = getpid();
      open.window = window;
      open.flags = flags;
      open.session.store(session);
      ShowProfilerState(instance, flags);
      StartRoute(instance, flags);
      TellRoute(window, instance);
      // The recorder has attached this thread already, without torch's number of it.
      opscope_stream_attach(slot, at::RecordFunction::currentThreadId());
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
    auto of_open = reinterpret_cast<uint64_t>(session);
    OpenSession& open = open_sessions[InstanceOfSession(of_open)];
    // Read before it is disarmed, when somebody else may have the instance.
    Window* window = open.window;
    const uint32_t flags = open.flags;
    const bool is_told = open.process != getpid() || !open.session.compare_exchange_strong(of_open, 0);
    DisarmCallback(reinterpret_cast<uint64_t>(session));
    if (is_told) return;
    if ((flags & torch_source_flags::kTensors) != 0) {
      Tell(window, kOperatorsKey, "\"" + KindsOfNotedOperators() + "\"");
    }
    TellFirstEventId(window);
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
                                            .own_cost = &OwnCostJson},
                                 .torch_version = OPSCOPE_TORCH_VERSION,
                                 .is_traced = &IsTraced,
                                 .enter = &EnterUserRange,
                                 .enter_async = &EnterAsyncUserRange,
                                 .exit = &ExitUserRange,
                                 .set_async = &SetUserRangeAsync,
                                 .hold = &HoldTensors,
                                 .try_route = &TryRoute,
                                 .take_route_verdict = &TakeRouteVerdict,
                                 .kineto_is_idle = &KinetoIsIdle};

}  // namespace

}  // namespace opscope

const opscope::TorchSource* opscope_torch_source() {
  return &opscope::kSource;
}
const opscope::Source* opscope_source() {
  return &opscope::kSource.source;
}
