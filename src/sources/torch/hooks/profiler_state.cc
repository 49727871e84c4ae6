// Each query gets a hook that calls torch's own function and answers "yes" where torch says "no" and a window records
// the calling thread. Unlike other hooks these stay installed: without a window they answer what torch answers.
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

namespace profiler_impl = torch::profiler::impl;

// One bit per instance whose window counts as a profiler, and the same for windows with arguments.
constinit std::atomic<uint64_t> active{0};
constinit std::atomic<uint64_t> with_inputs{0};
static_assert(kCallbackInstances <= 64);

bool IsRecordedBy(const std::atomic<uint64_t>& windows) {
  for (uint64_t left = windows.load(std::memory_order_relaxed); left != 0; left &= left - 1) {
    if (SeesThisThread(static_cast<uint32_t>(std::countr_zero(left)))) return true;
  }
  return false;
}

// The state that callers get who only test whether there is one. It is never pushed onto torch's stack of states.
class ActiveState final : public profiler_impl::ProfilerStateBase {
 public:
  ActiveState() : ProfilerStateBase(profiler_impl::ProfilerConfig(profiler_impl::ProfilerState::KINETO)) {}
  profiler_impl::ActiveProfilerType profilerType() override { return profiler_impl::ActiveProfilerType::KINETO; }
  void reportMemoryUsage(void*, int64_t, size_t, size_t, c10::Device) override {}
};

// The hooks. They call torch's functions by name, not by what the entry held (memory/allocations.cc says why).

profiler_impl::ProfilerStateBase* OnState(profiler_impl::ProfilerStateBase* of_torch) {
  if (of_torch != nullptr || !IsRecordedBy(active)) return of_torch;
  static ActiveState& state = *new ActiveState;  // never destroyed: ranges come until the process ends
  return &state;
}

bool OnProfilerEnabled() {
  return profiler_impl::profilerEnabled() || IsRecordedBy(active);
}

profiler_impl::ProfilerConfig OnConfig() {
  if (!profiler_impl::profilerEnabled() && IsRecordedBy(active)) {
    return profiler_impl::ProfilerConfig(profiler_impl::ProfilerState::KINETO, IsRecordedBy(with_inputs));
  }
  profiler_impl::ProfilerConfig config = profiler_impl::getProfilerConfig();
  config.report_input_shapes = config.report_input_shapes || IsRecordedBy(with_inputs);
  return config;
}

using torch_compat::Query;
const std::array kQueries = {
    torch_compat::QueryForState<profiler_impl::ProfilerStateBase, &OnState>(),
    Query{"_ZN5torch8profiler4impl15profilerEnabledEv", reinterpret_cast<void*>(&OnProfilerEnabled)},
    Query{"_ZN5torch8profiler4impl17getProfilerConfigEv", reinterpret_cast<void*>(&OnConfig)},
};

constinit bool is_pointed = false;

// Patches once per process.
void PatchProfilerQueries() {
  const MutexLock lock(GotLock());
  if (is_pointed) return;
  std::array<std::vector<GotEntry>, kQueries.size()> entries;
  for (size_t i = 0; i < kQueries.size(); ++i) {
    entries[i] = FindGotEntries("libtorch_python.so", kQueries[i].symbol);
    if (entries[i].empty()) return;  // a program without Python, or a torch that asks in another way
  }
  for (size_t i = 0; i < kQueries.size(); ++i) {
    for (const GotEntry& entry : entries[i]) {
      if (!WriteGotEntry(entry, kQueries[i].function)) CountFailure();
    }
  }
  is_pointed = true;
}

__attribute__((constructor)) void WatchForksOfProfilerState() {
  CallInForkedChild([] {
    active.store(0);
    with_inputs.store(0);
  });
}

}  // namespace

const char* StartProfilerState(uint32_t instance, uint32_t flags) {
  if ((flags & torch_source_flags::kAllThreads) != 0) return nullptr;
  try {
    PatchProfilerQueries();
  } catch (const std::bad_alloc&) {
    CountFailure();
    return nullptr;
  }
  const uint64_t bit = uint64_t{1} << instance;
  if ((flags & torch_source_flags::kInputs) != 0) with_inputs.fetch_or(bit);
  active.fetch_or(bit);
  return nullptr;
}

void StopProfilerState(uint32_t instance) {
  const uint64_t bit = uint64_t{1} << instance;
  active.fetch_and(~bit);
  with_inputs.fetch_and(~bit);
}

}  // namespace opscope
