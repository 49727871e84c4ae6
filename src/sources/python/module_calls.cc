// The vectorcall of a Python function is a field of the function object. Two functions are watched, nn.Module.__call__
// and the _call_impl that it calls, because Python reaches the first without its vectorcall in one case
// (module_calls.h).
// SPDX-License-Identifier: Apache-2.0
#include "sources/python/module_calls.h"

#if !OPSCOPE_HAS_MONITORING

#include <algorithm>

namespace opscope {
namespace {

struct Watched {
  PyFunctionObject* function = nullptr;  // strong
  vectorcallfunc ours = nullptr;
  uint32_t windows = 0;
};

// Never destroyed: calls come until the interpreter ends.
std::vector<Watched>& AllWatched() {
  static auto& all = *new std::vector<Watched>;
  return all;
}

// Number of the last call. It identifies a call, as the address of the frame does elsewhere. An address on the stack
// would not be unique, because greenlets copy the stack.
uint64_t last_call = 0;
constexpr int kOwnBits = 2;  // kCallOfFunction, kCallOfCollector

template <typename Visit>
inline void VisitWindowsOf(PyObject* function, const Visit& visit) {
  VisitBindings([&](Binding* binding) {
    const CallWindow* window = binding->window;
    if (!binding->gets_events && (function == window->module_call || function == window->module_inner)) visit(binding);
  });
}

PyObject* RecordCall(PyObject* function, PyObject* module, PyObject* const* arguments, size_t count, PyObject* names) {
  const uint64_t identity = ++last_call << kOwnBits;
  VisitWindowsOf(function, [&](Binding* binding) { EnterModule(binding, module, identity, nullptr); });
  PyObject* result = _PyFunction_Vectorcall(function, arguments, count, names);
  VisitWindowsOf(function, [&](const Binding* binding) {
    if (IsRecording(binding)) WriteCall(binding->stream, RecordKind::kExit, 0, 0, identity, CallKind::kPython);
  });
  return result;
}

// The first argument; null: the call will fail.
PyObject* SelfAmong(PyObject* const* arguments, size_t count, PyObject* names) {
  if (PyVectorcall_NARGS(count) > 0) return arguments[0];
  for (Py_ssize_t i = 0; names != nullptr && i < PyTuple_GET_SIZE(names); ++i) {
    if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), "self") == 0) return arguments[i];
  }
  return nullptr;
}

PyObject* CallModule(PyObject* function, PyObject* const* arguments, size_t count, PyObject* names) {
  PyObject* module = SelfAmong(arguments, count, names);
  if (module == nullptr) return _PyFunction_Vectorcall(function, arguments, count, names);
  return RecordCall(function, module, arguments, count, names);
}

PyObject* CallInner(PyObject* function, PyObject* const* arguments, size_t count, PyObject* names) {
  PyObject* module = nullptr;
  VisitWindowsOf(function, [&](const Binding* binding) {
    if (module == nullptr) module = FirstArgumentOfInlinedCaller(binding->window->module_code);
  });
  if (module == nullptr) return _PyFunction_Vectorcall(function, arguments, count, names);
  return RecordCall(function, module, arguments, count, names);
}

struct Wanted {
  PyFunctionObject* function;
  vectorcallfunc ours;
};
Wanted CallOf(const CallWindow& window) {
  return {reinterpret_cast<PyFunctionObject*>(window.module_call), &CallModule};
}
Wanted InnerOf(const CallWindow& window) {
  return {reinterpret_cast<PyFunctionObject*>(window.module_inner), &CallInner};
}

Watched* Find(const PyFunctionObject* function) {
  const auto found = std::find_if(AllWatched().begin(), AllWatched().end(),
                                  [&](const Watched& watched) { return watched.function == function; });
  return found != AllWatched().end() ? &*found : nullptr;
}

void Watch(const Wanted& wanted) {
  if (wanted.function == nullptr) return;
  Watched* watched = Find(wanted.function);
  if (watched == nullptr) {
    watched = &AllWatched().emplace_back();  // does not throw: WatchModuleCalls has reserved the memory
    Py_INCREF(wanted.function);
    watched->function = wanted.function;
    watched->ours = wanted.ours;
  }
  ++watched->windows;
  wanted.function->vectorcall = wanted.ours;
}

void RestoreFunction(size_t index) {
  const Watched watched = AllWatched()[index];
  AllWatched().erase(AllWatched().begin() + static_cast<std::ptrdiff_t>(index));
  if (watched.function->vectorcall == watched.ours) watched.function->vectorcall = &_PyFunction_Vectorcall;
  Py_DECREF(watched.function);
}

void Unwatch(const Wanted& wanted) {
  Watched* watched = Find(wanted.function);
  if (watched == nullptr || --watched->windows != 0) return;
  RestoreFunction(static_cast<size_t>(watched - AllWatched().data()));
}

bool CanWatch(const Wanted& wanted) {
  return wanted.function == nullptr || wanted.function->vectorcall == &_PyFunction_Vectorcall ||
         wanted.function->vectorcall == wanted.ours;
}

}  // namespace

bool CanWatchModuleCalls(const CallWindow& window) {
  if (window.all_calls() || window.module_call == nullptr) return false;
  return CanWatch(CallOf(window)) && CanWatch(InnerOf(window));
}

void WatchModuleCalls(CallWindow* window) {
  AllWatched().reserve(AllWatched().size() + 2);
  Watch(CallOf(*window));
  Watch(InnerOf(*window));
  window->has_watch = true;
}

void UnwatchModuleCalls(CallWindow* window) {
  if (!window->has_watch) return;
  window->has_watch = false;
  Unwatch(CallOf(*window));
  Unwatch(InnerOf(*window));
}

void UnwatchModuleCallsInChild() {
  while (!AllWatched().empty())
    RestoreFunction(AllWatched().size() - 1);
}

}  // namespace opscope

#endif
