// Calls of a class's C methods (a.add_(b)) where all calls are recorded, in 3.11: the vectorcall of each method is ours
// for the time of the recording. While a profile function is there, Python makes an object of the method and its `self`
// for every such call, for the function to look at, and calls that by a tuple of its arguments: 850 of 1,150
// instructions that with_stack added to `a.add_(b)`, 90 of them the two calls of the function. It does so for what has
// exactly the type of methods, so these are given one that is derived from it, which is called like any other object.
// The methods stay where and what they are; their `type()` has the same name and is a subclass.
//
// Recorded is what Python would have told: what its own instructions for calls call, in a thread with our profile
// function, but for what C code calls (map(), operator.methodcaller(), the slots of a + b). Where the usual way does
// not fit, as with a second window or another profile function, the events are made as Python makes them.
//
// What is left of with_stack for `a.add_(b)` are 550 instructions and two readings of the clock: 355 are CPython's,
// which while a profile function is there takes each instruction of the loop by another way (264) and looks the method
// up anew (91); 195 are those of this file and of the script's place (script_stack.h). They end only where no profile
// function is, which all other C functions need.
//
// Others were looked at: a frame evaluation function (PEP 523) is told of no C function, and ends that a call of
// Python's goes on in the same C frame; replacing methods in their class is seen by who keeps them.
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
// Of window->method_owner, where the window wants all calls. std::bad_alloc; then nothing is changed.
void WatchMethodCalls(CallWindow* window);
// The last window that watches them gives them back. May be called when nothing was watched.
void UnwatchMethodCalls(CallWindow* window);
// In the child of a fork.
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
