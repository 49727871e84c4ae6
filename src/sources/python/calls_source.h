// Calls of Python as a Source (opscope/source.h). A recording needs some of Python's objects (paths, classes, code
// objects), and a Source has no arguments for them. So there is one Source per set of such objects, and one without
// such objects, which the library exports. None is ever destroyed.
//
// Thread rule: the GIL is held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/source.h"
#include "sources/python/thread_calls.h"

namespace opscope {

// Python objects that a recording needs. A member that is null or of another type is not used.
struct PythonObjects {
  PyObject* path_prefixes = nullptr;   // a tuple of str
  PyObject* module_code = nullptr;     // the code of nn.Module.__call__
  PyObject* optimizer_code = nullptr;  // the code of an optimizer's step
  PyObject* tensor_types = nullptr;    // a tuple of classes
  PyObject* module_call = nullptr;     // the function that has module_code (module_calls.h)
  PyObject* module_inner = nullptr;    // the function that module_call calls
  PyObject* method_owner = nullptr;    // the class whose C methods method_calls.h watches
};

// The Source for these objects. Null with a Python exception.
const Source* CallsSourceOf(const PythonObjects& objects, HoldTensorsFunction hold);

// Sets the measured overhead of a call (Source::overhead), with or without the flag "calls":
// members of a JSON object. Throws std::bad_alloc.
void SetOverhead(const char* members_json, bool all_calls);

}  // namespace opscope
