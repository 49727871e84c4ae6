// Records calls of nn.Module where a window wants nothing else of Python, up to 3.11: the vectorcall of
// nn.Module.__call__ is ours during the recording, so the rest of the program costs nothing. (A profile function would
// be called for every call of Python and of C.) The function object and its code are unchanged. From 3.12 on
// sys.monitoring watches its code.
//
//   model(x)             the slot of type(model) uses the vectorcall of __call__: recorded there
//   model.__call__(x)    3.11 starts the frame without that vectorcall. __call__ passes its arguments on to _call_impl
//   as
//                        *args and **kwargs, for which Python always uses the vectorcall: recorded there, if Python
//                        itself started the calling frame
//
// For a thread that is inside a module when the window begins, its profile function reports the end of that call.
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
