// Names are looked up by the address of the called object. An address identifies a code object, a C method or a module
// only while that object lives. So the window owns a reference to it; of a module it owns a weak reference, whose
// callback removes the key.
// SPDX-License-Identifier: Apache-2.0
#include "sources/python/call_names.h"

#include <string_view>
#include <utility>

#include "base/json_escape.h"

namespace opscope {
namespace {

std::string EncodedText(PyObject* text) {
  PyObject* bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
  if (bytes == nullptr) {
    PyErr_Clear();
    return {};
  }
  std::string result(PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes)));
  Py_DECREF(bytes);
  return result;
}

// The object that keeps the method of a C function alive. A method's `self` may be large (a tensor) and need not stay
// alive, because its type owns the method. Only a function that owns its method is kept alive.
PyObject* OwnerOf(PyObject* function) {
  if (!PyCFunction_Check(function)) return function;
  PyObject* self = reinterpret_cast<PyCFunctionObject*>(function)->m_self;
  if (self == nullptr || PyModule_Check(self) || PyType_Check(self) || PyCapsule_CheckExact(self)) return function;
  return reinterpret_cast<PyObject*>(Py_TYPE(self));
}

}  // namespace

std::string TextOf(PyObject* text) {
  if (text == nullptr || !PyUnicode_Check(text)) return {};
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text, &size);
  if (bytes != nullptr) return {bytes, static_cast<size_t>(size)};
  PyErr_Clear();
  return EncodedText(text);
}

const CallName* CallNames::Find(const void* key) const {
  const auto found = names_.find(key);
  return found != names_.end() ? &found->second : nullptr;
}

const CallName* CallNames::Add(const void* key, std::string text, PyObject* held) {
  const auto [entry, is_new] = names_.try_emplace(key, CallName{std::move(text), held});
  if (is_new) Py_XINCREF(held);  // else another thread has added the name while Python ran
  return &entry->second;
}

std::string CallNames::FileOf(PyCodeObject* code) const {
  std::string text = TextOf(code->co_filename);
  for (const std::string& prefix : prefixes_) {
    if (!text.starts_with(prefix)) continue;
    text.erase(0, prefix.size());
    break;
  }
  return text;
}

const CallName* CallNames::OfSite(const void* key, PyCodeObject* code, int line) {
  if (const CallName* known = Find(key)) return known;
  std::string text = "\"CallFrom\":\"";
  AppendEscapedUtf8(&text, FileOf(code));
  text.append(":").append(std::to_string(line)).append("\"");
  return Add(key, std::move(text), reinterpret_cast<PyObject*>(code));
}

const CallName* CallNames::OfCode(const void* key, PyCodeObject* code, int line) {
  if (const CallName* known = Find(key)) return known;
  std::string text = FileOf(code);
  text.append("(").append(std::to_string(line)).append("): ").append(TextOf(code->co_name));
  return Add(key, std::move(text), reinterpret_cast<PyObject*>(code));
}

const CallName* CallNames::OfFunction(PyObject* function, PyObject* self) {
  const void* key = FunctionKey(function);
  if (const CallName* known = Find(key)) return known;
  // The name of a method is the repr of the bound method, however it was called.
  PyObject* bound = nullptr;
  if (self != nullptr && Py_IS_TYPE(function, &PyMethodDescr_Type)) {
    bound = Py_TYPE(function)->tp_descr_get(function, self, reinterpret_cast<PyObject*>(Py_TYPE(self)));
    if (bound == nullptr) PyErr_Clear();
  }
  PyObject* repr = PyObject_Repr(bound != nullptr ? bound : function);
  Py_XDECREF(bound);
  if (repr == nullptr) PyErr_Clear();
  std::string text = TextOf(repr);
  Py_XDECREF(repr);
  return Add(key, std::move(text), OwnerOf(function));
}

const CallName* CallNames::OfObject(const char* kind, PyObject* object, PyObject* forget, bool* is_new) {
  *is_new = false;
  if (const CallName* known = Find(object)) return known;
  PyObject* reference = PyWeakref_NewRef(object, forget);
  if (reference == nullptr) PyErr_Clear();
  PyTypeObject* type = Py_TYPE(object);
  std::string text = kind;
  text += PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) ? TextOf(reinterpret_cast<PyHeapTypeObject*>(type)->ht_name)
                                                       : std::string(type->tp_name);
  const auto [number, is_first] = classes_.try_emplace(type, 0);
  if (is_first) Py_INCREF(type);
  text.append("_").append(std::to_string(number->second));
  const size_t before = names_.size();
  // An object without weak references is kept alive.
  const CallName* name = Add(object, std::move(text), reference == nullptr ? object : nullptr);
  *is_new = names_.size() != before;
  if (*is_new) ++number->second;
  if (reference != nullptr && *is_new) {
    objects_.emplace(reference, object);
  } else {
    Py_XDECREF(reference);
  }
  return name;
}

const void* CallNames::Forget(PyObject* reference) {
  const auto found = objects_.find(reference);
  if (found == objects_.end()) return nullptr;
  const void* key = found->second;
  objects_.erase(found);
  Py_DECREF(reference);
  names_.erase(key);
  return key;
}

void CallNames::Clear() {
  const auto names = std::exchange(names_, {});
  const auto objects = std::exchange(objects_, {});
  const auto classes = std::exchange(classes_, {});
  for (const auto& [reference, key] : objects)
    Py_DECREF(reference);
  for (const auto& [key, name] : names)
    Py_XDECREF(name.held);
  for (const auto& [type, count] : classes)
    Py_DECREF(type);
}

}  // namespace opscope
