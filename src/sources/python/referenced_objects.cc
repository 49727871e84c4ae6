// Tensors are read from the parameters of a module, their gradients, and the state of an optimizer. Only objects of
// exactly the known tensor classes are read, because a subclass may run code of its own when an attribute is read.
// SPDX-License-Identifier: Apache-2.0
#include "sources/python/referenced_objects.h"

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace opscope {
namespace {

// Owns a new reference. Null after a failed call, whose exception is cleared.
class Owned {
 public:
  explicit Owned(PyObject* object) : object_(object) {
    if (object == nullptr) PyErr_Clear();
  }
  ~Owned() { Py_XDECREF(object_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  PyObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_;
};

// The tensors of one object, kept alive until they are reported. Tensors of other classes than the known ones are left
// out: reading their attributes may run code of the program.
class ReferencedTensors {
 public:
  explicit ReferencedTensors(const CallWindow& window) : types_(window.tensor_types), hold_(window.hold) {}
  ~ReferencedTensors() {
    for (PyObject* object : objects_)
      Py_DECREF(object);
  }
  ReferencedTensors(const ReferencedTensors&) = delete;
  ReferencedTensors& operator=(const ReferencedTensors&) = delete;

  bool wanted() const { return hold_ != nullptr && types_ != nullptr; }

  // False: the object is not reported. `name`: a str, kept alive too.
  bool Add(PyObject* tensor, TensorRole role, PyObject* name = nullptr) {
    if (!IsPlainTensor(tensor)) return false;
    const Owned address(PyObject_GetAttrString(tensor, "_cdata"));
    if (!address || !PyLong_Check(address.get())) return false;
    const void* body = PyLong_AsVoidPtr(address.get());
    if (body == nullptr) {
      PyErr_Clear();
      return false;
    }
    Keep(tensor);
    tensors_.push_back({body, role, TextOf(name)});
    return true;
  }

  bool AddParameter(PyObject* parameter, PyObject* name = nullptr) {
    if (!Add(parameter, TensorRole::kParameter, name)) return false;
    const Owned gradient(PyObject_GetAttrString(parameter, "grad"));
    if (gradient) Add(gradient.get(), TensorRole::kGradient);
    return true;
  }

  void Report(PyObject* owner) const {
    if (!tensors_.empty()) hold_(reinterpret_cast<uint64_t>(owner), tensors_.data(), tensors_.size());
  }

 private:
  bool IsPlainTensor(PyObject* object) const {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(types_); ++i) {
      if (reinterpret_cast<PyObject*>(Py_TYPE(object)) == PyTuple_GET_ITEM(types_, i)) return true;
    }
    return false;
  }

  void Keep(PyObject* object) {
    objects_.push_back(object);
    Py_INCREF(object);
  }

  const char* TextOf(PyObject* name) {
    if (name == nullptr || !PyUnicode_Check(name)) return nullptr;
    const char* text = PyUnicode_AsUTF8(name);
    if (text == nullptr) {  // not Unicode
      PyErr_Clear();
      return nullptr;
    }
    Keep(name);
    return text;
  }

  PyObject* types_;
  HoldTensorsFunction hold_;
  std::vector<PyObject*> objects_;
  std::vector<ReferencedTensorImpl> tensors_;
};

// The items of a dictionary as a list of pairs, because the dictionary may change meanwhile. Null: not a dictionary.
Owned ItemsOf(PyObject* dictionary) {
  return Owned(dictionary != nullptr && PyDict_Check(dictionary) ? PyDict_Items(dictionary) : nullptr);
}

// visit(key, value) for each pair.
template <typename Visit>
void VisitItems(const Owned& items, const Visit& visit) {
  for (Py_ssize_t i = 0; items && i < PyList_GET_SIZE(items.get()); ++i) {
    PyObject* pair = PyList_GET_ITEM(items.get(), i);
    visit(PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1));
  }
}

template <typename Visit>
void VisitSequence(PyObject* sequence, const Visit& visit) {
  const Owned list(sequence != nullptr ? PySequence_List(sequence) : nullptr);
  for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(list.get()); ++i)
    visit(PyList_GET_ITEM(list.get(), i));
}

}  // namespace

void ReportModuleTensors(const CallWindow& window, PyObject* module) {
  ReferencedTensors tensors(window);
  if (!tensors.wanted()) return;
  const Owned parameters(PyObject_GetAttrString(module, "_parameters"));
  VisitItems(ItemsOf(parameters.get()),
             [&](PyObject* name, PyObject* parameter) { tensors.AddParameter(parameter, name); });
  tensors.Report(module);
}

void ReportOptimizerTensors(const CallWindow& window, PyObject* optimizer) {
  ReferencedTensors tensors(window);
  if (!tensors.wanted()) return;
  const Owned state(PyObject_GetAttrString(optimizer, "state"));
  const Owned items = ItemsOf(state.get());
  std::unordered_map<PyObject*, PyObject*> states;  // by identity: a parameter's __hash__ would run Python code
  VisitItems(items, [&](PyObject* parameter, PyObject* of_parameter) { states.emplace(parameter, of_parameter); });
  const auto add_state = [&](PyObject* of_parameter) {
    VisitItems(ItemsOf(of_parameter),
               [&](PyObject* name, PyObject* value) { tensors.Add(value, TensorRole::kState, name); });
  };
  const Owned groups(PyObject_GetAttrString(optimizer, "param_groups"));
  VisitSequence(groups.get(), [&](PyObject* group) {
    const Owned parameters(PyDict_Check(group) ? PyMapping_GetItemString(group, "params") : nullptr);
    VisitSequence(parameters.get(), [&](PyObject* parameter) {
      if (!tensors.AddParameter(parameter)) return;
      const auto found = states.find(parameter);
      if (found == states.end()) return;
      add_state(found->second);
      states.erase(found);
    });
  });
  tensors.Report(optimizer);
}

}  // namespace opscope
