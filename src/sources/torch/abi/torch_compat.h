// Differences between the releases of torch that the adapter is compiled for. Each is detected in torch's headers
// (`requires`), not by a version number.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/profiler/orchestration/observer.h>

namespace opscope::torch_compat {

// A function of torch by its symbol, and its hook.
struct Query {
  const char* symbol;
  void* function;
};

// True from 2.10 on: a tensor changes the reference count of its Python object through the interpreter's table.
template <typename InterpreterTable, typename Object>
concept CountsReferences = requires(const InterpreterTable& table, Object* object) {
  table.incref(object);
  table.decref(object);
};

// The state of torch's profiler is returned by get(global) up to 2.13, and by getTLS() from 2.14 on.
template <typename Base>
concept HasThreadState = requires { Base::getTLS(); };

// The hook of that function: it returns on_state(torch's own result) for the profiler of the calling thread.
template <typename Base, Base* (*on_state)(Base* of_torch)>
Query QueryForState() {
  if constexpr (HasThreadState<Base>) {
    Base* (*function)() = [] { return on_state(Base::getTLS()); };
    return {"_ZN5torch8profiler4impl17ProfilerStateBase6getTLSEv", reinterpret_cast<void*>(function)};
  } else {
    Base* (*function)(bool) = [](bool global) { return global ? Base::get(true) : on_state(Base::get(false)); };
    return {"_ZN5torch8profiler4impl17ProfilerStateBase3getEb", reinterpret_cast<void*>(function)};
  }
}

}  // namespace opscope::torch_compat
