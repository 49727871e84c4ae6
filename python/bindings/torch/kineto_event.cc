// The C type `KinetoEvent`, an element of `kineto_results.events()`. Every value is a method, as in torch.
//
// Most methods return the FunctionEvent attribute of the same row; a table lists the exceptions and the values for rows
// of memory events, which have no span.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <utility>

#include "opscope/torch/out_of_memory.h"
#include "python/bindings/torch/function_events.h"

namespace opscope::python {

PyTypeObject* kineto_event_type = nullptr;

namespace {

EventObject* Self(PyObject* object) {
  return reinterpret_cast<EventObject*>(object);
}

PyObject* Number(int64_t value) {
  return PyLong_FromLongLong(value);
}

bool IsMemory(const EventColumns& columns, uint32_t row) {
  return (columns.events().flags[row] & function_event_flags::kMemory) != 0;
}
bool IsOutOfMemory(const EventColumns& columns, uint32_t row) {
  return (columns.events().flags[row] & function_event_flags::kOutOfMemory) != 0;
}
// Row of the table `allocations` or, for an out-of-memory event, of `instants`.
uint32_t MemoryRowOf(const EventColumns& columns, uint32_t row) {
  return columns.events().allocation[row];
}
uint32_t SpanOf(const EventColumns& columns, uint32_t row) {
  return opscope::Row(columns.events().span[row]);
}

// Start and end on the time axis of the Trace.
EventTimes TimesOf(const EventColumns& columns, uint32_t row) {
  const Trace& trace = columns.trace();
  if (!IsMemory(columns, row)) return opscope::TimesOf(trace, columns.events().span[row]);
  const bool is_request = IsOutOfMemory(columns, row);
  const auto times = is_request ? trace.instants().time : trace.allocations().time;
  return {times[MemoryRowOf(columns, row)], times[MemoryRowOf(columns, row)]};
}

// Nanoseconds of Unix time, exact.
PyObject* StartNs(EventColumns& columns, uint32_t row) {
  return Number(TimesOf(columns, row).start.ns + columns.trace().info().epoch_ns);
}
PyObject* EndNs(EventColumns& columns, uint32_t row) {
  return Number(TimesOf(columns, row).end.ns + columns.trace().info().epoch_ns);
}
PyObject* DurationNs(EventColumns& columns, uint32_t row) {
  const EventTimes times = TimesOf(columns, row);
  return Number((times.end - times.start).ns);
}

PyObject* Bytes(EventColumns& columns, uint32_t row) {
  // Torch reports no size for a failed request.
  const bool is_allocation = IsMemory(columns, row) && !IsOutOfMemory(columns, row);
  return Number(is_allocation ? columns.trace().allocations().bytes[MemoryRowOf(columns, row)] : 0);
}

// Frames as recorded. (FunctionEvent.stack filters them, and for a backward operator takes those of the forward one.)
PyObject* Stack(EventColumns& columns, uint32_t row) {
  nb::list frames;
  const Trace& trace = columns.trace();
  StackId stack = IsMemory(columns, row) ? StackId::kNone : trace.spans().stack[SpanOf(columns, row)];
  for (; stack != StackId::kNone; stack = trace.stacks().caller[opscope::Row(stack)]) {
    frames.append(ToText(trace.text(trace.frames().text[opscope::Row(trace.stacks().frame[opscope::Row(stack)])])));
  }
  return frames.release().ptr();
}

PyObject* MinusOne(EventColumns&, uint32_t) {
  return Number(-1);
}
PyObject* False(EventColumns&, uint32_t) {
  Py_RETURN_FALSE;
}
PyObject* EmptyDict(EventColumns&, uint32_t) {
  return PyDict_New();
}

// type, then number of the device
std::pair<int32_t, int32_t> DeviceOf(const EventColumns& columns, uint32_t row) {
  const Trace& trace = columns.trace();
  const uint32_t at = MemoryRowOf(columns, row);
  if (!IsOutOfMemory(columns, row)) return {trace.allocations().device_type[at], trace.allocations().device[at]};
  const OutOfMemory request = ReadOutOfMemory(trace, at);
  return {request.device_type, request.device};
}
PyObject* DeviceTypeOfMemory(EventColumns& columns, uint32_t row) {
  PyObject* kind = reinterpret_cast<PyObject*>(Py_TYPE(event_classes.cpu));
  return PyObject_CallFunction(kind, "i", DeviceOf(columns, row).first);
}
PyObject* DeviceOfMemory(EventColumns& columns, uint32_t row) {
  return Number(DeviceOf(columns, row).second);
}
PyObject* SystemThreadOfMemory(EventColumns& columns, uint32_t row) {
  const Trace& trace = columns.trace();
  const TrackColumns& tracks = trace.tracks();
  const uint32_t at = MemoryRowOf(columns, row);
  const uint32_t track =
      opscope::Row(IsOutOfMemory(columns, row) ? trace.instants().track[at] : trace.allocations().track[at]);
  return Number(track < tracks.size() ? tracks.tid[track] : 0);
}
PyObject* Zero(EventColumns&, uint32_t) {
  return Number(0);
}
PyObject* EmptyText(EventColumns&, uint32_t) {
  return PyUnicode_FromString("");
}
PyObject* InstantEvent(EventColumns&, uint32_t) {
  return PyUnicode_FromString("cpu_instant_event");
}

using Read = PyObject* (*)(EventColumns&, uint32_t);

// A method, the origin of its value (an attribute of FunctionEvent, or `read`), and `of_memory`, which replaces it in
// rows of memory events.
struct KinetoMethod {
  const char* name;
  const char* attribute = nullptr;
  Read read = nullptr;
  Read of_memory = nullptr;
};

constexpr KinetoMethod kMethods[] = {
    {"name", "name"},
    {"overload_name", "overload_name"},
    {"device_index", "device_index", nullptr, DeviceOfMemory},
    {"device_resource_id", "device_resource_id", nullptr, SystemThreadOfMemory},
    {"start_ns", nullptr, StartNs},
    {"end_ns", nullptr, EndNs},
    {"duration_ns", nullptr, DurationNs},
    {"is_async", "is_async"},
    {"linked_correlation_id", "linked_correlation_id"},
    {"external_id", "external_id"},
    {"shapes", "input_shapes"},
    {"dtypes", "input_dtypes"},
    {"concrete_inputs", "concrete_inputs"},
    {"device_type", "device_type", nullptr, DeviceTypeOfMemory},
    {"start_thread_id", "thread"},
    {"end_thread_id", "thread"},  // the end thread is not recorded
    {"correlation_id", "id"},
    {"fwd_thread_id", "fwd_thread", nullptr, Zero},
    {"stack", nullptr, Stack},
    {"scope", "scope"},
    {"sequence_nr", "sequence_nr"},
    {"flops", "flops", nullptr, Zero},
    {"cuda_elapsed_us", nullptr, MinusOne},  // as in torch, where kernels are separate events
    {"privateuse1_elapsed_us", nullptr, MinusOne},
    {"is_user_annotation", "is_user_annotation"},
    {"is_python_function", "is_python_function"},
    {"is_hidden_event", nullptr, False},
    {"metadata_json", "_metadata_json", nullptr, EmptyText},
    {"activity_type", "activity_type", nullptr, InstantEvent},
    {"extra_meta", nullptr, EmptyDict},
    {"flow_id", "flow_id", nullptr, Zero},
    {"flow_type", "flow_type", nullptr, Zero},
    {"flow_start", "flow_start", nullptr, False},
    {"structured_input_shapes", "structured_input_shapes"},
    {"structured_input_strides", "structured_input_strides"},
    {"python_id", "python_id"},
    {"python_parent_id", "python_parent_id"},
    {"python_module_id", "python_module_id"},
    {"nbytes", nullptr, Bytes},
    {"_extra_json", "_extra_json"},
};
constexpr size_t kMethodCount = std::size(kMethods);

std::array<EventProperty, kMethodCount> readers;  // filled in by BindKinetoEvent

template <size_t method>
PyObject* Call(PyObject* object, PyObject*) {
  EventColumns& columns = *Self(object)->columns;
  const uint32_t row = Self(object)->row;
  constexpr Read kOfMemory = kMethods[method].of_memory;
  if (kOfMemory != nullptr && IsMemory(columns, row)) {
    return ReadProperty({kMethods[method].name, kOfMemory}, columns, row);
  }
  return ReadProperty(readers[method], columns, row);
}

template <size_t... methods>
std::array<PyMethodDef, kMethodCount + 2> MethodTable(std::index_sequence<methods...>) {
  return {PyMethodDef{kMethods[methods].name, &Call<methods>, METH_NOARGS, nullptr}...,
          PyMethodDef{"_place", PlaceOfEvent, METH_NOARGS, nullptr}, PyMethodDef{nullptr, nullptr, 0, nullptr}};
}
std::array<PyMethodDef, kMethodCount + 2> method_table = MethodTable(std::make_index_sequence<kMethodCount>());

EventProperty ReaderOf(const KinetoMethod& method) {
  for (size_t i = 0; method.attribute != nullptr && i < kEventPropertyCount; ++i) {
    if (std::strcmp(kEventProperties[i].name, method.attribute) == 0) return kEventProperties[i];
  }
  return {method.name, method.read};
}

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("One event or one allocation as it was recorded; every value is a method.")},
    {Py_tp_dealloc, reinterpret_cast<void*>(DeallocateEvent)},
    {Py_tp_methods, method_table.data()},
    {0, nullptr},
};
PyType_Spec spec = {
    "opscope.torch.KinetoEvent",
    static_cast<int>(sizeof(EventObject)),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    slots,
};

}  // namespace

void BindKinetoEvent(nb::module_& module) {
  for (size_t method = 0; method < kMethodCount; ++method)
    readers[method] = ReaderOf(kMethods[method]);
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) nb::raise_python_error();
  kineto_event_type = reinterpret_cast<PyTypeObject*>(type);
  module.attr("KinetoEvent") = nb::borrow(type);
}

}  // namespace opscope::python
