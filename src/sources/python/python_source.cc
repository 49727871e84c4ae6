// The extension module that is this source: start(...) gives a recording, whose stop() or end stops it.
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <memory>
#include <new>

#include "sources/python/call_events.h"
#include "sources/python/collector.h"
#include "sources/python/module_calls.h"
#include "sources/python/thread_calls.h"

namespace opscope {
namespace {

struct Recording {
  PyObject_HEAD CallWindow* window;  // null: stopped
  uint64_t fork;                     // of the process
};

uint64_t forks = 0;  // that this process is away from the one that loaded the library

struct Unseen {
  uint64_t replaced = 0, idle = 0;  // as in CallWindow
};
Unseen StopRecording(Recording* recording) {
  CallWindow* window = recording->window;
  recording->window = nullptr;
  if (window == nullptr || recording->fork != forks) return {};
  UnbindThreads(window);
  DisarmEvents(window);
  if (window->watches_collector) UnwatchCollector();
  const Unseen unseen = {window->replaced, window->idle};
  FreeWindow(window);
  return unseen;
}

void Deallocate(PyObject* self) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  StopRecording(reinterpret_cast<Recording*>(self));
  PyErr_Restore(type, value, traceback);
  PyTypeObject* own = Py_TYPE(self);
  own->tp_free(self);
  Py_DECREF(own);
}

PyObject* Stop(PyObject* self, PyObject*) {
  const Unseen unseen = StopRecording(reinterpret_cast<Recording*>(self));
  return Py_BuildValue("(KK)", static_cast<unsigned long long>(unseen.replaced),
                       static_cast<unsigned long long>(unseen.idle));
}

// A capsule with the window is its self.
PyObject* ForgetObject(PyObject* self, PyObject* reference) {
  if (!PyCapsule_IsValid(self, nullptr)) Py_RETURN_NONE;
  auto* window = static_cast<CallWindow*>(PyCapsule_GetPointer(self, nullptr));
  if (const void* key = window->names.Forget(reference)) ForgetName(window, key);
  Py_RETURN_NONE;
}
PyMethodDef forget_object = {"forget", &ForgetObject, METH_O, nullptr};

bool ReadPrefixes(PyObject* prefixes, CallNames* names) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(prefixes); ++i)
    names->AddPathPrefix(TextOf(PyTuple_GET_ITEM(prefixes, i)));
  return true;
}

PyCodeObject* CodeOrNone(PyObject* object) {
  if (object == nullptr || !PyCode_Check(object)) return nullptr;
  Py_INCREF(object);
  return reinterpret_cast<PyCodeObject*>(object);
}

PyObject* FunctionOrNone(PyObject* object) {
  if (object == nullptr || !PyFunction_Check(object)) return nullptr;
  Py_INCREF(object);
  return object;
}

PyTypeObject* recording_type = nullptr;

PyObject* StartWindow(std::unique_ptr<CallWindow> window) {
  PyObject* capsule = PyCapsule_New(window.get(), nullptr, nullptr);
  if (capsule == nullptr) return nullptr;
  window->forget_object = PyCFunction_New(&forget_object, capsule);
  Py_DECREF(capsule);
  auto* recording = PyObject_New(Recording, recording_type);
  if (window->forget_object == nullptr || recording == nullptr) {
    FreeWindow(window.release());
    return PyErr_NoMemory();
  }
  recording->fork = forks;
  recording->window = window.release();
  try {
    recording->window->start = ReadTicks();
    BindThreads(recording->window);
  } catch (const std::bad_alloc&) {
    Py_DECREF(recording);
    return PyErr_NoMemory();
  }
  if ((recording->window->flags & call_flags::kGarbage) != 0) recording->window->watches_collector = WatchCollector();
  if (PyErr_Occurred() != nullptr || !ArmEvents(recording->window)) {
    PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
    PyErr_Fetch(&type, &value, &traceback);
    Py_DECREF(recording);
    PyErr_Restore(type, value, traceback);
    return nullptr;
  }
  return reinterpret_cast<PyObject*>(recording);
}

PyObject* Start(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"slot",        "generation",     "flags",        "path_prefixes",
                                "module_code", "optimizer_code", "tensor_types", "hold",
                                "module_call", "module_inner",   nullptr};
  unsigned int slot = 0, flags = 0;
  unsigned long long generation = 0, hold = 0;
  PyObject *prefixes = nullptr, *module_code = nullptr, *optimizer_code = nullptr, *tensor_types = nullptr;
  PyObject *module_call = nullptr, *module_inner = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "IKIO!|OOO!KOO", const_cast<char**>(names), &slot, &generation,
                                   &flags, &PyTuple_Type, &prefixes, &module_code, &optimizer_code, &PyTuple_Type,
                                   &tensor_types, &hold, &module_call, &module_inner)) {
    return nullptr;
  }
  if (slot >= kMaxWindows) return PyErr_Format(PyExc_ValueError, "slot must be below %u", kMaxWindows);
  try {
    auto window = std::make_unique<CallWindow>();
    window->slot = slot;
    window->generation = generation;
    window->flags = flags;
    ReadPrefixes(prefixes, &window->names);
    window->module_code = CodeOrNone(module_code);
    window->optimizer_code = CodeOrNone(optimizer_code);
    Py_XINCREF(tensor_types);
    window->tensor_types = tensor_types;
    window->hold = reinterpret_cast<HoldTensorsFunction>(hold);
    window->module_call = FunctionOrNone(module_call);
    window->module_inner = FunctionOrNone(module_inner);
    window->watches_module_calls = CanWatchModuleCalls(*window);
    return StartWindow(std::move(window));
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyMethodDef recording_methods[] = {
    {"stop", &Stop, METH_NOARGS,
     "Ends it. (threads that have another profile function now, threads that called nothing)"},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot recording_slots[] = {
    {Py_tp_methods, recording_methods}, {Py_tp_dealloc, reinterpret_cast<void*>(&Deallocate)}, {0, nullptr}};
PyType_Spec recording_spec = {"opscope._calls.Recording", sizeof(Recording), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, recording_slots};

PyMethodDef module_methods[] = {
    {"start", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&Start)), METH_VARARGS | METH_KEYWORDS,
     "Records the calls of all threads of Python into an open window of the recorder."},
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

// Python's own hook of os.fork; pthread_atfork has run before.
PyObject* AfterFork(PyObject*, PyObject*) {
  DisarmInChild();
  Py_RETURN_NONE;
}
PyMethodDef after_fork = {"after_fork", &AfterFork, METH_NOARGS, nullptr};

bool WatchForks() {
  pthread_atfork(nullptr, nullptr, [] {
    ++forks;
    ForgetWindows();
  });
  PyObject* os = PyImport_ImportModule("os");
  PyObject* hook = PyCFunction_New(&after_fork, nullptr);
  PyObject* watch = os != nullptr ? PyObject_GetAttrString(os, "register_at_fork") : nullptr;
  PyObject* keywords = hook != nullptr ? Py_BuildValue("{s:O}", "after_in_child", hook) : nullptr;
  PyObject* none = PyTuple_New(0);
  PyObject* done =
      watch != nullptr && keywords != nullptr && none != nullptr ? PyObject_Call(watch, none, keywords) : nullptr;
  for (PyObject* object : {os, hook, watch, keywords, none, done})
    Py_XDECREF(object);
  return done != nullptr;
}

PyObject* NewModule() {
  if (opscope_recorder_abi() != kRecorderAbi) {
    PyErr_SetString(PyExc_ImportError, "the recorder library in this process is of another version");
    return nullptr;
  }
  if (recording_type == nullptr) {
    recording_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&recording_spec));
    if (recording_type == nullptr || !WatchForks()) return nullptr;
  }
  return PyModule_Create(&module_definition);
}

}  // namespace
}  // namespace opscope

PyMODINIT_FUNC PyInit_opscope_calls() {
  return opscope::NewModule();
}
