// Marks of functions that every event passes. The guard of the stack (CMakeLists.txt) is left out of them: what they
// keep on the stack is either no array or written below a bound that is tested.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__has_attribute) && __has_attribute(no_stack_protector)
#define OPSCOPE_UNGUARDED __attribute__((no_stack_protector))
#else
#define OPSCOPE_UNGUARDED
#endif
// With all that it calls in one piece.
#define OPSCOPE_HOT __attribute__((flatten)) OPSCOPE_UNGUARDED
