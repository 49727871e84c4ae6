// Where call events come from: a profile function per thread up to Python 3.11 (profile_function.cc), sys.monitoring
// from 3.12 on (monitoring.cc).
//
// Thread rule: the GIL is held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sources/python/thread_calls.h"

namespace opscope {

#if !OPSCOPE_HAS_MONITORING
// The profile function, with kAtSites for threads whose only window wants call sites. Both handle every event; each has
// the fast path of its own case.
template <bool kAtSites>
int OnEvent(PyObject* object, PyFrameObject* frame, int what, PyObject* argument);
inline bool IsOurs(Py_tracefunc function) {
  return function == &OnEvent<false> || function == &OnEvent<true>;
}
#endif

// After BindThreads. False with a Python exception; then nothing is changed.
bool ArmEvents(CallWindow* window);
// After UnbindThreads: removes the events that no window wants any more. May be called when nothing was armed.
void DisarmEvents(CallWindow* window);
// In the child of a fork, after ForgetWindows.
void DisarmInChild();

}  // namespace opscope
