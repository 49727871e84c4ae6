// Threads that come back for the GIL while the interpreter ends (bindings.h says why that needs care).
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "bindings.h"

namespace opscope::python {

GilRelease::~GilRelease() {
  try {
    PyEval_RestoreThread(state_);
  } catch (...) {  // no exception: the unwinding of pthread_exit, which must not go on from here
    for (;;)
      pause();
  }
}

}  // namespace opscope::python
