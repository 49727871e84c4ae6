// Python 3.12 and later: sys.monitoring. The source uses the first free tool id of those that Python does not reserve,
// so that debuggers, coverage and cProfile find theirs. If all windows record only modules, only the code of
// nn.Module.__call__ is watched, and the unwinding of frames, which cannot be watched for one code object: all other
// calls have no overhead.
// SPDX-License-Identifier: Apache-2.0
#include "sources/python/call_events.h"

#if OPSCOPE_HAS_MONITORING

#include <cstddef>
#include <iterator>

namespace opscope {
namespace {

constexpr int kTools[] = {3, 4, 5};

template <typename Act>
inline PyObject* ForBindings(const Act& act) {
  VisitBindings([&](Binding* binding) { act(binding, CurrentFrame()); });
  Py_RETURN_NONE;
}

inline PyCodeObject* CodeIn(PyObject* const* arguments) {
  return reinterpret_cast<PyCodeObject*>(arguments[0]);
}

// The fast paths, by whether call sites are recorded. False: nothing was done.
template <bool kAtSites>
inline bool TryEnterFast(const PyCodeObject* code, const FrameObject* frame) {
  const Binding* fast = FastBindingOfThisThread<kAtSites>();
  if (fast == nullptr) return false;
  const bool is_module = code == fast->window->module_code;
  const void* key = OPSCOPE_UNLIKELY(is_module) ? FirstArgument(frame) : CallKey(code, frame);
  return TryFastEnter<kAtSites>(fast, key, FrameIdentity(frame), is_module ? CallKind::kModule : CallKind::kPython,
                                [=] { return CallerOf(frame); });
}
template <bool kAtSites>
inline bool TryCallFast(const void* key, const FrameObject* caller) {
  const Binding* fast = FastBindingOfThisThread<kAtSites>();
  return fast != nullptr && TryFastEnter<kAtSites>(fast, key, FrameIdentity(caller) | kCallOfFunction,
                                                   CallKind::kFunction, [=] { return AsCalling(caller); });
}
inline bool TryExitFast(uint64_t own_bits, CallKind kind) {
  const Binding* fast = FastBindingOfThisThread<false>();
  if (fast == nullptr) fast = FastBindingOfThisThread<true>();
  return fast != nullptr && TryFastExit(fast, FrameIdentity(CurrentFrame()) | own_bits, kind);
}

// (code, offset, ...)
PyObject* OnEnter(PyObject*, PyObject* const* arguments, Py_ssize_t) {
  const FrameObject* current = CurrentFrame();
  if (TryEnterFast<false>(CodeIn(arguments), current) || TryEnterFast<true>(CodeIn(arguments), current)) {
    Py_RETURN_NONE;
  }
  return ForBindings([=](Binding* binding, FrameObject* frame) { EnterFrame(binding, CodeIn(arguments), frame); });
}
PyObject* OnExit(PyObject*, PyObject* const* arguments, Py_ssize_t) {
  if (TryExitFast(0, CallKind::kPython)) Py_RETURN_NONE;
  return ForBindings([=](Binding* binding, FrameObject* frame) { ExitFrame(binding, CodeIn(arguments), frame); });
}
// (code, offset, callable, its first argument)
PyObject* OnCall(PyObject*, PyObject* const* arguments, Py_ssize_t) {
  const void* key = FunctionKey(arguments[2]);
  if (key == nullptr) Py_RETURN_NONE;
  const FrameObject* current = CurrentFrame();
  if (TryCallFast<false>(key, current) || TryCallFast<true>(key, current)) Py_RETURN_NONE;
  return ForBindings(
      [=](Binding* binding, FrameObject* frame) { EnterFunction(binding, arguments[2], arguments[3], frame); });
}
PyObject* OnCallEnd(PyObject*, PyObject* const* arguments, Py_ssize_t) {
  if (FunctionKey(arguments[2]) == nullptr) Py_RETURN_NONE;
  if (TryExitFast(kCallOfFunction, CallKind::kFunction)) Py_RETURN_NONE;
  return ForBindings([](Binding* binding, FrameObject* frame) { ExitFunction(binding, frame); });
}

using Callback = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);

PyMethodDef MethodOf(const char* name, Callback callback) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(callback)), METH_FASTCALL, nullptr};
}
PyMethodDef enter_method = MethodOf("enter", &OnEnter), exit_method = MethodOf("exit", &OnExit),
            call_method = MethodOf("call", &OnCall), call_end_method = MethodOf("call_end", &OnCallEnd);

struct Event {
  const char* name;
  PyMethodDef* method;
  bool is_of_modules;  // needed by windows that record only modules
  bool is_local;       // and can be watched for one code object
};
constexpr Event kEvents[] = {{"PY_START", &enter_method, true, true},    {"PY_RESUME", &enter_method, false, false},
                             {"PY_THROW", &enter_method, false, false},  {"PY_RETURN", &exit_method, true, true},
                             {"PY_YIELD", &exit_method, false, false},   {"PY_UNWIND", &exit_method, true, false},
                             {"CALL", &call_method, false, false},       {"C_RETURN", &call_end_method, false, false},
                             {"C_RAISE", &call_end_method, false, false}};

// The events that are armed.
int tool = -1;  // our tool id; -1: none
uint32_t windows_of_all = 0, windows_of_modules = 0;
PyCodeObject* watched_code = nullptr;  // strong

class Monitoring {
 public:
  Monitoring() : module_(PySys_GetObject("monitoring")) { Py_XINCREF(module_); }
  ~Monitoring() { Py_XDECREF(module_); }
  Monitoring(const Monitoring&) = delete;
  Monitoring& operator=(const Monitoring&) = delete;

  // False with an exception.
  template <typename... Arguments>
  bool Do(const char* name, const char* format, Arguments... arguments) const {
    PyObject* result = Call(name, format, arguments...);
    Py_XDECREF(result);
    return result != nullptr;
  }
  template <typename... Arguments>
  PyObject* Call(const char* name, const char* format, Arguments... arguments) const {
    if (module_ != nullptr) return PyObject_CallMethod(module_, name, format, arguments...);
    PyErr_SetString(PyExc_RuntimeError, "sys has no monitoring");
    return nullptr;
  }

  // 0 with an exception.
  long EventNumber(const char* name) const {
    PyObject* events = module_ != nullptr ? PyObject_GetAttrString(module_, "events") : nullptr;
    PyObject* number = events != nullptr ? PyObject_GetAttrString(events, name) : nullptr;
    const long value = number != nullptr ? PyLong_AsLong(number) : 0;
    Py_XDECREF(number);
    Py_XDECREF(events);
    return value;
  }

 private:
  PyObject* module_;
};

bool TakeTool(const Monitoring& monitoring) {
  for (const int id : kTools) {
    PyObject* user = monitoring.Call("get_tool", "i", id);
    if (user == nullptr) return false;
    const bool is_free = user == Py_None;
    Py_DECREF(user);
    if (!is_free) continue;
    if (!monitoring.Do("use_tool_id", "is", id, "opscope")) return false;
    tool = id;
    return true;
  }
  PyErr_SetString(PyExc_RuntimeError, "no tool id of sys.monitoring is free for opscope (3, 4 and 5 are in use)");
  return false;
}

bool SetCallbacks(const Monitoring& monitoring, bool on) {
  for (const Event& event : kEvents) {
    const long number = monitoring.EventNumber(event.name);
    if (number == 0) return false;
    PyObject* callback = on ? PyCFunction_New(event.method, nullptr) : Py_NewRef(Py_None);
    if (callback == nullptr) return false;
    const bool done = monitoring.Do("register_callback", "ilO", tool, number, callback);
    Py_DECREF(callback);
    if (!done) return false;
  }
  return true;
}

// Enables the events that the windows need now.
bool SetEvents(const Monitoring& monitoring) {
  long everywhere = 0, local = 0;
  for (const Event& event : kEvents) {
    const long number = monitoring.EventNumber(event.name);
    if (number == 0) return false;
    const bool for_modules = windows_of_modules != 0 && event.is_of_modules;
    if (windows_of_all != 0 || (for_modules && !event.is_local)) everywhere |= number;
    if (for_modules && event.is_local) local |= number;
  }
  const bool done = watched_code == nullptr || monitoring.Do("set_local_events", "iOl", tool, watched_code, local);
  return monitoring.Do("set_events", "il", tool, everywhere) && done;
}

void Count(const CallWindow& window, int change) {
  (window.all_calls() ? windows_of_all : windows_of_modules) += static_cast<uint32_t>(change);
}

// Disables events that no window needs, and frees the tool id if none is left.
void ReleaseEvents(const Monitoring& monitoring) {
  if (!SetEvents(monitoring)) PyErr_Clear();
  if (windows_of_all + windows_of_modules != 0) return;
  if (!SetCallbacks(monitoring, false)) PyErr_Clear();
  if (!monitoring.Do("free_tool_id", "i", tool)) PyErr_Clear();
  tool = -1;
  Py_CLEAR(watched_code);
}

}  // namespace

bool ArmEvents(CallWindow* window) {
  const Monitoring monitoring;
  const bool is_first = tool < 0;
  if (is_first && !TakeTool(monitoring)) return false;
  if (watched_code == nullptr && window->module_code != nullptr) {
    watched_code = reinterpret_cast<PyCodeObject*>(Py_NewRef(window->module_code));
  }
  window->is_armed = true;  // from here on DisarmEvents frees the tool id
  Count(*window, +1);
  return (!is_first || SetCallbacks(monitoring, true)) && SetEvents(monitoring);
}

void DisarmEvents(CallWindow* window) {
  if (!window->is_armed) return;
  window->is_armed = false;
  Count(*window, -1);
  ReleaseEvents(Monitoring());
}

void DisarmInChild() {
  if (tool < 0) return;
  windows_of_all = windows_of_modules = 0;
  ReleaseEvents(Monitoring());
}

}  // namespace opscope

#endif
