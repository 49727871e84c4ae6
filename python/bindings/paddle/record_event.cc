// The C part of opscope.paddle.RecordEvent. Paddle's Python code creates, enters and leaves one in each phase of a step
// (a data loader's fetch, an optimizer's step), which costs nine Python calls if the class is written in Python. Here
// `RecordEvent(name)` is built by the metaclass without running Python code. Derived classes and calls with wrong
// arguments take the normal path of type.__call__, with its error messages.
// SPDX-License-Identifier: Apache-2.0
#include <Python.h>
#include <structmember.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "python/bindings/paddle/profiler_use.h"
#include "python/bindings/paddle/range_object.h"
#include "python/bindings/paddle/source.h"

namespace opscope::python {
namespace {

struct RecordEvent : RangeObject {
  bool has_begun;
};

// Objects of Python that RecordEvent uses: set once by set_record_event(), never released.
struct Known {
  PyObject* type = nullptr;          // RecordEvent itself
  PyObject* flags = nullptr;         // __dict__ of the module with Paddle's flag
  PyObject* is_used = nullptr;       // name of the flag: a str
  PyObject* default_type = nullptr;  // the default event type
  PyObject* number = nullptr;        // function of other event types: their number, None if unknown
  std::vector<std::pair<PyObject*, uint32_t>> numbers;
};
Known& known = *new Known;

RecordEvent* Self(PyObject* object) {
  return reinterpret_cast<RecordEvent*>(object);
}

constexpr long kNotRecorded = -1, kFailed = -2;

long NumberOf(PyObject* event_type) {
  for (const auto& [object, number] : known.numbers) {
    if (object == event_type) return static_cast<long>(number);
  }
  PyObject* found = PyObject_CallFunctionObjArgs(known.number, event_type, nullptr);
  if (found == nullptr) return kFailed;
  const long number = found == Py_None ? kNotRecorded : PyLong_AsLong(found);
  Py_DECREF(found);
  return number == -1 && PyErr_Occurred() != nullptr ? kFailed : number;
}

// Returns false with a Python exception set.
bool Begin(RecordEvent* self) {
  const int is_used = IsProfilerUsed();
  if (is_used <= 0) return is_used == 0;
  if (self->name == nullptr || self->event_type == nullptr) {
    PyErr_SetString(PyExc_AttributeError, "the RecordEvent was not initialised");
    return false;
  }
  const long number = NumberOf(self->event_type);
  if (number == kFailed) return false;
  self->has_begun = number != kNotRecorded;
  if (self->has_begun) return OpenRange(self, static_cast<uint32_t>(number));
  CloseRange(self);
  return true;
}

bool IsPlain(PyObject* object) {
  return reinterpret_cast<PyObject*>(Py_TYPE(object)) == known.type;
}

PyObject* EventBegin(PyObject* object, PyObject*) {
  if (!Begin(Self(object))) return nullptr;
  Py_RETURN_NONE;
}
// An object of a derived class calls that class's begin and end.
PyObject* EventEnter(PyObject* object, PyObject*) {
  if (IsPlain(object)) {
    if (!Begin(Self(object))) return nullptr;
  } else {
    PyObject* done = PyObject_CallMethod(object, "begin", nullptr);
    if (done == nullptr) return nullptr;
    Py_DECREF(done);
  }
  return Py_NewRef(object);
}
// Returns None whatever end() returns: a true value would suppress the exception that leaves the block.
PyObject* EventExit(PyObject* object, PyObject* const*, Py_ssize_t) {
  if (IsPlain(object)) return EndRange(object, nullptr);
  PyObject* done = PyObject_CallMethod(object, "end", nullptr);
  if (done == nullptr) return nullptr;
  Py_DECREF(done);
  Py_RETURN_NONE;
}

// Paddle's attribute `event`: None before begin(), then an object with an `end()`.
PyObject* GetEvent(PyObject* object, void*) {
  PyObject* event = Self(object)->has_begun ? object : Py_None;
  return Py_NewRef(event);
}

PyMemberDef event_members[] = {
    {"name", T_OBJECT, offsetof(RangeObject, name), 0, "The label."},
    {"event_type", T_OBJECT, offsetof(RangeObject, event_type), 0, "Of TracerEventType."},
    {nullptr, 0, 0, 0, nullptr},
};
PyGetSetDef event_properties[] = {
    {"event", GetEvent, nullptr, "What has begun; None before.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMethodDef event_methods[] = {
    {"begin", EventBegin, METH_NOARGS, nullptr},
    {"end", EndRange, METH_NOARGS, nullptr},
    {"__enter__", EventEnter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(EventExit)), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot event_slots[] = {
    {Py_tp_doc, const_cast<char*>("What opscope.paddle.RecordEvent is made of.")},
    {Py_tp_new, reinterpret_cast<void*>(PyType_GenericNew)},
    {Py_tp_dealloc, reinterpret_cast<void*>(DeallocateRange)},
    {Py_tp_members, event_members},
    {Py_tp_getset, event_properties},
    {Py_tp_methods, event_methods},
    {0, nullptr},
};
PyType_Spec event_spec = {"opscope._core.paddle.RecordEventBase", static_cast<int>(sizeof(RecordEvent)), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, event_slots};

// RecordEvent(name) and RecordEvent(name, event_type), without a call of `__init__`.
PyObject* CallEventClass(PyObject* type, PyObject* args, PyObject* keywords) {
  static const auto kTypeCall = reinterpret_cast<ternaryfunc>(PyType_GetSlot(&PyType_Type, Py_tp_call));
  static const auto kAllocate = reinterpret_cast<allocfunc>(PyType_GetSlot(&PyType_Type, Py_tp_alloc));
  const Py_ssize_t count = PyTuple_Size(args);
  if (type != known.type || count < 1 || count > 2) return kTypeCall(type, args, keywords);
  PyObject* event_type = count == 2 ? PyTuple_GetItem(args, 1) : known.default_type;
  if (keywords != nullptr && PyDict_Size(keywords) != 0) {
    static PyObject* const kEventType = PyUnicode_InternFromString("event_type");
    PyObject* named = PyDict_GetItemWithError(keywords, kEventType);
    if (named == nullptr || count != 1 || PyDict_Size(keywords) != 1) {
      PyErr_Clear();
      return kTypeCall(type, args, keywords);
    }
    event_type = named;
  }
  PyObject* object = kAllocate(reinterpret_cast<PyTypeObject*>(type), 0);
  if (object == nullptr) return nullptr;
  SetReference(&Self(object)->name, PyTuple_GetItem(args, 0));
  SetReference(&Self(object)->event_type, event_type);
  return object;
}

PyType_Slot class_slots[] = {
    {Py_tp_doc, const_cast<char*>("The class of RecordEvent.")},
    {Py_tp_call, reinterpret_cast<void*>(CallEventClass)},
    {0, nullptr},
};
PyType_Spec class_spec = {"opscope._core.paddle.RecordEventClass", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                          class_slots};

void SetRecordEvent(nb::handle type, nb::handle flags, nb::str is_used, nb::handle default_type, nb::dict numbers,
                    nb::handle number) {
  const auto keep = [](PyObject** slot, nb::handle value) { SetReference(slot, value.ptr()); };
  keep(&known.flags, flags);
  keep(&known.is_used, is_used);
  keep(&known.default_type, default_type);
  keep(&known.number, number);
  known.numbers.clear();
  for (const auto& [kind, of_kind] : numbers)
    known.numbers.emplace_back(kind.inc_ref().ptr(), nb::cast<uint32_t>(of_kind));
  keep(&known.type, type);
}

}  // namespace

int IsProfilerUsed() {
  if (known.flags == nullptr) return 0;
  PyObject* used = PyDict_GetItemWithError(known.flags, known.is_used);
  if (used == Py_True) return 1;
  if (used == Py_False) return 0;
  if (used == nullptr) return PyErr_Occurred() != nullptr ? -1 : 0;
  return PyObject_IsTrue(used);
}

void BindPaddleRecordEvent(nb::module_& module) {
  PyObject* base = PyType_FromSpec(&event_spec);
  if (base == nullptr) nb::raise_python_error();
  module.attr("RecordEventBase") = nb::steal(base);
  const nb::object bases = nb::make_tuple(nb::handle(reinterpret_cast<PyObject*>(&PyType_Type)));
  PyObject* metaclass = PyType_FromSpecWithBases(&class_spec, bases.ptr());
  if (metaclass == nullptr) nb::raise_python_error();
  module.attr("RecordEventClass") = nb::steal(metaclass);
  module.def("set_record_event", &SetRecordEvent, nb::arg("type"), nb::arg("flags"), nb::arg("is_used"),
             nb::arg("usual"), nb::arg("numbers"), nb::arg("number"),
             "Tells what `type` needs: the dict in which `is_used` says whether a profiler is used, and event types.");
}

}  // namespace opscope::python
