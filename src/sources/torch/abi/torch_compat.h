// All that depends on which torch the adapter is compiled for. A question is put to torch's headers (`requires`);
// a version's number stands here only where no declaration tells.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/profiler/orchestration/observer.h>

namespace opscope::torch_compat {

// A function of torch that others ask, and one of its kind that stands in front of it.
struct Question {
  const char* symbol;
  void* function;
};

// A torch whose interpreter raises and lowers an object's count of references for a tensor; earlier ones keep objects
// alive in another way.
template <typename InterpreterTable, typename Object>
concept CountsReferences = requires(const InterpreterTable& table, Object* object) {
  table.incref(object);
  table.decref(object);
};

// torch's state of a profiler: up to 2.13 one function finds it, told whether that of all threads is meant; from 2.14
// on there is one for the thread's alone.
template <typename Base>
concept AsksForThread = requires { Base::getTLS(); };

// answer(what torch says): what a caller is told of the profiler of its thread.
template <typename Base, Base* (*answer)(Base* of_torch)>
Question QuestionForState() {
  if constexpr (AsksForThread<Base>) {
    Base* (*function)() = [] { return answer(Base::getTLS()); };
    return {"_ZN5torch8profiler4impl17ProfilerStateBase6getTLSEv", reinterpret_cast<void*>(function)};
  } else {
    Base* (*function)(bool) = [](bool global) { return global ? Base::get(true) : answer(Base::get(false)); };
    return {"_ZN5torch8profiler4impl17ProfilerStateBase3getEb", reinterpret_cast<void*>(function)};
  }
}

}  // namespace opscope::torch_compat
