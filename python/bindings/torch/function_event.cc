// The C type `FunctionEvent`: 32 bytes, attributes read from columns or from what a program has set.
//
// A Python class would need a dictionary per event and a pass that fills every attribute. The columns hold the values
// that programs have set (`overrides`); only if there are any, the rules for derived attributes (for example self time
// from children) run in Python.
// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/torch/function_events.h"

namespace opscope::python {
namespace {

using Event = EventObject;

Event* Self(PyObject* object) {
  return reinterpret_cast<Event*>(object);
}

PyTypeObject* event_type = nullptr;
std::vector<PyGetSetDef> event_getset;  // the type points into it: never changed after the type's creation

// Events that a program constructs itself have a dictionary and no columns. Raises AttributeError for them.
PyObject* NoColumns(const char* name) {
  PyErr_Format(PyExc_AttributeError, "'FunctionEvent' object has no attribute '%s'", name);
  return nullptr;
}

// Calls the rule of an attribute that is computed from other attributes; null without an exception if the attribute has
// no rule.
PyObject* Derived(PyObject* object, const char* name) {
  PyObject* rule = PyDict_GetItemString(event_classes.derived, name);
  return rule == nullptr ? nullptr : PyObject_CallFunctionObjArgs(rule, object, nullptr);
}

PyObject* GetAttribute(PyObject* object, void* closure) {
  const auto* property = static_cast<const EventProperty*>(closure);
  Event* self = Self(object);
  if (property->derived && (self->columns == nullptr || self->columns->overrides() != nullptr)) {
    PyObject* value = Derived(object, property->name);
    if (value != nullptr || PyErr_Occurred() != nullptr) return value;
  }
  if (self->columns == nullptr) return NoColumns(property->name);
  return ReadProperty(*property, *self->columns, self->row);
}

PyObject* GetTimeRange(PyObject* object, void*) {
  Event* self = Self(object);
  if (self->columns == nullptr) return NoColumns("time_range");
  const FunctionEvents& events = self->columns->events();
  return MakeInterval(object, events.start_us[self->row], events.end_us[self->row]);
}

// `event.__class__` is torch's class, so that isinstance() accepts the event as one: torch's own FunctionEventAvg.add
// and programs check that. A class that a program derives from ours keeps its own.
PyObject* GetClass(PyObject* object, void*) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  const bool is_ours = Py_TYPE(object) == event_type || type == event_classes.made;
  PyObject* shown = is_ours && event_classes.torchs_event != nullptr ? event_classes.torchs_event : type;
  return Py_NewRef(shown);
}

// A value that the program has set takes precedence over the computed one, also in the dictionary of an event without
// columns.
PyObject* GetConstructedAttribute(PyObject* object, PyObject* name) {
  PyObject* values = PyObject_GenericGetDict(object, nullptr);
  if (values == nullptr) PyErr_Clear();  // the class has __slots__ and no dictionary
  PyObject* value = values == nullptr ? nullptr : PyDict_GetItem(values, name);
  Py_XINCREF(value);
  Py_XDECREF(values);
  return value != nullptr ? value : PyObject_GenericGetAttr(object, name);
}

int SetConstructedAttribute(PyObject* object, PyObject* name, PyObject* value) {
  PyObject* values = PyObject_GenericGetDict(object, nullptr);
  if (values == nullptr) return -1;
  int result = 0;
  if (value != nullptr) {
    result = PyDict_SetItem(values, name, value);
  } else if ((result = PyDict_DelItem(values, name)) != 0) {
    PyErr_SetObject(PyExc_AttributeError, name);
  }
  Py_DECREF(values);
  return result;
}

PyObject* EventGetAttribute(PyObject* object, PyObject* name) {
  Event* self = Self(object);
  if (self->columns == nullptr) return GetConstructedAttribute(object, name);
  if (self->columns->overrides() != nullptr) {
    PyObject* value = self->columns->Override(self->row, name);
    if (value != nullptr) {
      return Py_NewRef(value);
    }
  }
  return PyObject_GenericGetAttr(object, name);
}

int EventSetAttribute(PyObject* object, PyObject* name, PyObject* value) {
  Event* self = Self(object);
  if (self->columns == nullptr) return SetConstructedAttribute(object, name, value);
  if (value == nullptr && self->columns->Override(self->row, name) == nullptr) {
    PyErr_SetObject(PyExc_AttributeError, name);
    return -1;
  }
  return self->columns->SetOverride(self->row, name, value) ? 0 : -1;
}

// FunctionEvent(...) in a program: returns an object of the Python class for such events, which __init__ then fills.
PyObject* EventNew(PyTypeObject* type, PyObject*, PyObject*) {
  if (type == event_type && event_classes.made != nullptr) type = reinterpret_cast<PyTypeObject*>(event_classes.made);
  return PyType_GenericAlloc(type, 0);
}

PyMethodDef event_methods[] = {
    {"__dir__", NamesOfType, METH_NOARGS, nullptr},
    {"_place", PlaceOfEvent, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot event_slots[] = {
    {Py_tp_getset, nullptr},  // first: filled in by BindFunctionEvent
    {Py_tp_doc, const_cast<char*>("One operator, user range or kernel of a recording; comes from profile.events().")},
    {Py_tp_new, reinterpret_cast<void*>(EventNew)},
    {Py_tp_dealloc, reinterpret_cast<void*>(DeallocateEvent)},
    {Py_tp_getattro, reinterpret_cast<void*>(EventGetAttribute)},
    {Py_tp_setattro, reinterpret_cast<void*>(EventSetAttribute)},
    {Py_tp_methods, event_methods},
    {0, nullptr},
};
PyType_Spec event_spec = {
    "opscope.torch.FunctionEvent",
    static_cast<int>(sizeof(Event)),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    event_slots,
};

}  // namespace

PyObject* ReadProperty(const EventProperty& property, EventColumns& columns, uint32_t row) {
  try {
    return property.read(columns, row);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  return nullptr;
}

void DeallocateEvent(PyObject* object) {
  Event* self = Self(object);
  EventColumns* columns = self->columns;
  PyTypeObject* type = Py_TYPE(object);
  if (columns != nullptr) columns->Forget(self->row);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  if (columns != nullptr) columns->Release();
  Py_DECREF(type);
}

PyObject* PlaceOfEvent(PyObject* object, PyObject*) {
  if (Self(object)->columns == nullptr) return NoColumns("_place");
  return Py_BuildValue("(OI)", Self(object)->columns->handle(), Self(object)->row);
}

PyObject* MakeEvent(EventColumns* columns, uint32_t row) {
  PyTypeObject* type = columns->events().as_collected ? kineto_event_type : event_type;
  PyObject* made = PyType_GenericAlloc(type, 0);
  if (made == nullptr) return nullptr;
  Self(made)->columns = columns;
  Self(made)->row = row;
  columns->Hold();
  return made;
}

std::optional<uint32_t> RowOf(PyObject* object, const EventColumns* columns) {
  if (Py_TYPE(object) != event_type || Self(object)->columns != columns) {
    return std::nullopt;
  }
  return Self(object)->row;
}

PyObject* NamesOfType(PyObject* object, PyObject*) {
  PyObject* names = PyObject_Dir(reinterpret_cast<PyObject*>(Py_TYPE(object)));
  if (names == nullptr) return nullptr;
  PyObject* members = PyObject_GenericGetAttr(object, nb::str("__dict__").ptr());
  if (members == nullptr) {
    PyErr_Clear();
    return names;
  }
  PyObject* keys = PyDict_Check(members) ? PyDict_Keys(members) : nullptr;
  Py_DECREF(members);
  if (keys != nullptr) PyList_SetSlice(names, PyList_Size(names), PyList_Size(names), keys);
  Py_XDECREF(keys);
  return names;
}

void BindFunctionEvent(nb::module_& module) {
  for (size_t i = 0; i < kEventPropertyCount; ++i) {
    const EventProperty& property = kEventProperties[i];
    event_getset.push_back({property.name, GetAttribute, nullptr, nullptr, const_cast<EventProperty*>(&property)});
  }
  event_getset.push_back({"time_range", GetTimeRange, nullptr, nullptr, nullptr});
  event_getset.push_back({"__class__", GetClass, nullptr, nullptr, nullptr});
  event_getset.push_back({nullptr, nullptr, nullptr, nullptr, nullptr});
  event_slots[0].pfunc = event_getset.data();
  PyObject* type = PyType_FromSpec(&event_spec);
  if (type == nullptr) nb::raise_python_error();
  event_type = reinterpret_cast<PyTypeObject*>(type);
  module.attr("FunctionEvent") = nb::borrow(type);
}

}  // namespace opscope::python
