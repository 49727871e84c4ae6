// Records calls of nn.Module if a window records nothing else of Python, up to 3.11: during the recording the
// vectorcall of nn.Module.__call__ is ours, so all other calls have no overhead. (Python would call a profile function
// for every call.) The function object and its code are unchanged. From 3.12 on sys.monitoring watches its code.
//
//   model(x)             the slot of type(model) uses the vectorcall of __call__: recorded there
//   model.__call__(x)    3.11 starts the frame without that vectorcall. __call__ passes its arguments on to _call_impl
//                        as *args and **kwargs, for which Python always uses the vectorcall: recorded there, if Python
//                        itself started the calling frame
//
// If a thread is inside a module when the window begins, the profile function reports the end of that call.
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

// True if the window records only modules, and both functions have Python's own vectorcall or already ours.
bool CanWatchModuleCalls(const CallWindow& window);
// REQUIRES: window->watches_module_calls. Throws std::bad_alloc, without effect.
void WatchModuleCalls(CallWindow* window);
// Ends the watch of the window; the last one restores the functions. No effect for a window without a watch.
void UnwatchModuleCalls(CallWindow* window);
// Call this in the child of a fork.
void UnwatchModuleCallsInChild();

#endif

}  // namespace opscope
