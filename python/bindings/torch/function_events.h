// Python's FunctionEvent and KinetoEvent objects: 32 bytes each, namely a reference to the columns of the recording and
// a row. Attributes are computed from the columns on access; values that a program sets are stored separately.
//
// Thread rule: with the GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "opscope/torch/function_events.h"
#include "python/bindings/bindings.h"

namespace opscope::python {

// Python's `_core.torch.FunctionEvents`: the columns behind one EventList, owner of everything shared by
// its elements. Lives inside its Python object.
class EventColumns {
 public:
  EventColumns(std::shared_ptr<const Trace> trace, FunctionEvents events);
  EventColumns(EventColumns&&) = delete;
  ~EventColumns();

  const Trace& trace() const { return *trace_; }
  const std::shared_ptr<const Trace>& shared_trace() const { return trace_; }
  const FunctionEvents& events() const { return *events_; }
  const std::shared_ptr<const FunctionEvents>& shared_events() const { return events_; }

  PyObject* handle();  // our own Python object, borrowed
  // Each element holds a reference to the columns.
  void Hold() { Py_INCREF(handle_); }
  void Release() { Py_DECREF(handle_); }

  // The object of a row: the same one as long as a reference to it exists. New reference; null on error.
  PyObject* Event(uint32_t row);
  // Called by the destructor of an element.
  void Forget(uint32_t row) { objects_[row] = nullptr; }

  // The str of a span's name, created once per name. New reference.
  PyObject* Name(uint32_t row);
  PyObject* Text(StringId id);  // "" for kNone
  std::vector<std::string_view> Stack(uint32_t row);

  // The arrow that starts or ends at a row's span. Type 0: none, 1: forward to backward, 2: launch to kernel.
  struct Flow {
    uint64_t id = 0;
    int type = 0;
    bool is_start = false;
  };
  Flow FlowOf(uint32_t row);

  // Kineto's metadata of an event as the members of a JSON object, without braces; "" unless `exposes_metadata`.
  std::string MetadataJson(uint32_t row);
  bool exposes_metadata = false;

  // Attributes that a program has set: {row: {name: value}}; null while there are none.
  PyObject* overrides() const { return overrides_; }
  PyObject* Override(uint32_t row, PyObject* name) const;  // borrowed, null when there is none
  bool SetOverride(uint32_t row, PyObject* name, PyObject* value);
  void RestoreOverrides(PyObject* overrides);

 private:
  PyObject* Cached(uint32_t id, std::string_view text);

  std::shared_ptr<const Trace> trace_;
  std::shared_ptr<const FunctionEvents> events_;
  PyObject* handle_ = nullptr;      // our own Python object, borrowed
  std::vector<PyObject*> objects_;  // borrowed: the destructor of an element clears its place
  std::vector<PyObject*> texts_;    // by string id, made at first use
  PyObject* overrides_ = nullptr;
  std::unique_ptr<FunctionEventStacks> stacks_;
  std::optional<std::unordered_map<uint32_t, Flow>> flows_;  // by span, made at first use
  std::vector<uint32_t> event_numbers_;                      // by span, made at first use
};

// Layout of the objects of both types.
struct EventObject {
  PyObject ob_base;
  EventColumns* columns;
  uint32_t row;
};
static_assert(sizeof(EventObject) == 32);
void DeallocateEvent(PyObject* object);
// State of an element for pickle: (columns, row).
PyObject* PlaceOfEvent(PyObject* object, PyObject*);

// A new element: a KinetoEvent where the columns are as_collected, else a FunctionEvent. REQUIRES: event_classes are
// set; columns->handle() was called.
PyObject* MakeEvent(EventColumns* columns, uint32_t row);
extern PyTypeObject* kineto_event_type;
// The row of an element of these columns; nullopt for any other object.
std::optional<uint32_t> RowOf(PyObject* object, const EventColumns* columns);

// An attribute: its getter, and whether it is computed from attributes that a program may set.
struct EventProperty {
  const char* name;
  PyObject* (*read)(EventColumns& columns, uint32_t row);  // new reference, null on error
  bool derived = false;
};
extern const EventProperty kEventProperties[];
extern const size_t kEventPropertyCount;

// Reads an attribute; C++ exceptions become Python exceptions.
PyObject* ReadProperty(const EventProperty& property, EventColumns& columns, uint32_t row);

// FunctionEvent.time_range of an event.
PyObject* MakeInterval(PyObject* event, double start, double end);

// Adds the types `FunctionEvent`, `KinetoEvent`, `Interval` and `FunctionEvents` to the module.
void BindFunctionEvent(nb::module_& module);
void BindKinetoEvent(nb::module_& module);
void BindInterval(nb::module_& module);
void BindFunctionEvents(nb::module_& module);
void BindEventTree(nb::module_& module);
void BindTorchTable(nb::module_& module);
void BindTorchMemoryTimeline(nb::module_& module);

// Python objects that the getters return or call; set once by opscope.torch.
struct EventClasses {
  PyObject* kernel = nullptr;        // Kernel(name, device, duration)
  PyObject* derived = nullptr;       // {attribute: function(event)} for recordings with overrides
  PyObject* cpu = nullptr;           // DeviceType.CPU
  PyObject* device_types = nullptr;  // {use_device: DeviceType}
  PyObject* made = nullptr;          // class of events that a program constructs itself
  // torch's classes, as which isinstance() accepts our objects; null: not set
  PyObject* torchs_event = nullptr;
  PyObject* torchs_interval = nullptr;
};
extern EventClasses event_classes;
// dir() of an object whose `__class__` is not its type: the names of its type and of its dictionary.
PyObject* NamesOfType(PyObject* object, PyObject*);

// An argument list as torch's Python objects. New references, null on error.
PyObject* InputShapes(const Trace& trace, ArgsId args, bool structured);
PyObject* InputStrides(const Trace& trace, ArgsId args);
PyObject* InputTypes(const Trace& trace, ArgsId args);
PyObject* ConcreteInputs(const Trace& trace, ArgsId args);

}  // namespace opscope::python
