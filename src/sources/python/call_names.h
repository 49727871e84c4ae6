// Names of called functions, modules and optimizers, as torch.profiler writes them:
//
//   a Python function   path(line): name        the path without the longest entry of sys.path before it; the line of
//                                               its `def`, of a generator where it goes on, of a function that runs
//                                               when the window begins where it is
//   a C function        its repr, of the first object that it was called on
//   an nn.Module        nn.Module: Class_k      k counts the objects of a class by first appearance
//   where it was called "CallFrom":"path:line"  a member of a JSON object; the line where the caller stood
//
// A name is made once per window and key. The key is the address of an object, which the window keeps alive. A module
// is not kept alive, because it may own much memory; its key is removed when it is freed.
//
// Thread rule: the GIL is held. Making a name runs Python code, so another thread may run meanwhile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sources/python/frames.h"

namespace opscope {

struct CallName {
  std::string text;
  PyObject* held = nullptr;  // strong
};

class CallNames {
 public:
  CallNames() = default;
  CallNames(const CallNames&) = delete;
  CallNames& operator=(const CallNames&) = delete;

  void AddPathPrefix(std::string prefix) { prefixes_.push_back(std::move(prefix)); }

  // These functions never return null; they may throw std::bad_alloc. A result is valid until Forget or Clear removes
  // it.
  //
  // The name of a Python function. line: of its `def`, or of the resumed frame.
  const CallName* OfCode(const void* key, PyCodeObject* code, int line);
  // The member "CallFrom" for calls made by this code.
  const CallName* OfSite(const void* key, PyCodeObject* code, int line);
  // The name of a C function, or of the descriptor of a C method. self: the descriptor's object; may be null.
  const CallName* OfFunction(PyObject* function, PyObject* self);
  // The name of a module. forget: the callback of the weak reference, called when the module dies.
  const CallName* OfModule(PyObject* module, PyObject* forget, bool* is_new) {
    return OfObject("nn.Module: ", module, forget, is_new);
  }
  const CallName* OfOptimizer(PyObject* optimizer, PyObject* forget, bool* is_new) {
    return OfObject("Optimizer: ", optimizer, forget, is_new);
  }

  // Forgets a dead object by its weak reference. Returns its key; null: unknown.
  const void* Forget(PyObject* reference);
  // Releases all references, which may run Python code.
  void Clear();

 private:
  std::string FileOf(PyCodeObject* code) const;
  const CallName* OfObject(const char* kind, PyObject* object, PyObject* forget, bool* is_new);
  const CallName* Find(const void* key) const;
  const CallName* Add(const void* key, std::string text, PyObject* held);

  std::vector<std::string> prefixes_;
  std::unordered_map<const void*, CallName> names_;
  std::unordered_map<PyObject*, const void*> objects_;   // key by weak reference, which the map owns
  std::unordered_map<PyTypeObject*, uint32_t> classes_;  // number of objects so far; the map owns the class
};

// The key of a C function: its method, without the object to which it is bound. Null: not a C function.
inline const void* FunctionKey(PyObject* function) {
  if (PyCFunction_Check(function)) return reinterpret_cast<PyCFunctionObject*>(function)->m_ml;
  if (Py_IS_TYPE(function, &PyMethodDescr_Type)) return reinterpret_cast<PyMethodDescrObject*>(function)->d_method;
  return nullptr;
}

// A str as UTF-8; lone surrogates are escaped. "": null, or not a str.
std::string TextOf(PyObject* text);

}  // namespace opscope
