// Callbacks that do nothing, registered with torch: what observing an operator costs before any
// observer has done anything. The benchmark subtracts these rows from opscope's and torch.profiler's.
// SPDX-License-Identifier: Apache-2.0
#include <ATen/record_function.h>

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

}  // extern "C"
