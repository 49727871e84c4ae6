// Reports to the torch source which tensors a module or an optimizer references, when the object is first seen. The
// memory timeline derives the category of a tensor from it (parameter, gradient, optimizer state).
//
// Thread rule: the GIL is held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sources/python/thread_calls.h"

namespace opscope {

// A gradient and optimizer states follow their parameter. Both functions may run Python code and throw std::bad_alloc.
void ReportModuleTensors(const CallWindow& window, PyObject* module);
void ReportOptimizerTensors(const CallWindow& window, PyObject* optimizer);

}  // namespace opscope
