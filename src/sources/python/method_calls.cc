// The derived type of methods has one vectorcall for each signature of C methods (no argument, one, many, with
// keywords). Each checks that Python's own call instruction is the caller, records the begin, calls Python's function,
// and records the end.
// SPDX-License-Identifier: Apache-2.0
#include "sources/python/method_calls.h"

#if OPSCOPE_WATCHES_METHOD_CALLS

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "sources/python/call_events.h"

namespace opscope {
namespace {

PyMethodDescrObject* MethodOf(PyObject* object) {
  return reinterpret_cast<PyMethodDescrObject*>(object);
}

// True if a call instruction of this frame calls the method; false if C code calls it. Then the frame's stack holds the
// method and, directly above it, the arguments. With a tuple of arguments (f(*args)) the arguments lie elsewhere, and
// below the method lies the null that marks a callable.
bool IsCalledBy(const _PyInterpreterFrame* frame, PyObject* method, PyObject* const* arguments) {
  PyObject* const* stack = frame->localsplus + frame->f_code->co_nlocalsplus;
  PyObject* const* end = stack + frame->f_code->co_stacksize;
  if (__builtin_expect(arguments > stack && arguments < end, 1)) return arguments[-1] == method;
  constexpr int kOpcode = 0xff, kCallFunctionEx = 142;
  if ((*frame->prev_instr & kOpcode) != kCallFunctionEx) return false;
  for (PyObject* const* at = stack + 1; at < end; ++at) {
    if (*at == method && at[-1] == nullptr) return true;
  }
  return false;
}

// Calls the profile function as Python does. False: it has raised an exception.
bool Report(PyThreadState* thread, int what, PyObject* argument) {
  if (thread->tracing != 0 || thread->c_profilefunc == nullptr) return true;
  PyFrameObject* frame = PyEval_GetFrame();
  if (frame == nullptr) return true;
  const int before = std::exchange(thread->tracing_what, what);
  PyThreadState_EnterTracing(thread);
  const int result = thread->c_profilefunc(thread->c_profileobj, frame, what, argument);
  PyThreadState_LeaveTracing(thread);
  thread->tracing_what = before;
  return result == 0;
}

// Reports the end of a call of `bound`. Takes ownership of the result and returns it; null with a Python exception.
PyObject* ReportEnd(PyThreadState* thread, PyObject* bound, PyObject* result) {
  if (result != nullptr) {
    if (Report(thread, PyTrace_C_RETURN, bound)) return result;
    Py_DECREF(result);
    return nullptr;
  }
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  if (Report(thread, PyTrace_C_EXCEPTION, bound)) {
    PyErr_Restore(type, value, traceback);
    return nullptr;
  }
  for (PyObject* object : {type, value, traceback})
    Py_XDECREF(object);
  return nullptr;
}

// New reference; null with a Python exception.
PyObject* Bind(PyObject* method, PyObject* self) {
  return PyMethodDescr_Type.tp_descr_get(method, self, reinterpret_cast<PyObject*>(Py_TYPE(self)));
}

// As Python itself calls a method while a profile function is set.
__attribute__((noinline)) PyObject* CallAndReport(PyThreadState* thread, PyObject* method, PyObject* const* arguments,
                                                  size_t count, PyObject* names) {
  PyObject* bound = Bind(method, arguments[0]);
  if (bound == nullptr) return nullptr;
  PyObject* result = nullptr;
  if (Report(thread, PyTrace_C_CALL, bound)) {
    const auto others = static_cast<size_t>(PyVectorcall_NARGS(count) - 1);
    result = ReportEnd(thread, bound, PyObject_Vectorcall(bound, arguments + 1, others, names));
  }
  Py_DECREF(bound);
  return result;
}

__attribute__((noinline)) PyObject* ReportEndSlow(PyThreadState* thread, PyObject* method, PyObject* self,
                                                  PyObject* result) {
  PyObject* bound = nullptr;
  {
    const SavedException saved;
    bound = Bind(method, self);
    if (bound == nullptr) PyErr_Clear();
  }
  if (bound == nullptr) return result;
  result = ReportEnd(thread, bound, result);
  Py_DECREF(bound);
  return result;
}

// The fast path: our profile function is set and would only record into one window, so these two do it. kAtSites: as
// FastBindingOfThisThread. Null: nothing was done.
template <bool kAtSites>
inline const Binding* TryBegin(const PyThreadState* thread, const _PyInterpreterFrame* frame, PyObject* method,
                               uint64_t identity) {
  if (OPSCOPE_UNLIKELY(thread->c_profilefunc != &OnEvent<kAtSites>)) return nullptr;
  const Binding* fast = FastBindingOfThisThread<kAtSites>();
  const bool has_begun =
      fast != nullptr && frame->frame_obj != nullptr &&
      TryFastEnter<kAtSites>(fast, MethodOf(method)->d_method, identity, CallKind::kFunction, [=] { return frame; });
  return has_begun ? fast : nullptr;
}
// fast, epoch: the result of TryBegin, and calls_epoch at that time. In the same epoch the binding is still this
// thread's.
template <bool kAtSites>
inline bool TryEnd(const PyThreadState* thread, const Binding* fast, uint64_t epoch, uint64_t identity) {
  return __builtin_expect(thread->c_profilefunc == &OnEvent<kAtSites>, 1) &&
         __builtin_expect(epoch == calls_epoch, 1) && IsRecording(fast) &&
         TryFastExit(fast, identity, CallKind::kFunction);
}

__attribute__((noinline)) PyObject* CallSlow(PyThreadState* thread, const _PyInterpreterFrame* frame,
                                             vectorcallfunc of_python, PyObject* method, PyObject* const* arguments,
                                             size_t count, PyObject* names) {
  if (thread->c_profilefunc == nullptr) return of_python(method, arguments, count, names);
  const uint64_t identity = FrameIdentity(frame->frame_obj) | kCallOfFunction;
  const uint64_t epoch = calls_epoch;
  const Binding* fast = TryBegin<true>(thread, frame, method, identity);
  if (fast == nullptr) return CallAndReport(thread, method, arguments, count, names);
  PyObject* result = of_python(method, arguments, count, names);
  if (TryEnd<true>(thread, fast, epoch, identity)) return result;
  return ReportEndSlow(thread, method, arguments[0], result);
}

// Whether `object` is an instance of the type. Most are instances of a direct subclass, such as torch.Tensor.
bool IsOf(PyObject* object, PyTypeObject* type) {
  return __builtin_expect(Py_TYPE(object)->tp_base == type, 1) || PyObject_TypeCheck(object, type);
}

// Python's vectorcalls of C methods, one for each signature that a C method may have.
constexpr size_t kWays = 8;
constinit vectorcallfunc ways[kWays] = {};
template <size_t Way>
PyObject* Call(PyObject* method, PyObject* const* arguments, size_t count, PyObject* names) {
  PyThreadState* thread = _PyThreadState_UncheckedGet();
  const _PyInterpreterFrame* frame = thread->cframe->current_frame;
  const bool is_reported = thread->cframe->use_tracing != 0 && PyVectorcall_NARGS(count) > 0 && frame != nullptr &&
                           IsCalledBy(frame, method, arguments) && IsOf(arguments[0], PyDescr_TYPE(method));
  if (!is_reported) return ways[Way](method, arguments, count, names);
  const uint64_t identity = FrameIdentity(frame->frame_obj) | kCallOfFunction;
  const uint64_t epoch = calls_epoch;
  const Binding* fast = TryBegin<false>(thread, frame, method, identity);
  if (OPSCOPE_UNLIKELY(fast == nullptr)) {
    return CallSlow(thread, frame, ways[Way], method, arguments, count, names);
  }
  PyObject* result = ways[Way](method, arguments, count, names);
  if (__builtin_expect(TryEnd<false>(thread, fast, epoch, identity), 1)) return result;
  return ReportEndSlow(thread, method, arguments[0], result);
}

template <size_t... Way>
constexpr std::array<vectorcallfunc, kWays> AllCalls(std::index_sequence<Way...>) {
  return {&Call<Way>...};
}
constexpr std::array<vectorcallfunc, kWays> kCalls = AllCalls(std::make_index_sequence<kWays>());

// Null: Python has more of them than kWays.
vectorcallfunc CallFor(vectorcallfunc of_python) {
  for (size_t way = 0; way < kWays; ++way) {
    if (ways[way] == nullptr) ways[way] = of_python;
    if (ways[way] == of_python) return kCalls[way];
  }
  return nullptr;
}

// Null with a Python exception.
PyTypeObject* WatchedType() {
  static PyTypeObject* type = [] {
    static PyTypeObject made = {};
    Py_SET_REFCNT(&made, 1);
    made.tp_name = PyMethodDescr_Type.tp_name;
    made.tp_base = &PyMethodDescr_Type;
    made.tp_basicsize = PyMethodDescr_Type.tp_basicsize;
    made.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
    made.tp_vectorcall_offset = PyMethodDescr_Type.tp_vectorcall_offset;
    made.tp_call = PyMethodDescr_Type.tp_call;
    made.tp_dealloc = PyMethodDescr_Type.tp_dealloc;
    made.tp_traverse = PyMethodDescr_Type.tp_traverse;
    made.tp_descr_get = PyMethodDescr_Type.tp_descr_get;
    // Without the type's __doc__, which would hide that of the methods.
    const bool is_made = PyType_Ready(&made) == 0 && PyDict_DelItemString(made.tp_dict, "__doc__") == 0;
    if (is_made) PyType_Modified(&made);
    return is_made ? &made : nullptr;
  }();
  return type;
}

struct WatchedMethods {
  PyTypeObject* owner = nullptr;              // strong
  std::vector<PyMethodDescrObject*> methods;  // strong
  uint32_t windows = 0;
};
// The methods of one class, which never changes. Never destroyed: calls come until the interpreter ends.
WatchedMethods& TheWatched() {
  static auto& watched = *new WatchedMethods;
  return watched;
}

void Collect(PyTypeObject* owner) {
  std::vector<PyMethodDescrObject*> methods;
  methods.reserve(static_cast<size_t>(PyDict_GET_SIZE(owner->tp_dict)));
  PyObject *name = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(owner->tp_dict, &at, &name, &value) != 0;) {
    if (!Py_IS_TYPE(value, &PyMethodDescr_Type) || PyDescr_TYPE(value) != owner) continue;
    Py_INCREF(value);
    methods.push_back(MethodOf(value));
  }
  Py_INCREF(owner);
  TheWatched() = {owner, std::move(methods), 0};
}

void RestoreMethods() {
  for (PyMethodDescrObject* method : TheWatched().methods) {
    if (!Py_IS_TYPE(method, WatchedType())) continue;
    for (size_t way = 0; way < kWays; ++way) {
      if (method->vectorcall == kCalls[way]) method->vectorcall = ways[way];
    }
    Py_SET_TYPE(method, &PyMethodDescr_Type);
  }
}

}  // namespace

void WatchMethodCalls(CallWindow* window) {
  if (!window->all_calls() || window->method_owner == nullptr) return;
  if (WatchedType() == nullptr) return PyErr_Clear();
  WatchedMethods& watched = TheWatched();
  if (watched.owner == nullptr) Collect(window->method_owner);
  if (watched.owner != window->method_owner) return;
  window->watches_methods = true;
  if (watched.windows++ != 0) return;
  for (PyMethodDescrObject* method : watched.methods) {
    const vectorcallfunc ours = Py_IS_TYPE(method, &PyMethodDescr_Type) ? CallFor(method->vectorcall) : nullptr;
    if (ours == nullptr) continue;
    method->vectorcall = ours;
    Py_SET_TYPE(method, WatchedType());
  }
}

void UnwatchMethodCalls(CallWindow* window) {
  if (!std::exchange(window->watches_methods, false)) return;
  if (--TheWatched().windows == 0) RestoreMethods();
}

void UnwatchMethodCallsInChild() {
  TheWatched().windows = 0;
  RestoreMethods();
}

}  // namespace opscope

#endif
