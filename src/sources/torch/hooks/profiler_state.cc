// Each query has a hook that calls torch's own function, and returns "yes" where torch returns "no" and a window
// records the calling thread. Unlike other hooks these stay installed: without a window they return what torch returns.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/hooks/profiler_state.h"

#include <torch/csrc/profiler/orchestration/observer.h>

#include <array>
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

constinit InstanceSet active;       // whose windows count as a profiler
constinit InstanceSet with_inputs;  // of these, whose windows record arguments

// The state for callers that only test whether there is one. It is never pushed onto torch's stack of states.
class ActiveState final : public profiler_impl::ProfilerStateBase {
 public:
  ActiveState() : ProfilerStateBase(profiler_impl::ProfilerConfig(profiler_impl::ProfilerState::KINETO)) {}
  profiler_impl::ActiveProfilerType profilerType() override { return profiler_impl::ActiveProfilerType::KINETO; }
  void reportMemoryUsage(void*, int64_t, size_t, size_t, c10::Device) override {}
};

// The hooks. They call torch's functions by name, not by what the entry held (memory/allocations.cc says why).

profiler_impl::ProfilerStateBase* OnState(profiler_impl::ProfilerStateBase* of_torch) {
  if (of_torch != nullptr || !active.SeesThisThread()) return of_torch;
  static ActiveState& state = *new ActiveState;  // never destroyed: ranges come until the process ends
  return &state;
}

bool OnProfilerEnabled() {
  return profiler_impl::profilerEnabled() || active.SeesThisThread();
}

profiler_impl::ProfilerConfig OnConfig() {
  if (!profiler_impl::profilerEnabled() && active.SeesThisThread()) {
    return profiler_impl::ProfilerConfig(profiler_impl::ProfilerState::KINETO, with_inputs.SeesThisThread());
  }
  profiler_impl::ProfilerConfig config = profiler_impl::getProfilerConfig();
  config.report_input_shapes = config.report_input_shapes || with_inputs.SeesThisThread();
  return config;
}

using torch_compat::Query;
const std::array kQueries = {
    torch_compat::QueryForState<profiler_impl::ProfilerStateBase, &OnState>(),
    Query{"_ZN5torch8profiler4impl15profilerEnabledEv", reinterpret_cast<void*>(&OnProfilerEnabled)},
    Query{"_ZN5torch8profiler4impl17getProfilerConfigEv", reinterpret_cast<void*>(&OnConfig)},
};

constinit bool is_patched = false;

// Patches once per process.
void PatchProfilerQueries() {
  const MutexLock lock(GotLock());
  if (is_patched) return;
  std::array<std::vector<GotEntry>, kQueries.size()> entries;
  for (size_t i = 0; i < kQueries.size(); ++i) {
    entries[i] = FindGotEntries("libtorch_python.so", kQueries[i].symbol);
    if (entries[i].empty()) return;  // a program without Python, or a torch that queries another function
  }
  for (size_t i = 0; i < kQueries.size(); ++i) {
    for (const GotEntry& entry : entries[i]) {
      if (!WriteGotEntry(entry, kQueries[i].function)) CountFailure();
    }
  }
  is_patched = true;
}

__attribute__((constructor)) void WatchForksOfProfilerState() {
  CallInForkedChild([] {
    active.Clear();
    with_inputs.Clear();
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
  if ((flags & torch_source_flags::kInputs) != 0) with_inputs.Add(instance);
  active.Add(instance);
  return nullptr;
}

void StopProfilerState(uint32_t instance) {
  active.Remove(instance);
  with_inputs.Remove(instance);
}

}  // namespace opscope
