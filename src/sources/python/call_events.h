// Where call events come from: a profile function per thread up to Python 3.11 (profile_function.cc), sys.monitoring
// from 3.12 on (monitoring.cc).
//
// Thread rule: the GIL is held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sources/python/thread_calls.h"

namespace opscope {

#if !OPSCOPE_HAS_MONITORING
// The profile function. kAtSites: for threads whose only window records call sites. Both instances handle every event,
// but each has the fast path for its own case.
template <bool kAtSites>
int OnEvent(PyObject* object, PyFrameObject* frame, int what, PyObject* argument);
inline bool IsOurs(Py_tracefunc function) {
  return function == &OnEvent<false> || function == &OnEvent<true>;
}
#endif

// Call this after BindThreads. False with a Python exception; then nothing is changed.
bool ArmEvents(CallWindow* window);
// Call this after UnbindThreads. Removes the events that no other window needs. No effect if the window is not armed.
void DisarmEvents(CallWindow* window);
// Call this in the child of a fork, after ForgetWindows.
void DisarmInChild();

}  // namespace opscope
