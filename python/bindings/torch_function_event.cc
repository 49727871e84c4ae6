// The C types `FunctionEventBase` (attributes of torch's FunctionEvent, read from columns) and `Interval`.
// SPDX-License-Identifier: Apache-2.0
#include "torch_function_events.h"

namespace opscope::python {

namespace {

struct Event {
  PyObject ob_base;
  EventColumns* columns;
  uint32_t row;
};
static_assert(sizeof(Event) == 32);

struct Interval {
  PyObject ob_base;
  PyObject* event;  // null once its values are the event's override, or when the event is not known
  double start;
  double end;
};

PyObject* interval_type = nullptr;

Event* Self(PyObject* object) {
  return reinterpret_cast<Event*>(object);
}

PyObject* New(PyObject* object) {
  Py_INCREF(object);
  return object;
}

// What a getter reads; also the order of `kAttributes`.
enum class Attribute : uint8_t {
  kId,
  kName,
  kKey,
  kTraceName,
  kOverloadName,
  kTimeRange,
  kThread,
  kFwdThread,
  kKernels,
  kCount,
  kCpuChildren,
  kCpuParent,
  kInputShapes,
  kStructuredInputShapes,
  kStructuredInputStrides,
  kInputDtypes,
  kConcreteInputs,
  kStack,
  kScope,
  kUseDevice,
  kCpuMemoryUsage,
  kDeviceMemoryUsage,
  kSelfCpuMemoryUsage,
  kSelfDeviceMemoryUsage,
  kIsAsync,
  kIsUserAnnotation,
  kIsPythonFunction,
  kSequence,
  kDeviceType,
  kDeviceIndex,
  kDeviceResourceId,
  kFlops,
  kActivityType,
  kExternalId,
  kCpuTimeTotal,
  kSelfCpuTimeTotal,
  kDeviceTimeTotal,
  kSelfDeviceTimeTotal,
  kCpuTime,
  kDeviceTime,
  kExtra,
  kMinusOne,
  kZero,
  kFalse,
  kNone,
  kEmptyText,
};

// The values of one row, with torch's rules for what an attribute is.
class Reader {
 public:
  Reader(EventColumns* columns, uint32_t row)
      : columns_(*columns), trace_(columns->trace()), events_(columns->events()), row_(row) {}

  PyObject* Read(Attribute attribute) const;

 private:
  bool Has(uint8_t flag) const { return (events_.flags[row_] & flag) != 0; }
  bool on_device() const { return Has(function_event_flags::kDevice); }
  bool is_async() const { return Has(function_event_flags::kAsync); }
  SpanId span() const { return events_.span[row_]; }
  bool has_span() const { return span() != SpanId::kNone; }
  ArgsId args() const { return has_span() ? trace_.spans().args[Row(span())] : ArgsId::kNone; }

  PyObject* ReadTime(Attribute attribute) const;
  PyObject* ReadMemory(Attribute attribute) const;
  PyObject* ReadSpan(Attribute attribute) const;
  PyObject* ReadPlace(Attribute attribute) const;
  PyObject* TraceName() const;
  PyObject* DeviceType() const;
  PyObject* Kernels() const;
  PyObject* Children() const;
  PyObject* Stack() const;

  EventColumns& columns_;
  const Trace& trace_;
  const FunctionEvents& events_;
  uint32_t row_;
};

PyObject* Reader::ReadTime(Attribute attribute) const {
  switch (attribute) {
    case Attribute::kCpuTimeTotal:
      return on_device() ? PyLong_FromLong(0) : PyFloat_FromDouble(CpuTimeTotal(events_, row_));
    case Attribute::kCpuTime:
      return PyFloat_FromDouble(on_device() ? 0.0 : CpuTimeTotal(events_, row_));
    case Attribute::kSelfCpuTimeTotal:
      if (is_async() || on_device()) return PyLong_FromLong(0);
      return PyFloat_FromDouble(SelfCpuTimeTotal(events_, row_));
    case Attribute::kDeviceTime:
      return PyFloat_FromDouble(DeviceTimeTotal(events_, row_));
    case Attribute::kDeviceTimeTotal:
      if (is_async() || events_.use_device.empty()) return PyLong_FromLong(0);
      return PyFloat_FromDouble(DeviceTimeTotal(events_, row_));
    default:
      if (is_async() || events_.use_device.empty()) return PyLong_FromLong(0);
      return PyFloat_FromDouble(SelfDeviceTimeTotal(events_, row_));
  }
}

PyObject* Reader::ReadMemory(Attribute attribute) const {
  switch (attribute) {
    case Attribute::kCpuMemoryUsage:
      return PyLong_FromLongLong(events_.cpu_memory_usage.empty() ? 0 : events_.cpu_memory_usage[row_]);
    case Attribute::kDeviceMemoryUsage:
      return PyLong_FromLongLong(events_.device_memory_usage.empty() ? 0 : events_.device_memory_usage[row_]);
    case Attribute::kSelfCpuMemoryUsage:
      return PyLong_FromLongLong(SelfCpuMemoryUsage(events_, row_));
    default:
      return PyLong_FromLongLong(SelfDeviceMemoryUsage(events_, row_));
  }
}

// The name before "ProfilerStep#N" became "ProfilerStep*"; None for rows that are not in the trace.
PyObject* Reader::TraceName() const {
  if (!has_span()) return New(Py_None);
  if (NameText(trace_, events_, row_) != "ProfilerStep*") return columns_.Name(row_);
  return columns_.Text(trace_.spans().name[Row(span())]);
}

PyObject* Reader::DeviceType() const {
  if (!on_device()) return New(event_classes.cpu);
  PyObject* type = PyDict_GetItemString(event_classes.device_types, events_.use_device.c_str());
  return New(type != nullptr ? type : event_classes.cpu);
}

PyObject* Reader::Kernels() const {
  PyObject* list = PyList_New(0);
  if (list == nullptr || events_.kernel_offset.empty()) return list;
  for (uint32_t k = events_.kernel_offset[row_]; k < events_.kernel_offset[row_ + 1]; ++k) {
    const auto device_row = static_cast<uint32_t>(events_.kernels[k]);
    const Reader device(&columns_, device_row);
    PyObject* name = columns_.Name(device_row);
    PyObject* index = device.ReadPlace(Attribute::kDeviceIndex);
    PyObject* kernel = name == nullptr || index == nullptr
                           ? nullptr
                           : PyObject_CallFunction(event_classes.kernel, "OOd", name, index,
                                                   events_.end_us[device_row] - events_.start_us[device_row]);
    Py_XDECREF(name);
    Py_XDECREF(index);
    if (kernel == nullptr || PyList_Append(list, kernel) != 0) {
      Py_XDECREF(kernel);
      Py_DECREF(list);
      return nullptr;
    }
    Py_DECREF(kernel);
  }
  return list;
}

PyObject* Reader::Children() const {
  PyObject* list = PyList_New(0);
  if (list == nullptr) return nullptr;
  for (EventIndex i = events_.first_child[row_]; i != EventIndex::kNone;
       i = events_.next_sibling[static_cast<uint32_t>(i)]) {
    PyObject* child = columns_.Event(static_cast<uint32_t>(i));
    if (child == nullptr || PyList_Append(list, child) != 0) {
      Py_XDECREF(child);
      Py_DECREF(list);
      return nullptr;
    }
    Py_DECREF(child);
  }
  return list;
}

PyObject* Reader::Stack() const {
  PyObject* list = PyList_New(0);
  if (list == nullptr) return nullptr;
  for (const std::string_view frame : columns_.Stack(row_)) {
    PyObject* text = ToText(frame).release().ptr();
    const int failed = PyList_Append(list, text);
    Py_DECREF(text);
    if (failed != 0) {
      Py_DECREF(list);
      return nullptr;
    }
  }
  return list;
}

PyObject* Reader::ReadPlace(Attribute attribute) const {
  if (!has_span())
    return attribute == Attribute::kDeviceIndex ? PyLong_FromLong(0) : PyLong_FromLong(events_.thread[row_]);
  const TrackColumns& tracks = trace_.tracks();
  const TrackId track = trace_.spans().track[Row(span())];
  if (track == TrackId::kNone) return PyLong_FromLong(0);
  if (attribute == Attribute::kDeviceResourceId) return PyLong_FromLongLong(tracks.tid[Row(track)]);
  if (on_device()) return PyLong_FromLong(tracks.device[Row(track)]);
  const ProcessId process = tracks.process[Row(track)];
  return PyLong_FromLongLong(process == ProcessId::kNone ? 0 : trace_.processes().pid[Row(process)]);
}

PyObject* Reader::ReadSpan(Attribute attribute) const {
  const SpanColumns& spans = trace_.spans();
  if (!has_span()) {
    switch (attribute) {
      case Attribute::kSequence:
        return PyLong_FromLong(-1);
      case Attribute::kFwdThread:
        return PyLong_FromUnsignedLong(events_.thread[row_]);
      case Attribute::kExtra:
      case Attribute::kActivityType:
        return New(Py_None);
      case Attribute::kOverloadName:
        return PyUnicode_FromString("");
      default:
        return PyLong_FromLong(0);
    }
  }
  const uint32_t i = Row(span());
  switch (attribute) {
    case Attribute::kSequence:
      return PyLong_FromLongLong(spans.sequence[i]);
    case Attribute::kFwdThread:
      return PyLong_FromUnsignedLongLong(spans.sequence[i] >= 0 ? spans.forward_thread[i] : 0);
    case Attribute::kActivityType:
      return columns_.Text(spans.category[i]);
    case Attribute::kOverloadName:
      return columns_.Text(spans.overload[i]);
    case Attribute::kExtra:
      if (spans.extra[i] == StringId::kNone) return New(Py_None);
      return ToText(trace_.text(spans.extra[i])).release().ptr();
    default:  // kExternalId
      return PyLong_FromUnsignedLong(spans.external_id[i]);
  }
}

PyObject* Reader::Read(Attribute attribute) const {
  switch (attribute) {
    case Attribute::kId:
      return PyLong_FromLongLong(CorrelationId(trace_, events_, row_));
    case Attribute::kName:
    case Attribute::kKey:
      return columns_.Name(row_);
    case Attribute::kTraceName:
      return TraceName();
    case Attribute::kThread:
      return PyLong_FromUnsignedLong(events_.thread[row_]);
    case Attribute::kCount:
      return PyLong_FromLong(1);
    case Attribute::kKernels:
      return Kernels();
    case Attribute::kCpuChildren:
      return Children();
    case Attribute::kCpuParent:
      if (events_.parent[row_] == EventIndex::kNone) return New(Py_None);
      return columns_.Event(static_cast<uint32_t>(events_.parent[row_]));
    case Attribute::kInputShapes:
      return InputShapes(trace_, args(), false);
    case Attribute::kStructuredInputShapes:
      return InputShapes(trace_, args(), true);
    case Attribute::kStructuredInputStrides:
      return InputStrides(trace_, args());
    case Attribute::kInputDtypes:
      return InputTypes(trace_, args());
    case Attribute::kConcreteInputs:
      return ConcreteInputs(trace_, args());
    case Attribute::kStack:
      return Stack();
    case Attribute::kScope:
      return PyLong_FromLong(static_cast<long>(Scope(trace_, events_, row_)));
    case Attribute::kUseDevice:
      return events_.use_device.empty() ? New(Py_None) : PyUnicode_FromString(events_.use_device.c_str());
    case Attribute::kIsAsync:
      return PyBool_FromLong(is_async());
    case Attribute::kIsUserAnnotation:
      return PyBool_FromLong(Has(function_event_flags::kUserAnnotation));
    case Attribute::kIsPythonFunction:
      return PyBool_FromLong(Has(function_event_flags::kPythonFunction));
    case Attribute::kDeviceType:
      return DeviceType();
    case Attribute::kFlops:
      if (Has(function_event_flags::kMemory)) return New(Py_None);
      return PyLong_FromLongLong(events_.flops.empty() ? 0 : events_.flops[row_]);
    case Attribute::kDeviceIndex:
    case Attribute::kDeviceResourceId:
      return ReadPlace(attribute);
    case Attribute::kSequence:
    case Attribute::kFwdThread:
    case Attribute::kActivityType:
    case Attribute::kOverloadName:
    case Attribute::kExtra:
    case Attribute::kExternalId:
      return ReadSpan(attribute);
    case Attribute::kCpuMemoryUsage:
    case Attribute::kDeviceMemoryUsage:
    case Attribute::kSelfCpuMemoryUsage:
    case Attribute::kSelfDeviceMemoryUsage:
      return ReadMemory(attribute);
    case Attribute::kMinusOne:
      return PyLong_FromLong(-1);
    case Attribute::kZero:
      return PyLong_FromLong(0);
    case Attribute::kFalse:
      return New(Py_False);
    case Attribute::kNone:
      return New(Py_None);
    case Attribute::kEmptyText:
      return PyUnicode_FromString("");
    default:
      return ReadTime(attribute);
  }
}

struct Property {
  const char* name;
  Attribute attribute;
  bool derived = false;  // computed from attributes that a program may set
};

const Property kProperties[] = {
    {"id", Attribute::kId},
    {"name", Attribute::kName},
    {"key", Attribute::kKey, true},
    {"trace_name", Attribute::kTraceName},
    {"overload_name", Attribute::kOverloadName},
    {"time_range", Attribute::kTimeRange},
    {"thread", Attribute::kThread},
    {"fwd_thread", Attribute::kFwdThread},
    {"kernels", Attribute::kKernels},
    {"count", Attribute::kCount},
    {"cpu_children", Attribute::kCpuChildren},
    {"cpu_parent", Attribute::kCpuParent},
    {"input_shapes", Attribute::kInputShapes},
    {"structured_input_shapes", Attribute::kStructuredInputShapes},
    {"structured_input_strides", Attribute::kStructuredInputStrides},
    {"input_dtypes", Attribute::kInputDtypes},
    {"concrete_inputs", Attribute::kConcreteInputs},
    {"stack", Attribute::kStack},
    {"scope", Attribute::kScope},
    {"use_device", Attribute::kUseDevice},
    {"cpu_memory_usage", Attribute::kCpuMemoryUsage},
    {"device_memory_usage", Attribute::kDeviceMemoryUsage},
    {"self_cpu_memory_usage", Attribute::kSelfCpuMemoryUsage, true},
    {"self_device_memory_usage", Attribute::kSelfDeviceMemoryUsage, true},
    {"is_async", Attribute::kIsAsync},
    {"is_remote", Attribute::kFalse},
    {"is_legacy", Attribute::kFalse},
    {"is_user_annotation", Attribute::kIsUserAnnotation},
    {"is_python_function", Attribute::kIsPythonFunction},
    {"sequence_nr", Attribute::kSequence},
    {"node_id", Attribute::kMinusOne},
    {"device_type", Attribute::kDeviceType},
    {"device_index", Attribute::kDeviceIndex},
    {"device_resource_id", Attribute::kDeviceResourceId},
    {"flops", Attribute::kFlops},
    {"activity_type", Attribute::kActivityType},
    {"external_id", Attribute::kExternalId},
    {"linked_correlation_id", Attribute::kZero},
    {"flow_id", Attribute::kZero},
    {"flow_type", Attribute::kZero},
    {"flow_start", Attribute::kFalse},
    {"event_metadata", Attribute::kNone},
    {"self_cpu_percent", Attribute::kMinusOne},
    {"total_cpu_percent", Attribute::kMinusOne},
    {"total_device_percent", Attribute::kMinusOne},
    {"python_id", Attribute::kMinusOne},
    {"python_parent_id", Attribute::kMinusOne},
    {"python_module_id", Attribute::kMinusOne},
    {"_metadata_json", Attribute::kEmptyText},
    {"_extra_json", Attribute::kExtra},
    {"cpu_time_total", Attribute::kCpuTimeTotal, true},
    {"self_cpu_time_total", Attribute::kSelfCpuTimeTotal, true},
    {"device_time_total", Attribute::kDeviceTimeTotal, true},
    {"self_device_time_total", Attribute::kSelfDeviceTimeTotal, true},
    {"cpu_time", Attribute::kCpuTime, true},
    {"device_time", Attribute::kDeviceTime, true},
};
constexpr size_t kPropertyCount = sizeof(kProperties) / sizeof(kProperties[0]);
PyGetSetDef event_getset[kPropertyCount + 1];

PyObject* TimeRange(PyObject* object) {
  Event* self = Self(object);
  PyObject* made = PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(interval_type), 0);
  if (made == nullptr) return nullptr;
  auto* interval = reinterpret_cast<Interval*>(made);
  interval->event = New(object);
  interval->start = self->columns->events().start_us[self->row];
  interval->end = self->columns->events().end_us[self->row];
  return made;
}

PyObject* GetAttribute(PyObject* object, void* closure) {
  const auto* property = static_cast<const Property*>(closure);
  Event* self = Self(object);
  if (property->derived && self->columns->overrides() != nullptr) {
    PyObject* rule = PyDict_GetItemString(event_classes.derived, property->name);
    if (rule != nullptr) return PyObject_CallFunctionObjArgs(rule, object, nullptr);
  }
  if (property->attribute == Attribute::kTimeRange) return TimeRange(object);
  try {
    return Reader(self->columns, self->row).Read(property->attribute);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  return nullptr;
}

PyObject* EventGetAttribute(PyObject* object, PyObject* name) {
  Event* self = Self(object);
  if (self->columns->overrides() != nullptr) {
    PyObject* value = self->columns->Override(self->row, name);
    if (value != nullptr) return New(value);
  }
  return PyObject_GenericGetAttr(object, name);
}

int EventSetAttribute(PyObject* object, PyObject* name, PyObject* value) {
  Event* self = Self(object);
  if (value == nullptr && self->columns->Override(self->row, name) == nullptr) {
    PyErr_SetObject(PyExc_AttributeError, name);
    return -1;
  }
  return self->columns->SetOverride(self->row, name, value) ? 0 : -1;
}

PyObject* EventNew(PyTypeObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_TypeError, "FunctionEvent objects come from profile.events()");
  return nullptr;
}

void EventDealloc(PyObject* object) {
  Event* self = Self(object);
  EventColumns* columns = self->columns;
  PyTypeObject* type = Py_TYPE(object);
  if (columns != nullptr) columns->Forget(self->row);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  if (columns != nullptr) columns->Release();
  Py_DECREF(type);
}

// (columns, row): what pickling keeps of an element.
PyObject* EventPlace(PyObject* object, PyObject*) {
  return Py_BuildValue("(OI)", Self(object)->columns->handle(), Self(object)->row);
}

PyMethodDef event_methods[] = {
    {"_place", EventPlace, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot event_slots[] = {
    {Py_tp_doc, const_cast<char*>("One event of a recording; `FunctionEvent` adds what is rarely used.")},
    {Py_tp_new, reinterpret_cast<void*>(EventNew)},
    {Py_tp_dealloc, reinterpret_cast<void*>(EventDealloc)},
    {Py_tp_getattro, reinterpret_cast<void*>(EventGetAttribute)},
    {Py_tp_setattro, reinterpret_cast<void*>(EventSetAttribute)},
    {Py_tp_getset, event_getset},
    {Py_tp_methods, event_methods},
    {0, nullptr},
};
PyType_Spec event_spec = {
    "opscope._core.FunctionEventBase",
    static_cast<int>(sizeof(Event)),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    event_slots,
};

// ---- Interval -----------------------------------------------------------------------------------

int IntervalInit(PyObject* object, PyObject* args, PyObject* keywords) {
  static const char* const kNames[] = {"start", "end", nullptr};
  auto* self = reinterpret_cast<Interval*>(object);
  return PyArg_ParseTupleAndKeywords(args, keywords, "dd:Interval", const_cast<char**>(kNames), &self->start,
                                     &self->end)
             ? 0
             : -1;
}

PyObject* IntervalGet(PyObject* object, void* which) {
  auto* self = reinterpret_cast<Interval*>(object);
  return PyFloat_FromDouble(which == nullptr ? self->start : self->end);
}

int IntervalSet(PyObject* object, PyObject* value, void* which) {
  auto* self = reinterpret_cast<Interval*>(object);
  const double number = value == nullptr ? -1 : PyFloat_AsDouble(value);
  if (value == nullptr) PyErr_SetString(PyExc_AttributeError, "cannot be deleted");
  if (PyErr_Occurred() != nullptr) return -1;
  (which == nullptr ? self->start : self->end) = number;
  if (self->event == nullptr) return 0;
  // From here on these values are the event's; it would otherwise make a fresh interval.
  PyObject* event = self->event;
  self->event = nullptr;
  const int result = PyObject_SetAttrString(event, "time_range", object);
  Py_DECREF(event);
  return result;
}

PyObject* IntervalElapsed(PyObject* object, PyObject*) {
  auto* self = reinterpret_cast<Interval*>(object);
  return PyFloat_FromDouble(self->end - self->start);
}

PyObject* IntervalReduce(PyObject* object, PyObject*) {
  auto* self = reinterpret_cast<Interval*>(object);
  return Py_BuildValue("(O(dd))", Py_TYPE(object), self->start, self->end);
}

void IntervalDealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Py_CLEAR(reinterpret_cast<Interval*>(object)->event);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

int end_tag = 0;
PyGetSetDef interval_getset[] = {
    {"start", IntervalGet, IntervalSet, "Microseconds since the recording began.", nullptr},
    {"end", IntervalGet, IntervalSet, "Microseconds since the recording began.", &end_tag},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMethodDef interval_methods[] = {
    {"elapsed_us", IntervalElapsed, METH_NOARGS, "The length of the interval."},
    {"__reduce__", IntervalReduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot interval_slots[] = {
    {Py_tp_doc, const_cast<char*>("Interval(start, end)\n--\n\nA span of time in microseconds.")},
    {Py_tp_init, reinterpret_cast<void*>(IntervalInit)},
    {Py_tp_dealloc, reinterpret_cast<void*>(IntervalDealloc)},
    {Py_tp_getset, interval_getset},
    {Py_tp_methods, interval_methods},
    {0, nullptr},
};
PyType_Spec interval_spec = {
    "opscope._core.Interval", static_cast<int>(sizeof(Interval)), 0, Py_TPFLAGS_DEFAULT, interval_slots,
};

}  // namespace

PyObject* MakeEvent(EventColumns* columns, uint32_t row) {
  PyObject* made = PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(event_classes.event), 0);
  if (made == nullptr) return nullptr;
  Self(made)->columns = columns;
  Self(made)->row = row;
  columns->Hold();
  return made;
}

std::optional<uint32_t> RowOf(PyObject* object, const EventColumns* columns) {
  if (event_classes.event == nullptr || Py_TYPE(object) != reinterpret_cast<PyTypeObject*>(event_classes.event) ||
      Self(object)->columns != columns) {
    return std::nullopt;
  }
  return Self(object)->row;
}

void BindFunctionEvent(nb::module_& module) {
  for (size_t i = 0; i < kPropertyCount; ++i) {
    event_getset[i] = {kProperties[i].name, GetAttribute, nullptr, nullptr, const_cast<Property*>(&kProperties[i])};
  }
  PyObject* type = PyType_FromSpec(&event_spec);
  interval_type = PyType_FromSpec(&interval_spec);
  if (type == nullptr || interval_type == nullptr) nb::raise_python_error();
  module.attr("FunctionEventBase") = nb::steal(type);
  module.attr("Interval") = nb::borrow(interval_type);
}

}  // namespace opscope::python
