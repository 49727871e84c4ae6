// Records calls of a class's C methods (a.add_(b)) in Python 3.11 without the profile function's events: while all
// calls are recorded, the vectorcall of each method is ours. With a profile function, Python creates a bound method for
// every such call, to pass it to the function, and calls the method with a tuple of its arguments. That was 850 of the
// 1,150 instructions that with_stack added to `a.add_(b)`; the two calls of the function were 90 of them. Python does
// so only for objects whose type is exactly that of methods. Therefore the methods get a type derived from it, which
// Python calls like any other object. The methods stay the same objects; their `type()` has the same name and is a
// subclass.
//
// The recorded calls are those that Python would have reported: calls by its own call instructions, in a thread with
// our profile function, but not calls by C code (map(), operator.methodcaller(), the type slots behind a + b). If the
// fast path does not fit, as with a second window or another profile function, the code makes the same events as
// Python.
//
// The remaining cost of with_stack for `a.add_(b)` is 550 instructions and two clock reads. CPython executes 355 of
// them: with a profile function it dispatches every instruction of the loop differently (264) and looks the method up
// again (91). This file and script_stack.h execute 195. Only a recording without a profile function would avoid them,
// but other C functions need it.
//
// Rejected: a frame evaluation function (PEP 523) does not see C functions and disables inlined Python calls; replacing
// methods in their class is visible to code that kept a reference to the old ones.
//
// Thread rule: the GIL is held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sources/python/thread_calls.h"

#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000
#define OPSCOPE_WATCHES_METHOD_CALLS 1
#else
#define OPSCOPE_WATCHES_METHOD_CALLS 0
#endif

namespace opscope {

#if OPSCOPE_WATCHES_METHOD_CALLS
// Watches the methods of window->method_owner, if the window records all calls. Throws std::bad_alloc, without effect.
void WatchMethodCalls(CallWindow* window);
// Ends the watch of the window; the last one restores the methods. No effect for a window without a watch.
void UnwatchMethodCalls(CallWindow* window);
// Call this in the child of a fork.
void UnwatchMethodCallsInChild();
#else
inline void WatchMethodCalls(CallWindow*) {
}
inline void UnwatchMethodCalls(CallWindow*) {
}
inline void UnwatchMethodCallsInChild() {
}
#endif

}  // namespace opscope
