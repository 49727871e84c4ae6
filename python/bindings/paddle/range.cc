// `_core.paddle.Range(name, type)`: a range with any of Paddle's event types, given as its number. Unlike RecordEvent,
// it ignores Paddle's flag that a profiler is in use.
// SPDX-License-Identifier: Apache-2.0
#include <Python.h>

#include <cstdint>

#include "python/bindings/paddle/range_object.h"
#include "python/bindings/paddle/range_source.h"
#include "python/bindings/paddle/source.h"

namespace opscope::python {
namespace {

struct Range : RangeObject {
  uint32_t type;  // number of the PaddleEventType
};

Range* Self(PyObject* object) {
  return reinterpret_cast<Range*>(object);
}

// Returns false with a Python exception set.
bool Begin(Range* self) {
  if (range_source == nullptr) return true;
  if (self->name == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "the range was not initialised");
    return false;
  }
  return OpenRange(self, self->type);
}

int SetName(PyObject* object, PyObject* value, void*) {
  if (value == nullptr || !PyUnicode_Check(value)) {
    PyErr_Format(PyExc_TypeError, "the name of a range must be a str, not %R", value == nullptr ? Py_None : value);
    return -1;
  }
  SetReference(&Self(object)->name, value);
  return 0;
}

int SetEventType(PyObject* object, PyObject* value, void*) {
  if (value == nullptr) {
    PyErr_SetString(PyExc_AttributeError, "the type of a range cannot be deleted");
    return -1;
  }
  PyObject* number = PyNumber_Long(value);  // also accepts a member of an enum
  if (number == nullptr) return -1;
  const long type = PyLong_AsLong(number);
  Py_DECREF(number);
  if (type == -1 && PyErr_Occurred() != nullptr) return -1;
  if (type < 0 || type >= static_cast<long>(kPaddleEventTypes)) {
    PyErr_Format(PyExc_ValueError, "Paddle has no event type %ld", type);
    return -1;
  }
  SetReference(&Self(object)->event_type, value);
  Self(object)->type = static_cast<uint32_t>(type);
  return 0;
}

PyObject* GetName(PyObject* object, void*) {
  return Py_NewRef(Self(object)->name == nullptr ? Py_None : Self(object)->name);
}
PyObject* GetEventType(PyObject* object, void*) {
  return Py_NewRef(Self(object)->event_type == nullptr ? Py_None : Self(object)->event_type);
}

int RangeInit(PyObject* object, PyObject* args, PyObject* keywords) {
  static const char* const kNames[] = {"name", "event_type", nullptr};
  PyObject* name = nullptr;
  PyObject* type = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:Range", const_cast<char**>(kNames), &name, &type)) {
    return -1;
  }
  if (SetName(object, name, nullptr) != 0) return -1;
  if (type != nullptr) return SetEventType(object, type, nullptr);
  Self(object)->type = static_cast<uint32_t>(PaddleEventType::kPythonUserDefined);
  PyObject* number = PyLong_FromUnsignedLong(Self(object)->type);
  if (number == nullptr) return -1;
  SetReference(&Self(object)->event_type, number);
  Py_DECREF(number);
  return 0;
}

PyObject* RangeBegin(PyObject* object, PyObject*) {
  if (!Begin(Self(object))) return nullptr;
  Py_RETURN_NONE;
}
PyObject* RangeEnter(PyObject* object, PyObject*) {
  if (!Begin(Self(object))) return nullptr;
  return Py_NewRef(object);
}
// __exit__(exc_type, exc_value, traceback); the arguments are ignored.
PyObject* RangeExit(PyObject* object, PyObject* const*, Py_ssize_t) {
  return EndRange(object, nullptr);
}

PyGetSetDef range_properties[] = {
    {"name", GetName, SetName, "The label.", nullptr},
    {"event_type", GetEventType, SetEventType, "A number of TracerEventType, or what has one.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef range_methods[] = {
    {"begin", RangeBegin, METH_NOARGS, nullptr},
    {"end", EndRange, METH_NOARGS, nullptr},
    {"__enter__", RangeEnter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(RangeExit)), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot range_slots[] = {
    {Py_tp_doc, const_cast<char*>("Range(name, event_type=14)\n--\n\nA range of the program.")},
    {Py_tp_init, reinterpret_cast<void*>(RangeInit)},
    {Py_tp_dealloc, reinterpret_cast<void*>(DeallocateRange)},
    {Py_tp_getset, range_properties},
    {Py_tp_methods, range_methods},
    {0, nullptr},
};

PyType_Spec range_spec = {
    "opscope._core.paddle.Range",
    static_cast<int>(sizeof(Range)),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    range_slots,
};

}  // namespace

void BindPaddleRange(nb::module_& module) {
  PyObject* type = PyType_FromSpec(&range_spec);
  if (type == nullptr) nb::raise_python_error();
  module.attr("Range") = nb::steal(type);
  module.def("set_range_source", [](const LoadedPaddleSource& loaded) { range_source = loaded.table; });
}

}  // namespace opscope::python
