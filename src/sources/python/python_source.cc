// The extension module of this library: source(...) takes Python's objects that a recording needs and returns the
// address of the Source for them (calls_source.h).
// SPDX-License-Identifier: Apache-2.0
#include <new>

#include "sources/python/calls_source.h"

namespace opscope {
namespace {

PyObject* SourceOf(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"path_prefixes", "module_code",  "optimizer_code", "tensor_types", "hold",
                                "module_call",   "module_inner", "method_owner",   nullptr};
  unsigned long long hold = 0;
  PythonObjects objects;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O!OOO!KOOO", const_cast<char**>(names), &PyTuple_Type,
                                   &objects.path_prefixes, &objects.module_code, &objects.optimizer_code, &PyTuple_Type,
                                   &objects.tensor_types, &hold, &objects.module_call, &objects.module_inner,
                                   &objects.method_owner)) {
    return nullptr;
  }
  const Source* source = CallsSourceOf(objects, reinterpret_cast<HoldTensorsFunction>(hold));
  return source != nullptr ? PyCapsule_New(const_cast<Source*>(source), kSourceCapsule, nullptr) : nullptr;
}

PyObject* TakeOverhead(PyObject*, PyObject* arguments) {
  const char* members = nullptr;
  int all_calls = 0;
  if (!PyArg_ParseTuple(arguments, "sp", &members, &all_calls)) return nullptr;
  try {
    SetOverhead(members, all_calls != 0);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
  Py_RETURN_NONE;
}

PyMethodDef module_methods[] = {
    {"source", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&SourceOf)), METH_VARARGS | METH_KEYWORDS,
     "A capsule with the Source that knows of these objects; the same one for equal ones."},
    {"report_overhead", &TakeOverhead, METH_VARARGS,
     "What calls cost, where all of them are recorded or modules alone: members of a JSON object, for all recordings "
     "to come."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef module_definition = {PyModuleDef_HEAD_INIT,
                                 "opscope_calls",
                                 "Calls of Python into the recorder.",
                                 -1,
                                 module_methods,
                                 nullptr,
                                 nullptr,
                                 nullptr,
                                 nullptr};

}  // namespace
}  // namespace opscope

PyMODINIT_FUNC PyInit_opscope_calls() {
  return PyModule_Create(&opscope::module_definition);
}
