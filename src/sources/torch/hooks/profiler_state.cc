// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/hooks/profiler_state.h"

#include <torch/csrc/profiler/orchestration/observer.h>

#include <array>
#include <atomic>
#include <bit>
#include <new>
#include <vector>

#include "base/mutex.h"
#include "opscope/torch_source.h"
#include "sources/got/got_entries.h"
#include "sources/streams/failures.h"
#include "sources/torch/abi/torch_compat.h"
#include "sources/torch/callbacks/callback_pool.h"

namespace opscope {
namespace {

namespace torchs = torch::profiler::impl;

// One bit per instance whose window counts as a profiler, and of those that take arguments.
constinit std::atomic<uint64_t> shown{0};
constinit std::atomic<uint64_t> with_inputs{0};
static_assert(kCallbackInstances <= 64);

bool IsSeenBy(const std::atomic<uint64_t>& windows) {
  for (uint64_t left = windows.load(std::memory_order_relaxed); left != 0; left &= left - 1) {
    if (SeesThisThread(static_cast<uint32_t>(std::countr_zero(left)))) return true;
  }
  return false;
}

// Stands for torch's state where a caller wants to know whether there is one. Nothing is ever pushed with it.
class ShownState final : public torchs::ProfilerStateBase {
 public:
  ShownState() : ProfilerStateBase(torchs::ProfilerConfig(torchs::ProfilerState::KINETO)) {}
  torchs::ActiveProfilerType profilerType() override { return torchs::ActiveProfilerType::KINETO; }
  void reportMemoryUsage(void*, int64_t, size_t, size_t, c10::Device) override {}
};

// What the slots point to. The functions behind them are called by name, as in allocations.cc.

torchs::ProfilerStateBase* OnState(torchs::ProfilerStateBase* of_torch) {
  if (of_torch != nullptr || !IsSeenBy(shown)) return of_torch;
  static ShownState& state = *new ShownState;  // never destroyed: ranges come until the very end
  return &state;
}

bool OnProfilerEnabled() {
  return torchs::profilerEnabled() || IsSeenBy(shown);
}

torchs::ProfilerConfig OnConfig() {
  if (!torchs::profilerEnabled() && IsSeenBy(shown)) {
    return torchs::ProfilerConfig(torchs::ProfilerState::KINETO, IsSeenBy(with_inputs));
  }
  torchs::ProfilerConfig config = torchs::getProfilerConfig();
  config.report_input_shapes = config.report_input_shapes || IsSeenBy(with_inputs);
  return config;
}

using torch_compat::Question;
const std::array kQuestions = {
    torch_compat::QuestionForState<torchs::ProfilerStateBase, &OnState>(),
    Question{"_ZN5torch8profiler4impl15profilerEnabledEv", reinterpret_cast<void*>(&OnProfilerEnabled)},
    Question{"_ZN5torch8profiler4impl17getProfilerConfigEv", reinterpret_cast<void*>(&OnConfig)},
};

constinit bool is_pointed = false;

// Once: without a window the functions above answer what torch does, so nothing need be put back.
void AnswerForUs() {
  const MutexLock lock(SlotLock());
  if (is_pointed) return;
  std::array<std::vector<CallSlot>, kQuestions.size()> slots;
  for (size_t i = 0; i < kQuestions.size(); ++i) {
    slots[i] = FindCallSlots("libtorch_python.so", kQuestions[i].symbol);
    if (slots[i].empty()) return;  // a program without Python, or another torch
  }
  for (size_t i = 0; i < kQuestions.size(); ++i) {
    for (const CallSlot& slot : slots[i]) {
      if (!PointCallSlot(slot, kQuestions[i].function)) CountFailure();
    }
  }
  is_pointed = true;
}

__attribute__((constructor)) void WatchForksOfShownState() {
  WatchForksOfSlots([] {
    shown.store(0);
    with_inputs.store(0);
  });
}

}  // namespace

const char* StartProfilerState(uint32_t instance, uint32_t flags) {
  if ((flags & torch_source_flags::kAllThreads) != 0) return nullptr;
  try {
    AnswerForUs();
  } catch (const std::bad_alloc&) {
    CountFailure();
    return nullptr;
  }
  const uint64_t bit = uint64_t{1} << instance;
  if ((flags & torch_source_flags::kInputs) != 0) with_inputs.fetch_or(bit);
  shown.fetch_or(bit);
  return nullptr;
}

void StopProfilerState(uint32_t instance) {
  const uint64_t bit = uint64_t{1} << instance;
  shown.fetch_and(~bit);
  with_inputs.fetch_and(~bit);
}

}  // namespace opscope
