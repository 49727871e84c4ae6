// Computes each attribute of a FunctionEvent by torch's rules: the getter table of the C type.
//
// torch computes all attributes of all events after a recording; here each is computed from the columns when it is
// read. For example `cpu_children` makes a list of the objects of the rows directly below, and `device_time` sums the
// kernels that the row launched.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "python/bindings/torch/function_events.h"

namespace opscope::python {
namespace {

namespace flags = function_event_flags;

// One row of the columns; lives while one attribute is read.
struct Row {
  EventColumns& columns;
  uint32_t index;

  const Trace& trace() const { return columns.trace(); }
  const FunctionEvents& events() const { return columns.events(); }
  bool Has(uint8_t flag) const { return (events().flags[index] & flag) != 0; }
  bool on_device() const { return Has(flags::kDevice); }
  bool is_async() const { return Has(flags::kAsync); }
  bool has_device_time() const { return !is_async() && !events().use_device.empty(); }
  bool has_span() const { return events().span[index] != SpanId::kNone; }  // a "[memory]" row has none
  uint32_t span() const { return opscope::Row(events().span[index]); }
  ArgsId args() const { return has_span() ? trace().spans().args[span()] : ArgsId::kNone; }
};

PyObject* Zero() {
  return PyLong_FromLong(0);
}

// The recorded name, for example "ProfilerStep#3" where `name` is "ProfilerStep*"; None for rows that are not in the
// trace.
PyObject* TraceName(const Row& row) {
  if (!row.has_span()) return Py_NewRef(Py_None);
  if (NameText(row.trace(), row.events(), row.index) != "ProfilerStep*") return row.columns.Name(row.index);
  return row.columns.Text(row.trace().spans().name[row.span()]);
}

PyObject* DeviceType(const Row& row) {
  if (!row.on_device()) return Py_NewRef(event_classes.cpu);
  PyObject* type = PyDict_GetItemString(event_classes.device_types, row.events().use_device.c_str());
  return Py_NewRef(type != nullptr ? type : event_classes.cpu);
}

// Process of a CPU event, device of a device event.
PyObject* DeviceIndex(const Row& row) {
  if (!row.has_span()) return Zero();
  const TrackId track = row.trace().spans().track[row.span()];
  if (track == TrackId::kNone) return Zero();
  if (row.on_device()) return PyLong_FromLong(row.trace().tracks().device[opscope::Row(track)]);
  const ProcessId process = row.trace().tracks().process[opscope::Row(track)];
  return PyLong_FromLongLong(process == ProcessId::kNone ? 0 : row.trace().processes().pid[opscope::Row(process)]);
}

// The system's thread id of a CPU event; the stream of a device event.
PyObject* DeviceResource(const Row& row) {
  if (!row.has_span()) return PyLong_FromUnsignedLong(row.events().thread[row.index]);
  const TrackId track = row.trace().spans().track[row.span()];
  return PyLong_FromLongLong(track == TrackId::kNone ? 0 : row.trace().tracks().tid[opscope::Row(track)]);
}

bool AppendAndRelease(PyObject* list, PyObject* item) {
  const bool appended = item != nullptr && PyList_Append(list, item) == 0;
  Py_XDECREF(item);
  return appended;
}

PyObject* KernelOf(const Row& device) {
  const FunctionEvents& events = device.events();
  const double duration = events.end_us[device.index] - events.start_us[device.index];
  PyObject* name = device.columns.Name(device.index);
  PyObject* index = DeviceIndex(device);
  PyObject* kernel = name == nullptr || index == nullptr
                         ? nullptr
                         : PyObject_CallFunction(event_classes.kernel, "OOd", name, index, duration);
  Py_XDECREF(name);
  Py_XDECREF(index);
  return kernel;
}

PyObject* Kernels(const Row& row) {
  const FunctionEvents& events = row.events();
  PyObject* list = PyList_New(0);
  if (list == nullptr || events.kernel_offset.empty()) return list;
  for (uint32_t k = events.kernel_offset[row.index]; k < events.kernel_offset[row.index + 1]; ++k) {
    if (!AppendAndRelease(list, KernelOf({row.columns, static_cast<uint32_t>(events.kernels[k])}))) {
      Py_DECREF(list);
      return nullptr;
    }
  }
  return list;
}

PyObject* Children(const Row& row) {
  const FunctionEvents& events = row.events();
  PyObject* list = PyList_New(0);
  if (list == nullptr) return nullptr;
  for (EventIndex child = events.first_child[row.index]; child != EventIndex::kNone;
       child = events.next_sibling[static_cast<uint32_t>(child)]) {
    if (!AppendAndRelease(list, row.columns.Event(static_cast<uint32_t>(child)))) {
      Py_DECREF(list);
      return nullptr;
    }
  }
  return list;
}

PyObject* Parent(const Row& row) {
  const EventIndex parent = row.events().parent[row.index];
  return parent == EventIndex::kNone ? Py_NewRef(Py_None) : row.columns.Event(static_cast<uint32_t>(parent));
}

PyObject* Stack(const Row& row) {
  PyObject* list = PyList_New(0);
  if (list == nullptr) return nullptr;
  for (const std::string_view frame : row.columns.Stack(row.index)) {
    if (!AppendAndRelease(list, ToText(frame).release().ptr())) {
      Py_DECREF(list);
      return nullptr;
    }
  }
  return list;
}

PyObject* Extra(const Row& row) {
  const StringId extra = row.has_span() ? row.trace().spans().extra[row.span()] : StringId::kNone;
  return extra == StringId::kNone ? Py_NewRef(Py_None) : ToText(row.trace().text(extra)).release().ptr();
}

PyObject* ForwardThread(const Row& row) {
  if (!row.has_span()) return PyLong_FromUnsignedLong(row.events().thread[row.index]);
  const SpanColumns& spans = row.trace().spans();
  return PyLong_FromUnsignedLongLong(spans.sequence[row.span()] >= 0 ? spans.forward_thread[row.span()] : 0);
}

PyObject* Flops(const Row& row) {
  if (row.Has(flags::kMemory)) return Py_NewRef(Py_None);
  return PyLong_FromLongLong(row.events().flops.empty() ? 0 : row.events().flops[row.index]);
}

PyObject* UseDevice(const Row& row) {
  const std::string& device = row.events().use_device;
  return device.empty() ? Py_NewRef(Py_None) : PyUnicode_FromString(device.c_str());
}

PyObject* Bytes(const std::vector<int64_t>& column, uint32_t index) {
  return PyLong_FromLongLong(column.empty() ? 0 : column[index]);
}

PyObject* CpuTotal(const Row& row) {
  return row.on_device() ? Zero() : PyFloat_FromDouble(CpuTimeTotal(row.events(), row.index));
}
PyObject* SelfCpuTotal(const Row& row) {
  if (row.is_async() || row.on_device()) return Zero();
  return PyFloat_FromDouble(SelfCpuTimeTotal(row.events(), row.index));
}
PyObject* DeviceTotal(const Row& row) {
  return row.has_device_time() ? PyFloat_FromDouble(DeviceTimeTotal(row.events(), row.index)) : Zero();
}
PyObject* SelfDeviceTotal(const Row& row) {
  return row.has_device_time() ? PyFloat_FromDouble(SelfDeviceTimeTotal(row.events(), row.index)) : Zero();
}

enum class CallNumber { kId, kCaller, kModuleId };

// torch's ids of a Python call; -1 if there is none.
template <CallNumber number>
PyObject* PythonNumber(const Row& row) {
  if (!row.Has(flags::kPythonFunction)) return PyLong_FromLong(-1);
  const PythonCallColumns& calls = row.trace().python_calls();
  const auto found = std::lower_bound(calls.span.begin(), calls.span.end(), SpanId{row.span()});
  if (found == calls.span.end() || *found != SpanId{row.span()}) return PyLong_FromLong(-1);
  const auto call = static_cast<size_t>(found - calls.span.begin());
  if (number == CallNumber::kModuleId) return PyLong_FromLong(calls.module_id[call]);
  const uint32_t id = number == CallNumber::kId ? calls.id[call] : calls.caller[call];
  return id == 0 ? PyLong_FromLong(-1) : PyLong_FromUnsignedLong(id);
}

PyObject* MinusOne(const Row&) {
  return PyLong_FromLong(-1);
}
PyObject* NotSet(const Row&) {
  return Py_NewRef(Py_False);
}

template <PyObject* (*read)(const Row&)>
PyObject* Read(EventColumns& columns, uint32_t index) {
  return read(Row{columns, index});
}
// For one-liners: READ(expression over `row`).
#define READ(expression) Read<+[](const Row& row) -> PyObject* { return expression; }>

}  // namespace

const EventProperty kEventProperties[] = {
    {"id", READ(PyLong_FromLongLong(CorrelationId(row.trace(), row.events(), row.index)))},
    {"name", READ(row.columns.Name(row.index))},
    {"key", READ(row.columns.Name(row.index)), true},
    {"trace_name", Read<TraceName>},
    {"overload_name",
     READ(row.columns.Text(row.has_span() ? row.trace().spans().overload[row.span()] : StringId::kEmpty))},
    {"thread", READ(PyLong_FromUnsignedLong(row.events().thread[row.index]))},
    {"fwd_thread", Read<ForwardThread>},
    {"kernels", Read<Kernels>},
    {"count", READ((static_cast<void>(row), PyLong_FromLong(1)))},
    {"cpu_children", Read<Children>},
    {"cpu_parent", Read<Parent>},
    {"input_shapes", READ(InputShapes(row.trace(), row.args(), false))},
    {"structured_input_shapes", READ(InputShapes(row.trace(), row.args(), true))},
    {"structured_input_strides", READ(InputStrides(row.trace(), row.args()))},
    {"input_dtypes", READ(InputTypes(row.trace(), row.args()))},
    {"concrete_inputs", READ(ConcreteInputs(row.trace(), row.args()))},
    {"stack", Read<Stack>},
    {"scope", READ(PyLong_FromLong(static_cast<long>(ScopeTypeOf(row.trace(), row.events(), row.index))))},
    {"use_device", Read<UseDevice>},
    {"cpu_memory_usage", READ(Bytes(row.events().cpu_memory_usage, row.index))},
    {"device_memory_usage", READ(Bytes(row.events().device_memory_usage, row.index))},
    {"self_cpu_memory_usage", READ(PyLong_FromLongLong(SelfCpuMemoryUsage(row.events(), row.index))), true},
    {"self_device_memory_usage", READ(PyLong_FromLongLong(SelfDeviceMemoryUsage(row.events(), row.index))), true},
    {"is_async", READ(PyBool_FromLong(row.is_async()))},
    {"is_remote", Read<NotSet>},
    {"is_legacy", Read<NotSet>},
    {"is_user_annotation", READ(PyBool_FromLong(row.Has(flags::kUserAnnotation)))},
    {"is_python_function", READ(PyBool_FromLong(row.Has(flags::kPythonFunction)))},
    {"sequence_nr", READ(PyLong_FromLongLong(row.has_span() ? row.trace().spans().sequence[row.span()] : -1))},
    {"node_id", Read<MinusOne>},
    {"device_type", Read<DeviceType>},
    {"device_index", Read<DeviceIndex>},
    {"device_resource_id", Read<DeviceResource>},
    {"flops", Read<Flops>},
    {"activity_type",
     READ(row.has_span() ? row.columns.Text(row.trace().spans().category[row.span()]) : Py_NewRef(Py_None))},
    {"external_id", READ(PyLong_FromUnsignedLong(row.has_span() ? row.trace().spans().external_id[row.span()] : 0))},
    {"linked_correlation_id", READ(PyLong_FromLongLong(LinkedCorrelationId(row.trace(), row.events(), row.index)))},
    {"flow_id", READ(PyLong_FromUnsignedLongLong(row.columns.FlowOf(row.index).id))},
    {"flow_type", READ(PyLong_FromLong(row.columns.FlowOf(row.index).type))},
    {"flow_start", READ(PyBool_FromLong(row.columns.FlowOf(row.index).is_start))},
    {"self_cpu_percent", Read<MinusOne>},
    {"total_cpu_percent", Read<MinusOne>},
    {"total_device_percent", Read<MinusOne>},
    {"python_id", Read<PythonNumber<CallNumber::kId>>},
    {"python_parent_id", Read<PythonNumber<CallNumber::kCaller>>},
    {"python_module_id", Read<PythonNumber<CallNumber::kModuleId>>},
    {"_metadata_json",
     READ(row.has_span() ? ToText(row.columns.MetadataJson(row.index)).release().ptr() : Py_NewRef(Py_None))},
    {"_extra_json", Read<Extra>},
    {"cpu_time_total", Read<CpuTotal>, true},
    {"self_cpu_time_total", Read<SelfCpuTotal>, true},
    {"device_time_total", Read<DeviceTotal>, true},
    {"self_device_time_total", Read<SelfDeviceTotal>, true},
    {"cpu_time", READ(PyFloat_FromDouble(row.on_device() ? 0.0 : CpuTimeTotal(row.events(), row.index))), true},
    {"device_time", READ(PyFloat_FromDouble(DeviceTimeTotal(row.events(), row.index))), true},
};
#undef READ
const size_t kEventPropertyCount = sizeof(kEventProperties) / sizeof(kEventProperties[0]);

}  // namespace opscope::python
