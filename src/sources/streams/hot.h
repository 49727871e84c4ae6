// Attributes of functions on the hot path, which every event passes. They switch off the stack protector that
// CMakeLists.txt enables: the stack frames of these functions hold no array, or one whose index is checked.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__has_attribute) && __has_attribute(no_stack_protector)
#define OPSCOPE_UNGUARDED __attribute__((no_stack_protector))
#else
#define OPSCOPE_UNGUARDED
#endif
// Inlines everything that the function calls.
#define OPSCOPE_HOT __attribute__((flatten)) OPSCOPE_UNGUARDED
