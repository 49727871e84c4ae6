// Callbacks that do nothing, registered with torch: what observing an operator costs before any observer has done
// anything. The benchmark of training steps subtracts it from opscope's cost and from torch.profiler's.
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
__attribute__((visibility("default"))) uint64_t opscope_torch_floor_install() {
  return at::addThreadLocalCallback(at::RecordFunctionCallback(&Start, &End));
}

__attribute__((visibility("default"))) void opscope_torch_floor_remove(uint64_t handle) {
  at::removeCallback(handle);
}

}  // extern "C"
