// The C type `Interval`: FunctionEvent.time_range.
// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/torch/function_events.h"

namespace opscope::python {
namespace {

struct Interval {
  PyObject ob_base;
  PyObject* event;  // null without an event, and after its values became the event's override
  double start;
  double end;
};

PyObject* interval_type = nullptr;

int IntervalInit(PyObject* object, PyObject* args, PyObject* keywords) {
  static const char* const kNames[] = {"start", "end", nullptr};
  auto* self = reinterpret_cast<Interval*>(object);
  return PyArg_ParseTupleAndKeywords(args, keywords, "dd:Interval", const_cast<char**>(kNames), &self->start,
                                     &self->end)
             ? 0
             : -1;
}

PyObject* IntervalGet(PyObject* object, void* which) {
  auto* self = reinterpret_cast<Interval*>(object);
  return PyFloat_FromDouble(which == nullptr ? self->start : self->end);
}

int IntervalSet(PyObject* object, PyObject* value, void* which) {
  auto* self = reinterpret_cast<Interval*>(object);
  const double number = value == nullptr ? -1 : PyFloat_AsDouble(value);
  if (value == nullptr) PyErr_SetString(PyExc_AttributeError, "cannot be deleted");
  if (PyErr_Occurred() != nullptr) return -1;
  (which == nullptr ? self->start : self->end) = number;
  if (self->event == nullptr) return 0;
  // Stores this interval as the event's attribute; otherwise the next access would create a new one.
  PyObject* event = self->event;
  self->event = nullptr;
  const int result = PyObject_SetAttrString(event, "time_range", object);
  Py_DECREF(event);
  return result;
}

PyObject* IntervalElapsed(PyObject* object, PyObject*) {
  auto* self = reinterpret_cast<Interval*>(object);
  return PyFloat_FromDouble(self->end - self->start);
}

PyObject* IntervalReduce(PyObject* object, PyObject*) {
  auto* self = reinterpret_cast<Interval*>(object);
  return Py_BuildValue("(O(dd))", Py_TYPE(object), self->start, self->end);
}

void IntervalDealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Py_CLEAR(reinterpret_cast<Interval*>(object)->event);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

// As `__class__` of events (function_event.cc).
PyObject* IntervalClass(PyObject* object, void*) {
  PyObject* torchs = event_classes.torchs_interval;
  PyObject* shown = torchs != nullptr ? torchs : reinterpret_cast<PyObject*>(Py_TYPE(object));
  return Py_NewRef(shown);
}

int end_tag = 0;
PyGetSetDef interval_getset[] = {
    {"start", IntervalGet, IntervalSet, "Microseconds since the recording began.", nullptr},
    {"end", IntervalGet, IntervalSet, "Microseconds since the recording began.", &end_tag},
    {"__class__", IntervalClass, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMethodDef interval_methods[] = {
    {"__dir__", NamesOfType, METH_NOARGS, nullptr},
    {"elapsed_us", IntervalElapsed, METH_NOARGS, "The length of the interval."},
    {"__reduce__", IntervalReduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot interval_slots[] = {
    {Py_tp_doc, const_cast<char*>("Interval(start, end)\n--\n\nA span of time in microseconds.")},
    {Py_tp_init, reinterpret_cast<void*>(IntervalInit)},
    {Py_tp_dealloc, reinterpret_cast<void*>(IntervalDealloc)},
    {Py_tp_getset, interval_getset},
    {Py_tp_methods, interval_methods},
    {0, nullptr},
};
PyType_Spec interval_spec = {
    "opscope._core.torch.Interval", static_cast<int>(sizeof(Interval)), 0, Py_TPFLAGS_DEFAULT, interval_slots,
};

}  // namespace

PyObject* MakeInterval(PyObject* event, double start, double end) {
  PyObject* made = PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(interval_type), 0);
  if (made == nullptr) return nullptr;
  Py_INCREF(event);
  auto* interval = reinterpret_cast<Interval*>(made);
  interval->event = event;
  interval->start = start;
  interval->end = end;
  return made;
}

void BindInterval(nb::module_& module) {
  interval_type = PyType_FromSpec(&interval_spec);
  if (interval_type == nullptr) nb::raise_python_error();
  module.attr("Interval") = nb::borrow(interval_type);
}

}  // namespace opscope::python
