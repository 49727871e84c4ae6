// Calls of modules where nothing else of Python is wanted, up to 3.11: the vectorcall of nn.Module.__call__ is ours for
// the time of the recording, so that the rest of the program costs nothing. (A profile function would be told of
// every call of Python and of C.) The function itself stays what it is: who looks at it, or at its code, sees no
// difference. From 3.12 on sys.monitoring watches that one code.
//
//   model(x)             type(model)'s slot calls the vectorcall of __call__: recorded there
//   model.__call__(x)    3.11 begins the frame without that vectorcall. It hands on to _call_impl by *args and
//                        **kwargs, for which Python always asks the vectorcall: recorded there, when the frame that
//                        calls is one that Python began by itself
//
// A thread that is within a module when the window begins is told of by its profile function, which sees that end.
//
// Thread rule: the GIL is held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sources/python/thread_calls.h"

namespace opscope {

#if OPSCOPE_HAS_MONITORING
inline bool CanWatchModuleCalls(const CallWindow&) {
  return false;
}
#else

// Whether modules are all that the window wants, and both functions are called as Python makes them, or by this
// already.
bool CanWatchModuleCalls(const CallWindow& window);
// REQUIRES: window->watches_module_calls. std::bad_alloc; then nothing is changed.
void WatchModuleCalls(CallWindow* window);
// The last window that watches them gives them back. May be called when nothing was watched.
void UnwatchModuleCalls(CallWindow* window);
// In the child of a fork.
void UnwatchModuleCallsInChild();

#endif

}  // namespace opscope
