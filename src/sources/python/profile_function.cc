// Python 3.10 and 3.11: each thread has one profile function. Ours replaces the program's and calls it with every
// event. The program's profile object stays in the thread's state, so sys.getprofile() returns it as before.
// SPDX-License-Identifier: Apache-2.0
#include "sources/python/call_events.h"
#include "sources/python/method_calls.h"
#include "sources/python/module_calls.h"

#if !OPSCOPE_HAS_MONITORING

#include <new>

namespace opscope {
namespace {

#if PY_VERSION_HEX >= 0x030b0000
constexpr uint8_t kTracing = 255;
#else
constexpr int kTracing = 1;
#endif

void SetFunction(PyThreadState* thread, Py_tracefunc function) {
  thread->c_profilefunc = function;
  const bool is_traced = thread->c_tracefunc != nullptr || function != nullptr;
  // While a thread is within a profile or trace function this is 0, and is set when that returns.
  if (thread->tracing == 0) thread->cframe->use_tracing = is_traced ? kTracing : 0;
}

inline void Dispatch(Binding* binding, PyFrameObject* frame, int what, PyObject* argument) {
  switch (what) {
    case PyTrace_CALL:
      return EnterFrame(binding, CodeOf(frame), frame);
    case PyTrace_RETURN:
      return ExitFrame(binding, CodeOf(frame), frame);
    case PyTrace_C_CALL:
      return EnterFunction(binding, argument, nullptr, frame);
    case PyTrace_C_RETURN:
    case PyTrace_C_EXCEPTION:
      return ExitFunction(binding, frame);
    default:
      return;
  }
}

__attribute__((noinline)) int ReportAll(const ThreadCalls* calls, PyObject* object, PyFrameObject* frame, int what,
                                        PyObject* argument) {
  VisitBindings([=](Binding* binding) {
    if (binding->gets_events) Dispatch(binding, frame, what, argument);
  });
  if (calls->previous == nullptr) return 0;
  return calls->previous(object, frame, what, argument);
}

// The fast path: one window, no other profile function, and a name that is already in the chunk.
template <bool kAtSites>
__attribute__((always_inline)) inline bool TryFast(PyFrameObject* frame, int what, PyObject* argument) {
  const Binding* binding = FastBindingOfThisThread<kAtSites>();
  if (OPSCOPE_UNLIKELY(binding == nullptr)) return false;
  const uint64_t identity = FrameIdentity(frame);
  if (what == PyTrace_CALL) {
    const PyCodeObject* code = CodeOf(frame);
    const bool is_module = code == binding->window->module_code;
    const void* key = OPSCOPE_UNLIKELY(is_module) ? FirstArgument(frame) : CallKey(code, frame);
    return TryFastEnter<kAtSites>(binding, key, identity, is_module ? CallKind::kModule : CallKind::kPython,
                                  [=] { return CallerOf(frame); });
  }
  if (what == PyTrace_C_CALL) {
    if (OPSCOPE_UNLIKELY(!PyCFunction_CheckExact(argument))) return false;
    const void* key = reinterpret_cast<PyCFunctionObject*>(argument)->m_ml;
    return TryFastEnter<kAtSites>(binding, key, identity | kCallOfFunction, CallKind::kFunction,
                                  [=] { return AsCalling(frame); });
  }
  if (what == PyTrace_RETURN) return TryFastExit(binding, identity, CallKind::kPython);
  return TryFastExit(binding, identity | kCallOfFunction, CallKind::kFunction);  // C functions have no other event
}

template <bool kAtSites>
__attribute__((noinline)) int OnSlowEvent(PyObject* object, PyFrameObject* frame, int what, PyObject* argument) {
  if (TryFast<!kAtSites>(frame, what, argument)) return 0;
  ThreadCalls* calls = CallsOfThisThread();
  if (calls->only_code != nullptr) {  // only modules are recorded: nearly every event can be ignored
    const bool is_of_frame = what == PyTrace_CALL || what == PyTrace_RETURN;
    if (!is_of_frame || CodeOf(frame) != calls->only_code) return 0;
  }
  return ReportAll(calls, object, frame, what, argument);
}

}  // namespace

template <bool kAtSites>
int OnEvent(PyObject* object, PyFrameObject* frame, int what, PyObject* argument) {
  if (__builtin_expect(TryFast<kAtSites>(frame, what, argument), 1)) return 0;
  return OnSlowEvent<kAtSites>(object, frame, what, argument);
}
template int OnEvent<false>(PyObject* object, PyFrameObject* frame, int what, PyObject* argument);
template int OnEvent<true>(PyObject* object, PyFrameObject* frame, int what, PyObject* argument);

bool ArmEvents(CallWindow* window) {
  try {
    if (window->watches_module_calls) WatchModuleCalls(window);
    WatchMethodCalls(window);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    return false;
  }
  window->is_armed = true;
  VisitThreads([](PyThreadState* thread) {
    ThreadCalls* calls = FindCalls(thread->id);
    if (calls == nullptr || !GetsEvents(calls) || IsOurs(thread->c_profilefunc)) return;
    calls->previous = thread->c_profilefunc;
    FindFastBindings(calls);
    SetFunction(thread, calls->fast_at_sites != nullptr ? &OnEvent<true> : &OnEvent<false>);
  });
  return true;
}

void DisarmEvents(CallWindow* window) {
  if (!window->is_armed) return;
  window->is_armed = false;
  UnwatchModuleCalls(window);
  UnwatchMethodCalls(window);
  VisitThreads([&](PyThreadState* thread) {
    const ThreadCalls* calls = FindCalls(thread->id);
    if (calls == nullptr || calls->last_unbound != window->generation) return;
    if (!IsOurs(thread->c_profilefunc)) {
      ++window->replaced;
    } else if (!GetsEvents(calls)) {
      SetFunction(thread, calls->previous);
    }
  });
}

void DisarmInChild() {
  UnwatchModuleCallsInChild();
  UnwatchMethodCallsInChild();
  VisitThreads([](PyThreadState* thread) {
    const ThreadCalls* calls = FindCalls(thread->id);
    if (calls != nullptr && IsOurs(thread->c_profilefunc)) SetFunction(thread, calls->previous);
  });
}

}  // namespace opscope

#endif
