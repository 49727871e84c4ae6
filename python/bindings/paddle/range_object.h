// Base of the Python types Range and RecordEvent: a name, an event type as the caller gave it, and the handle of the
// open range. An object has at most one open range, as in Paddle: opening it again closes the first one, and closing a
// closed one does nothing.
//
// Thread rule: with the GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "python/bindings/paddle/range_source.h"
#include "python/bindings/paddle/source.h"

namespace opscope::python {

struct RangeObject {
  PyObject ob_base;
  PyObject* name;        // null before __init__
  PyObject* event_type;  // null before __init__
  void* open;            // null while closed, and while no recording runs
};

inline void SetReference(PyObject** slot, PyObject* value) {
  Py_XINCREF(value);
  Py_XDECREF(std::exchange(*slot, value));
}

inline void CloseRange(RangeObject* self) {
  if (void* open = std::exchange(self->open, nullptr); open != nullptr) ExitRange(open);
}

// Returns false with a Python exception set. REQUIRES: the object has a name.
inline bool OpenRange(RangeObject* self, uint32_t type) {
  if (!PyUnicode_Check(self->name)) {
    PyErr_Format(PyExc_TypeError, "the name of a range must be a str, not %R", self->name);
    return false;
  }
  std::string keep;
  std::string_view name;
  if (!TextBytes(self->name, &keep, &name)) return false;
  CloseRange(self);
  self->open = EnterRange(name, type);
  return true;
}

// Methods and slots that both types share.
inline PyObject* EndRange(PyObject* object, PyObject* /*unused*/) {
  CloseRange(reinterpret_cast<RangeObject*>(object));
  Py_RETURN_NONE;
}

inline void DeallocateRange(PyObject* object) {
  auto* self = reinterpret_cast<RangeObject*>(object);
  CloseRange(self);
  Py_CLEAR(self->name);
  Py_CLEAR(self->event_type);
  PyTypeObject* type = Py_TYPE(object);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

}  // namespace opscope::python
