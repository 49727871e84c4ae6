// A C version of Paddle's Layer._dygraph_call_func, which paddle.nn.Layer.__call__ calls while a profiler is in use and
// which puts a range around `forward`. Paddle's version creates a function, a set and a range in each call, which makes
// every layer slower while profiling. This version only opens the range for the common case, a layer that is built and
// has no hooks, and calls Paddle's version for all others.
//
// One difference: a hook that `forward` itself adds runs from the next call on, as without a profiler.
// SPDX-License-Identifier: Apache-2.0
#include <Python.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "python/bindings/paddle/profiler_use.h"
#include "python/bindings/paddle/range_source.h"
#include "python/bindings/paddle/source.h"

namespace opscope::python {
namespace {

// Set once by layer_call(); the references are never released.
struct KnownLayers {
  PyObject* original = nullptr;  // Paddle's method
  uint32_t forward = 0;          // the number of the event type
};
KnownLayers layers;

struct Words {
  PyObject* pre_hooks = PyUnicode_InternFromString("_forward_pre_hooks");
  PyObject* post_hooks = PyUnicode_InternFromString("_forward_post_hooks");
  PyObject* is_built = PyUnicode_InternFromString("_built");
  PyObject* forward = PyUnicode_InternFromString("forward");
};
const Words& words() {
  static const Words words;
  return words;
}

PyObject* CallOriginal(PyObject* layer, PyObject* args, PyObject* keywords) {
  PyObject* self = PyTuple_Pack(1, layer);
  PyObject* all = self == nullptr ? nullptr : PySequence_Concat(self, args);
  PyObject* result = all == nullptr ? nullptr : PyObject_Call(layers.original, all, keywords);
  Py_XDECREF(all);
  Py_XDECREF(self);
  return result;
}

bool IsEmpty(PyObject* attributes, PyObject* word) {
  PyObject* hooks = PyDict_GetItemWithError(attributes, word);
  return hooks != nullptr && PyDict_Check(hooks) && PyDict_Size(hooks) == 0;
}

// Whether the layer is built and has no hooks. Clears any exception.
bool IsPlain(PyObject* layer) {
  PyObject* attributes = PyObject_GenericGetDict(layer, nullptr);
  const bool is_plain = attributes != nullptr && IsEmpty(attributes, words().pre_hooks) &&
                        IsEmpty(attributes, words().post_hooks) &&
                        PyDict_GetItemWithError(attributes, words().is_built) == Py_True && IsProfilerUsed() == 1;
  Py_XDECREF(attributes);
  PyErr_Clear();
  return is_plain;
}

// Null if no recording runs, or with an exception set on failure.
void* EnterForward(PyObject* layer) {
  PyObject* name = PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(layer)), "__name__");
  if (name == nullptr) return nullptr;
  std::string keep;
  std::string_view bytes;
  void* range = TextBytes(name, &keep, &bytes) ? EnterRange(bytes, layers.forward) : nullptr;
  Py_DECREF(name);
  return range;
}

PyObject* CallLayer(PyObject* layer, PyObject* args, PyObject* keywords) {
  if (!IsPlain(layer)) return CallOriginal(layer, args, keywords);
  void* range = EnterForward(layer);
  if (range == nullptr && PyErr_Occurred() != nullptr) return nullptr;
  PyObject* forward = PyObject_GetAttr(layer, words().forward);
  PyObject* outputs = forward == nullptr ? nullptr : PyObject_Call(forward, args, keywords);
  Py_XDECREF(forward);
  if (range != nullptr) ExitRange(range);
  return outputs;
}

PyMethodDef layer_call = {"_dygraph_call_func", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(CallLayer)),
                          METH_VARARGS | METH_KEYWORDS, nullptr};

nb::object MakeLayerCall(nb::handle layer_class, nb::handle original, uint32_t forward) {
  layers = {original.inc_ref().ptr(), forward};
  PyObject* method = PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(layer_class.ptr()), &layer_call);
  if (method == nullptr) nb::raise_python_error();
  return nb::steal(method);
}

}  // namespace

void BindPaddleLayerCall(nb::module_& module) {
  module.def(
      "layer_call", &MakeLayerCall, nb::arg("layer_class"), nb::arg("usual"), nb::arg("forward"),
      "A method of `layer_class` in the place of `usual`; `forward` is the event type's number. Once a process.");
}

}  // namespace opscope::python
