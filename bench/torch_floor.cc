// Callbacks that do nothing, registered with torch and with Python: what observing an operator or a call costs before
// any observer has done anything. The benchmark subtracts torch's from opscope's and torch.profiler's, and prints
// Python's in a row of its own. SPDX-License-Identifier: Apache-2.0
#include <ATen/record_function.h>
#include <dlfcn.h>

#include <memory>

namespace {

std::unique_ptr<at::ObserverContext> Start(const at::RecordFunction& /*range*/) {
  return nullptr;
}
void End(const at::RecordFunction& /*range*/, at::ObserverContext* /*context*/) {
}

using ProfileFunction = int (*)(void* object, void* frame, int what, void* argument);  // Py_tracefunc
int SeeCall(void* /*object*/, void* /*frame*/, int /*what*/, void* /*argument*/) {
  return 0;
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

// Has Python call a function that does nothing at each call and return of the calling thread, or no more. REQUIRES: the
// GIL is held.
__attribute__((visibility("default"))) void opscope_python_floor(int on) {
  using SetProfile = void (*)(ProfileFunction function, void* object);
  const auto set = reinterpret_cast<SetProfile>(dlsym(RTLD_DEFAULT, "PyEval_SetProfile"));
  set(on != 0 ? &SeeCall : nullptr, nullptr);
}

}  // extern "C"
