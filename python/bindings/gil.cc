// Reacquires the GIL at the end of a GilRelease. During the finalisation of the interpreter, this must not let Python's
// stack unwinding reach nanobind's frames; see bindings.h.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "bindings.h"

namespace opscope::python {

GilRelease::~GilRelease() {
  try {
    PyEval_RestoreThread(state_);
  } catch (...) {  // not an exception but the unwinding of pthread_exit, which must stop here
    for (;;)
      pause();
  }
}

}  // namespace opscope::python
