// Which tensors a module or an optimizer holds, told to the torch source when the object is first seen: its memory
// timeline tells by it what a tensor is for.
//
// Thread rule: as thread_calls.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sources/python/thread_calls.h"

namespace opscope {

// A gradient and the states stand behind their parameter. Both may run Python code. std::bad_alloc.
void HoldModule(const CallWindow& window, PyObject* module);
void HoldOptimizer(const CallWindow& window, PyObject* optimizer);

}  // namespace opscope
