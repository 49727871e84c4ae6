// Arguments of operators as the Python objects that torch's FunctionEvent holds.
// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/torch/function_events.h"

namespace opscope::python {
namespace {

// A list of the results of `make(index)`; null, with an exception set, if one element fails.
template <typename Make>
PyObject* MakeList(size_t size, Make&& make) {
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(size));
  if (list == nullptr) return nullptr;
  for (size_t i = 0; i < size; ++i) {
    PyObject* item = make(i);
    if (item == nullptr) {
      Py_DECREF(list);
      return nullptr;
    }
    PyList_SetItem(list, static_cast<Py_ssize_t>(i), item);
  }
  return list;
}

PyObject* Integers(std::span<const int64_t> values) {
  return MakeList(values.size(), [&](size_t i) { return PyLong_FromLongLong(values[i]); });
}

// One scalar as torch prints it: "True", "6", "1.", "nan"; anything else stays text.
PyObject* ScalarFromText(std::string_view text) {
  if (text == "True") return Py_NewRef(Py_True);
  if (text == "False") return Py_NewRef(Py_False);
  if (text == "None" || text.empty()) return Py_NewRef(Py_None);
  const std::string owned(text);
  char* end = nullptr;
  PyObject* number = PyLong_FromString(owned.c_str(), &end, 10);
  if (number != nullptr) return number;
  PyErr_Clear();
  PyObject* string = ToText(text).release().ptr();
  number = PyFloat_FromString(string);
  if (number == nullptr) {
    PyErr_Clear();
    return string;
  }
  Py_DECREF(string);
  return number;
}

// "[64, 32]" as a list; elements of torch's scalar lists hold no commas.
PyObject* ScalarListFromText(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return ScalarFromText(text);
  text = text.substr(1, text.size() - 2);
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    while (!part.empty() && part.front() == ' ')
      part.remove_prefix(1);
    parts.push_back(part);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return MakeList(parts.size(), [&](size_t i) { return ScalarFromText(parts[i]); });
}

}  // namespace

PyObject* InputShapes(const Trace& trace, ArgsId args, bool structured) {
  const std::span<const Argument> arguments = trace.arguments(args);
  return MakeList(arguments.size(), [&](size_t i) -> PyObject* {
    const Argument& argument = arguments[i];
    if (argument.kind == ArgumentKind::kTensor) return Integers(argument.sizes);
    if (argument.kind != ArgumentKind::kTensorList || !structured) return PyList_New(0);
    return MakeList(argument.tensors.size(), [&](size_t t) { return Integers(argument.tensors[t].sizes); });
  });
}

PyObject* InputStrides(const Trace& trace, ArgsId args) {
  const std::span<const Argument> arguments = trace.arguments(args);
  return MakeList(arguments.size(), [&](size_t i) -> PyObject* {
    const Argument& argument = arguments[i];
    if (argument.kind == ArgumentKind::kTensor) return Integers(argument.strides);
    if (argument.kind != ArgumentKind::kTensorList) return PyList_New(0);
    return MakeList(argument.tensors.size(), [&](size_t t) { return Integers(argument.tensors[t].strides); });
  });
}

PyObject* InputTypes(const Trace& trace, ArgsId args) {
  const std::span<const Argument> arguments = trace.arguments(args);
  return MakeList(arguments.size(), [&](size_t i) { return ToText(trace.text(arguments[i].dtype)).release().ptr(); });
}

PyObject* ConcreteInputs(const Trace& trace, ArgsId args) {
  const std::span<const Argument> arguments = trace.arguments(args);
  return MakeList(arguments.size(), [&](size_t i) -> PyObject* {
    const Argument& argument = arguments[i];
    const std::string_view text = trace.text(argument.value);
    if (argument.kind == ArgumentKind::kScalar) return ScalarFromText(text);
    if (argument.kind == ArgumentKind::kScalarList) return ScalarListFromText(text);
    return Py_NewRef(Py_None);
  });
}

}  // namespace opscope::python
