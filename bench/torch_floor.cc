// Callbacks that do nothing, registered with torch: what observing an operator costs before any
// observer has done anything. The benchmark subtracts these rows from opscope's and torch.profiler's. And
// a switch for callgrind, for Python.
// SPDX-License-Identifier: Apache-2.0
#include <ATen/record_function.h>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif

#include <memory>

namespace {

std::unique_ptr<at::ObserverContext> Start(const at::RecordFunction& /*range*/) {
  return nullptr;
}
void End(const at::RecordFunction& /*range*/, at::ObserverContext* /*context*/) {
}

}  // namespace

extern "C" {

// Returns the handle for opscope_torch_floor_remove, which must be called on the same thread.
__attribute__((visibility("default"))) uint64_t opscope_torch_floor_install(int needs_inputs, int all_threads) {
  at::RecordFunctionCallback callback(&Start, &End);
  callback.needsInputs(needs_inputs != 0);
  return all_threads != 0 ? at::addGlobalCallback(callback) : at::addThreadLocalCallback(callback);
}

__attribute__((visibility("default"))) void opscope_torch_floor_remove(uint64_t handle) {
  at::removeCallback(handle);
}

// Under `valgrind --tool=callgrind --instr-atstart=no`: instructions count from here on, or no more. False: this
// was built without valgrind's header.
__attribute__((visibility("default"))) int opscope_torch_floor_count([[maybe_unused]] int on) {
#ifdef CALLGRIND_START_INSTRUMENTATION
  if (on != 0) {
    CALLGRIND_START_INSTRUMENTATION;
  } else {
    CALLGRIND_STOP_INSTRUMENTATION;
  }
  return 1;
#else
  return 0;
#endif
}

}  // extern "C"
