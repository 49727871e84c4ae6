// A switch for callgrind, for Python.
// SPDX-License-Identifier: Apache-2.0
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif

// Under `valgrind --tool=callgrind --instr-atstart=no`: instructions count from here on, or no more. False: this
// was built without valgrind's header.
extern "C" __attribute__((visibility("default"))) int opscope_callgrind_count([[maybe_unused]] int on) {
#ifdef CALLGRIND_START_INSTRUMENTATION
  if (on != 0) {
    CALLGRIND_START_INSTRUMENTATION;
  } else {
    CALLGRIND_STOP_INSTRUMENTATION;
  }
  return 1;
#else
  return 0;
#endif
}
