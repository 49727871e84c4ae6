// The C type behind opscope.torch.record_function, which user code may enter thousands of times a second: `with
// record_function("forward"):` runs no Python code of opscope, only two C calls.
//
// An object usually has one open entry, which is stored inside the object; a vector is allocated only for recursion and
// for threads that share the object. torch's own record_function is called instead where the range must be an operator
// of torch (while torch.jit traces), where no adapter is loaded, and for arguments that are not str, so that torch
// raises its own error.
// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/torch/record_function.h"

#include <Python.h>
#include <structmember.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python/bindings/torch/source.h"

namespace opscope::python {
namespace {

// The adapter that records ranges; null until one is loaded, never unloaded.
const TorchSource* range_source = nullptr;
// torch's own record_function, whose ranges are operators that torch.jit can trace; null if torch is not loaded.
PyObject* original_range = nullptr;

// An open entry of a range; `handle` and `original` are both null if no recording ran at the entry.
struct Entered {
  unsigned long thread = 0;
  void* handle = nullptr;
  PyObject* original = nullptr;  // torch's range if it was opened instead; owned
};

// `first` is the open entry in the common case; recursion, and other threads that enter the same object, add to `more`.
struct Range {
  PyObject ob_base;
  PyObject* name;
  PyObject* args;
  std::vector<Entered>* more;
  Entered first;
  bool has_first;
  bool ends_with_future;  // True after _call_end_callbacks_on_future
};

Range* Self(PyObject* object) {
  return reinterpret_cast<Range*>(object);
}

// Accepts any object, as torch does: the type is checked when the range is entered.
int SetText(PyObject** slot, PyObject* value) {
  if (value == nullptr) {
    PyErr_SetString(PyExc_AttributeError, "record_function: name and args cannot be deleted");
    return -1;
  }
  Py_INCREF(value);
  PyObject* before = std::exchange(*slot, value);
  Py_XDECREF(before);  // last: it may run code that reads the slot
  return 0;
}

int RangeInit(PyObject* object, PyObject* args, PyObject* keywords) {
  static const char* const kNames[] = {"name", "args", nullptr};
  PyObject* name = nullptr;
  PyObject* text = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:record_function", const_cast<char**>(kNames), &name, &text)) {
    return -1;
  }
  Range* self = Self(object);
  self->ends_with_future = false;
  if (SetText(&self->name, name) != 0) return -1;
  return SetText(&self->args, text);
}

bool OpenOriginalRange(const Range* self, PyObject** original) {
  PyObject* args = self->args == nullptr ? Py_None : self->args;
  PyObject* range = PyObject_CallFunctionObjArgs(original_range, self->name, args, nullptr);
  if (range == nullptr) return false;
  PyObject* entered = PyObject_CallMethod(range, "__enter__", nullptr);
  if (entered == nullptr) {
    Py_DECREF(range);
    return false;
  }
  Py_DECREF(entered);
  *original = range;
  return true;
}

bool OpenRange(const Range* self, bool is_async, Entered* entered) {
  if (self->name == nullptr) {
    PyErr_SetString(PyExc_AssertionError, "record_function was not initialised");
    return false;
  }
  const bool has_args = self->args != nullptr && self->args != Py_None;
  const bool are_texts = PyUnicode_Check(self->name) && (!has_args || PyUnicode_Check(self->args));
  // Non-str arguments go to torch's record_function, which raises its own error.
  if (range_source == nullptr || !are_texts || range_source->is_traced()) {
    return original_range == nullptr || OpenOriginalRange(self, &entered->original);
  }
  std::string keep_name, keep_args;
  std::string_view name, args;
  if (!TextBytes(self->name, &keep_name, &name)) return false;
  const auto enter = is_async ? range_source->enter_async : range_source->enter;
  if (!has_args) {
    entered->handle = enter(name.data(), name.size(), nullptr, 0);
    return true;
  }
  if (!TextBytes(self->args, &keep_args, &args)) return false;
  entered->handle = enter(name.data(), name.size(), args.data(), args.size());
  return true;
}

PyObject* EnterRange(PyObject* object, bool is_async) {
  Range* self = Self(object);
  Entered entered{.thread = PyThread_get_thread_ident()};
  if (!OpenRange(self, is_async, &entered)) return nullptr;
  if (!self->has_first) {
    self->first = entered;
    self->has_first = true;
  } else {
    if (self->more == nullptr) self->more = new std::vector<Entered>;
    self->more->push_back(entered);
  }
  return Py_NewRef(object);
}

PyObject* RangeEnter(PyObject* object, PyObject*) {
  return EnterRange(object, false);
}
// As __enter__, but for a range that need not nest: other work of the thread may run before it ends.
PyObject* RangeEnterAsync(PyObject* object, PyObject*) {
  return EnterRange(object, true);
}

// Removes the calling thread's newest entry or, if it has none, the newest of any thread. False if there is no entry.
bool TakeNewest(Range* self, Entered* taken) {
  if (self->more != nullptr && !self->more->empty()) {
    std::vector<Entered>& more = *self->more;
    const unsigned long thread = PyThread_get_thread_ident();
    size_t i = more.size();
    while (i > 0 && more[i - 1].thread != thread)
      --i;
    const bool first_is_mine = self->has_first && self->first.thread == thread;
    if (i == 0 && !first_is_mine) i = more.size();
    if (i != 0) {
      *taken = more[i - 1];
      more.erase(more.begin() + static_cast<std::ptrdiff_t>(i - 1));
      return true;
    }
  }
  if (!self->has_first) return false;
  *taken = self->first;
  self->has_first = false;
  return true;
}

PyObject* NotEntered() {
  PyErr_SetString(PyExc_AssertionError, "Expected record to be set");
  return nullptr;
}

// __exit__(exc_type, exc_value, traceback); the arguments are ignored. Returns None.
PyObject* RangeExit(PyObject* object, PyObject* const*, Py_ssize_t) {
  Range* self = Self(object);
  Entered entered;
  if (!TakeNewest(self, &entered)) {
    if (self->ends_with_future) Py_RETURN_NONE;
    return NotEntered();
  }
  if (entered.original != nullptr) {
    PyObject* ended = PyObject_CallMethod(entered.original, "__exit__", "OOO", Py_None, Py_None, Py_None);
    Py_DECREF(entered.original);
    return ended;
  }
  if (entered.handle != nullptr) range_source->exit(entered.handle);
  Py_RETURN_NONE;
}

// Transfers the open range to a future: __exit__ will not end it. Returns the range's handle as an int, or torch's
// range.
PyObject* RangeDetach(PyObject* object, PyObject*) {
  Range* self = Self(object);
  Entered entered;
  if (!TakeNewest(self, &entered)) return NotEntered();
  self->ends_with_future = true;
  if (entered.original != nullptr) return entered.original;
  if (entered.handle != nullptr) range_source->set_async(entered.handle);
  return PyLong_FromVoidPtr(entered.handle);
}

// Ends a range whose handle _detach has returned.
PyObject* RangeEndDetached(PyObject*, PyObject* handle) {
  void* range = PyLong_AsVoidPtr(handle);
  if (range == nullptr && PyErr_Occurred() != nullptr) return nullptr;
  if (range != nullptr) range_source->exit(range);
  Py_RETURN_NONE;
}

void RangeDealloc(PyObject* object) {
  Range* self = Self(object);
  Entered entered;
  while (TakeNewest(self, &entered)) {
    Py_XDECREF(entered.original);  // the destructor of torch's range ends it
    if (entered.handle != nullptr) range_source->exit(entered.handle);
  }
  Py_CLEAR(self->name);
  Py_CLEAR(self->args);
  delete self->more;
  PyTypeObject* type = Py_TYPE(object);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

PyObject* GetName(PyObject* object, void*) {
  return Py_NewRef(Self(object)->name == nullptr ? Py_None : Self(object)->name);
}
int SetName(PyObject* object, PyObject* value, void*) {
  return SetText(&Self(object)->name, value);
}
PyObject* GetArgs(PyObject* object, void*) {
  return Py_NewRef(Self(object)->args == nullptr ? Py_None : Self(object)->args);
}
int SetArgs(PyObject* object, PyObject* value, void*) {
  return SetText(&Self(object)->args, value);
}
PyObject* GetEndsOnExit(PyObject* object, void*) {
  return PyBool_FromLong(!Self(object)->ends_with_future);
}

// The state for copy and pickle: the dictionary of the instance (None without one), and its other attributes. A copy
// has no open entry.
PyObject* RangeGetState(PyObject* object, PyObject*) {
  PyObject* values = PyObject_GenericGetDict(object, nullptr);
  if (values == nullptr) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return nullptr;
    PyErr_Clear();  // the class has __slots__ and no dictionary
  }
  PyObject* state = Py_BuildValue("(O{sNsN})", values != nullptr ? values : Py_None, "name", GetName(object, nullptr),
                                  "args", GetArgs(object, nullptr));
  Py_XDECREF(values);
  return state;
}

PyGetSetDef range_properties[] = {
    {"name", GetName, SetName, "The label.", nullptr},
    {"args", GetArgs, SetArgs, "The range's one string input, or None.", nullptr},
    {"run_callbacks_on_exit", GetEndsOnExit, nullptr, "False once a future ends the range.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef range_methods[] = {
    {"__enter__", RangeEnter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(RangeExit)), METH_FASTCALL, nullptr},
    {"__getstate__", RangeGetState, METH_NOARGS, nullptr},
    {"_enter_async", RangeEnterAsync, METH_NOARGS, nullptr},
    {"_detach", RangeDetach, METH_NOARGS, nullptr},
    {"_end_detached", RangeEndDetached, METH_O | METH_STATIC, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot range_slots[] = {
    {Py_tp_doc, const_cast<char*>("RangeBase(name, args=None)\n--\n\nA labelled range of the program.")},
    {Py_tp_init, reinterpret_cast<void*>(RangeInit)},
    {Py_tp_dealloc, reinterpret_cast<void*>(RangeDealloc)},
    {Py_tp_getset, range_properties},
    {Py_tp_methods, range_methods},
    {0, nullptr},
};

PyType_Spec range_spec = {
    "opscope._core.torch.RangeBase",
    static_cast<int>(sizeof(Range)),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    range_slots,
};

}  // namespace

void BindTorchRange(nb::module_& module) {
  PyObject* type = PyType_FromSpec(&range_spec);
  if (type == nullptr) nb::raise_python_error();
  module.attr("RangeBase") = nb::steal(type);
  module.def("set_range_source", [](const LoadedTorchSource& loaded) { range_source = loaded.table; });
  module.def(
      "set_original_range", [](nb::object kind) { original_range = kind.release().ptr(); }, nb::arg("kind"),
      "torch.autograd.profiler.record_function, for ranges that have to be operators of torch's.");
}

}  // namespace opscope::python
