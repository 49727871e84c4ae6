// Python calls each function in gc.callbacks at the start and at the end of a collection; ours records a call from the
// one to the other.
// SPDX-License-Identifier: Apache-2.0
#include "sources/python/collector.h"

#include "sources/python/thread_calls.h"

namespace opscope {
namespace {

// (phase, info): "start" or "stop".
PyObject* OnCollector(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count < 1 || !PyUnicode_Check(arguments[0])) Py_RETURN_NONE;
  const bool begins = PyUnicode_CompareWithASCIIString(arguments[0], "start") == 0;
  VisitBindings([begins](Binding* binding) {
    if ((binding->window->flags & call_flags::kGarbage) == 0) return;
    begins ? EnterCollector(binding) : ExitCall(binding, kCallOfCollector, CallKind::kCollector);
  });
  Py_RETURN_NONE;
}
PyMethodDef on_collector = {"opscope", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&OnCollector)),
                            METH_FASTCALL, nullptr};

PyObject* watcher = nullptr;
unsigned watchers = 0;

PyObject* Callbacks() {
  PyObject* gc = PyImport_ImportModule("gc");
  PyObject* callbacks = gc != nullptr ? PyObject_GetAttrString(gc, "callbacks") : nullptr;
  Py_XDECREF(gc);
  return callbacks;
}

}  // namespace

bool WatchCollector() {
  if (watchers == 0) {
    PyObject* callbacks = Callbacks();
    if (callbacks != nullptr && watcher == nullptr) watcher = PyCFunction_New(&on_collector, nullptr);
    const bool done = callbacks != nullptr && watcher != nullptr && PyList_Append(callbacks, watcher) == 0;
    Py_XDECREF(callbacks);
    if (!done) return false;
  }
  ++watchers;
  return true;
}

void UnwatchCollector() {
  if (--watchers != 0) return;
  PyObject* callbacks = Callbacks();
  const Py_ssize_t at = callbacks != nullptr ? PySequence_Index(callbacks, watcher) : -1;
  if (at < 0 || PySequence_DelItem(callbacks, at) != 0) PyErr_Clear();  // the program has removed it
  Py_XDECREF(callbacks);
}

}  // namespace opscope
