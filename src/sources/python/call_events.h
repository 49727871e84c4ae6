// How Python tells of calls: the profile function of each thread up to 3.11 (profile_function.cc), sys.monitoring
// from 3.12 on (monitoring.cc).
//
// Thread rule: the GIL is held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sources/python/thread_calls.h"

namespace opscope {

#if !OPSCOPE_HAS_MONITORING
// The profile function: one for threads whose only window wants places, one for all others. Each does the other's work.
template <bool kAtPlaces>
int OnEvent(PyObject* object, PyFrameObject* frame, int what, PyObject* argument);
inline bool IsOurs(Py_tracefunc function) {
  return function == &OnEvent<false> || function == &OnEvent<true>;
}
#endif

// After BindThreads. False with a Python exception; then nothing is changed.
bool ArmEvents(CallWindow* window);
// After UnbindThreads: takes away what no window wants any more. May be called when nothing was armed.
void DisarmEvents(CallWindow* window);
// In the child of a fork, after ForgetWindows.
void DisarmInChild();

}  // namespace opscope
