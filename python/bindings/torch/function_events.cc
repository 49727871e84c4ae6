// `_core.torch.FunctionEvents`: the columns behind an EventList, its elements, averages, and pickling.
//
// The object of a row is created at its first use and found again as long as it is referenced, so that `events()[3] is
// events()[3]`. Averages, totals and tables read the columns directly as long as the list holds exactly the recorded
// events, unchanged.
// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/torch/function_events.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>

#include "opscope/export.h"
#include "opscope/import.h"
#include "opscope/report.h"
#include "opscope/torch/function_event_table.h"

namespace opscope::python {

EventClasses event_classes;

EventColumns::EventColumns(std::shared_ptr<const Trace> trace, FunctionEvents events)
    : trace_(std::move(trace)), events_(std::make_shared<const FunctionEvents>(std::move(events))) {
}

EventColumns::~EventColumns() {
  for (PyObject* text : texts_)
    Py_XDECREF(text);
  Py_XDECREF(overrides_);
}

PyObject* EventColumns::handle() {
  if (handle_ == nullptr) handle_ = nb::find(*this).ptr();
  return handle_;
}

PyObject* EventColumns::Event(uint32_t row) {
  if (objects_.empty()) {
    handle();
    objects_.resize(events_->size());
  }
  PyObject*& place = objects_[row];
  if (place != nullptr) {
    return Py_NewRef(place);
  }
  PyObject* made = MakeEvent(this, row);
  objects_[row] = made;
  return made;
}

PyObject* EventColumns::Cached(uint32_t id, std::string_view text) {
  if (texts_.empty()) texts_.resize(trace_->string_count() + events_->rewritten_names.size() + 1);
  if (id >= texts_.size()) return ToText(text).release().ptr();
  PyObject*& place = texts_[id];
  if (place == nullptr) place = ToText(text).release().ptr();
  return Py_NewRef(place);
}

PyObject* EventColumns::Name(uint32_t row) {
  return Cached(opscope::Row(events_->name[row]), NameText(*trace_, *events_, row));
}

PyObject* EventColumns::Text(StringId id) {
  if (id == StringId::kNone) id = StringId::kEmpty;
  return Cached(opscope::Row(id), trace_->text(id));
}

std::vector<std::string_view> EventColumns::Stack(uint32_t row) {
  if (trace_->stacks().size() == 0) return {};
  if (stacks_ == nullptr) stacks_ = std::make_unique<FunctionEventStacks>(*trace_, *events_);
  return stacks_->Of(row);
}

EventColumns::Flow EventColumns::FlowOf(uint32_t row) {
  if (!flows_) {
    flows_.emplace();
    const FlowColumns& flows = trace_->flows();
    for (size_t i = 0; i < flows.size(); ++i) {
      const int type = trace_->text(flows.category[i]) == "fwdbwd" ? 1 : 2;
      // A span may be an end of several arrows; torch reports the last one.
      if (flows.start_span[i] != SpanId::kNone) {
        (*flows_)[opscope::Row(flows.start_span[i])] = {flows.id[i], type, true};
      }
      if (flows.end_span[i] != SpanId::kNone) (*flows_)[opscope::Row(flows.end_span[i])] = {flows.id[i], type, false};
    }
  }
  const auto found = flows_->find(opscope::Row(events_->span[row]));
  return found == flows_->end() ? Flow{} : found->second;
}

std::string EventColumns::MetadataJson(uint32_t row) {
  if (!exposes_metadata || events_->span[row] == SpanId::kNone) return {};
  if (event_numbers_.empty()) event_numbers_ = ChromeEventNumbers(*trace_);
  return "\"Ev Idx\": " + std::to_string(event_numbers_[opscope::Row(events_->span[row])]);
}

PyObject* EventColumns::Override(uint32_t row, PyObject* name) const {
  if (overrides_ == nullptr) return nullptr;
  PyObject* key = PyLong_FromUnsignedLong(row);
  PyObject* of_row = key == nullptr ? nullptr : PyDict_GetItem(overrides_, key);
  Py_XDECREF(key);
  return of_row == nullptr ? nullptr : PyDict_GetItem(of_row, name);
}

bool EventColumns::SetOverride(uint32_t row, PyObject* name, PyObject* value) {
  if (overrides_ == nullptr && (overrides_ = PyDict_New()) == nullptr) return false;
  nb::object key = nb::steal(PyLong_FromUnsignedLong(row));
  if (!key.is_valid()) return false;
  PyObject* of_row = PyDict_GetItem(overrides_, key.ptr());
  if (value == nullptr) return PyDict_DelItem(of_row, name) == 0;
  if (of_row == nullptr) {
    nb::object made = nb::steal(PyDict_New());
    if (!made.is_valid() || PyDict_SetItem(overrides_, key.ptr(), made.ptr()) != 0) return false;
    of_row = made.ptr();
  }
  return PyDict_SetItem(of_row, name, value) == 0;
}

void EventColumns::RestoreOverrides(PyObject* overrides) {
  Py_XINCREF(overrides);
  Py_XDECREF(overrides_);
  overrides_ = overrides;
}

namespace {

// Sums are those of the running Python, whatever `options` say.
FunctionEvents Build(const Trace& trace, FunctionEventOptions options) {
  options.compensated_sums = nb::cast<int64_t>(nb::module_::import_("sys").attr("hexversion")) >= 0x030C0000;
  return WithoutGil([&] { return BuildFunctionEvents(trace, options); });
}

// Appends every element to the list.
void Fill(EventColumns& columns, nb::list list) {
  const size_t count = columns.events().size();
  nb::object all = nb::steal(PyList_New(static_cast<Py_ssize_t>(count)));
  if (!all.is_valid()) nb::raise_python_error();
  for (size_t i = 0; i < count; ++i) {
    PyObject* event = columns.Event(static_cast<uint32_t>(i));
    if (event == nullptr) nb::raise_python_error();
    PyList_SetItem(all.ptr(), static_cast<Py_ssize_t>(i), event);
  }
  const Py_ssize_t end = PyList_Size(list.ptr());
  if (PyList_SetSlice(list.ptr(), end, end, all.ptr()) != 0) nb::raise_python_error();
}

// Whether the list has exactly the elements in their order, none of them changed, so that operations may read the
// columns instead of the objects.
bool Mirrors(const EventColumns& columns, nb::list list) {
  if (columns.overrides() != nullptr) return false;
  const auto count = static_cast<size_t>(PyList_Size(list.ptr()));
  if (count != columns.events().size()) return false;
  for (size_t i = 0; i < count; ++i) {
    const std::optional<uint32_t> row = RowOf(PyList_GetItem(list.ptr(), static_cast<Py_ssize_t>(i)), &columns);
    if (!row || *row != i) return false;
  }
  return true;
}

// One dictionary per average; `first` is the row whose attributes the average inherits.
nb::dict AverageDict(EventColumns& columns, const FunctionEventAverage& average) {
  nb::dict row;
  const bool device = !columns.events().use_device.empty();
  const auto device_time = [&](double time) { return device ? nb::object(nb::float_(time)) : nb::object(nb::int_(0)); };
  row["first"] = average.first == EventIndex::kNone ? -1 : static_cast<int64_t>(average.first);
  row["count"] = average.count;
  row["cpu_time_total"] = average.cpu_time_total_us;
  row["self_cpu_time_total"] = average.self_cpu_time_total_us;
  row["device_time_total"] = device_time(average.device_time_total_us);
  row["self_device_time_total"] = device_time(average.self_device_time_total_us);
  row["cpu_memory_usage"] = average.cpu_memory_usage;
  row["self_cpu_memory_usage"] = average.self_cpu_memory_usage;
  row["device_memory_usage"] = average.device_memory_usage;
  row["self_device_memory_usage"] = average.self_device_memory_usage;
  row["flops"] = average.flops;
  row["overload_name"] = ToText(average.overload_name);
  nb::list stack;
  for (const std::string_view frame : average.stack)
    stack.append(ToText(frame));
  row["stack"] = stack;
  return row;
}

nb::list AverageDicts(EventColumns& columns, const std::vector<FunctionEventAverage>& averages) {
  nb::list rows;
  for (const FunctionEventAverage& average : averages)
    rows.append(AverageDict(columns, average));
  return rows;
}

nb::list Averages(EventColumns& columns, bool by_shape, int stack_n, bool by_overload, bool python_functions) {
  const AverageOptions options{by_shape, stack_n, by_overload, python_functions};
  return AverageDicts(columns,
                      WithoutGil([&] { return AverageFunctionEvents(columns.trace(), columns.events(), options); }));
}

// The same with the overhead of the recording subtracted, and a sentence that says so.
nb::tuple CorrectedAverages(EventColumns& columns, bool by_shape, int stack_n, bool by_overload,
                            bool python_functions) {
  const AverageOptions options{by_shape, stack_n, by_overload, python_functions};
  Correction correction;
  const auto averages = Unwrap(WithoutGil([&]() -> Result<std::vector<FunctionEventAverage>> {
    Result<SpanOverheads> overhead = MeasureOverhead(columns.trace());
    if (!overhead.ok()) return overhead.error();
    FunctionEvents corrected = columns.events();
    correction = CorrectFunctionEvents(overhead.value(), &corrected);
    return AverageFunctionEvents(columns.trace(), corrected, options);
  }));
  return nb::make_tuple(AverageDicts(columns, averages), ToText(FormatCorrection(correction)));
}

// Positions in the state for pickle. New ones go to the end.
enum class StateItem : size_t {
  kTrace,
  kTraceStart,
  kUseDevice,
  kOnlyTorchFlops,
  kOverrides,
  kExposesMetadata,
  kAsCollected,
  kOnlyFinished,
  kPythonFunctions,
};

// State for pickle, by StateItem: the recording itself, once, however many elements are pickled with it.
nb::tuple GetState(EventColumns& columns) {
  const std::string bytes = Unwrap(WithoutGil([&] { return OpscopeBytes(columns.trace()); }));
  nb::object overrides = columns.overrides() == nullptr ? nb::none() : nb::borrow(columns.overrides());
  return nb::make_tuple(nb::bytes(bytes.data(), bytes.size()), columns.events().trace_start.ns,
                        columns.events().use_device, columns.events().only_torch_flops, overrides,
                        columns.exposes_metadata, columns.events().as_collected, columns.events().only_finished,
                        columns.events().python_functions);
}

void SetState(EventColumns& columns, const nb::tuple& state) {
  const auto item = [&](StateItem position) { return nb::object(state[static_cast<size_t>(position)]); };
  const auto flag = [&](StateItem position) { return nb::cast<bool>(item(position)); };
  const nb::bytes bytes = nb::cast<nb::bytes>(item(StateItem::kTrace));
  const std::span<const std::byte> view(static_cast<const std::byte*>(bytes.data()), bytes.size());
  auto trace = std::make_shared<const Trace>(Unwrap(WithoutGil([&] { return ImportBytes(view, "pickled events"); })));
  FunctionEventOptions options;
  options.trace_start = Timestamp{nb::cast<int64_t>(item(StateItem::kTraceStart))};
  options.use_device = nb::cast<std::string>(item(StateItem::kUseDevice));
  options.only_torch_flops = flag(StateItem::kOnlyTorchFlops);
  options.as_collected = flag(StateItem::kAsCollected);
  options.only_finished = flag(StateItem::kOnlyFinished);
  options.python_functions = flag(StateItem::kPythonFunctions);
  FunctionEvents events = Build(*trace, std::move(options));
  auto* made = new (&columns) EventColumns(std::move(trace), std::move(events));
  const nb::object overrides = item(StateItem::kOverrides);
  if (!overrides.is_none()) made->RestoreOverrides(overrides.ptr());
  made->exposes_metadata = flag(StateItem::kExposesMetadata);
}

// All events as one table, which keeps its memory alive.
ComputedTable EventTable(const EventColumns& columns) {
  struct TableOwner {
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const FunctionEvents> events;
    std::unique_ptr<FunctionEventTable> table;
  };
  auto owner = std::make_shared<TableOwner>();
  owner->trace = columns.shared_trace();
  owner->events = columns.shared_events();
  WithoutGil([&] { owner->table = std::make_unique<FunctionEventTable>(*owner->trace, *owner->events); });
  return {std::shared_ptr<const Trace>(owner, owner->trace.get()), owner->table->view()};
}

void SetEventClasses(nb::object kernel, nb::dict derived, nb::object cpu, nb::dict device_types) {
  event_classes.kernel = kernel.release().ptr();
  event_classes.derived = derived.release().ptr();
  event_classes.cpu = cpu.release().ptr();
  event_classes.device_types = device_types.release().ptr();
}

void SetOriginalEventClasses(nb::object event, nb::object interval) {
  event_classes.torchs_event = event.release().ptr();
  event_classes.torchs_interval = interval.release().ptr();
}

}  // namespace

void BindFunctionEvents(nb::module_& module) {
  nb::class_<EventColumns>(module, "FunctionEvents")
      .def(
          "__init__",
          [](EventColumns* self, const SharedTrace& shared, std::optional<int64_t> start_ns,
             std::optional<std::string> use_device, bool only_torch_flops, bool as_collected, bool only_finished,
             bool python_functions) {
            FunctionEventOptions options;
            if (start_ns) options.trace_start = Timestamp{*start_ns};
            options.use_device = std::move(use_device);
            options.only_torch_flops = only_torch_flops;
            options.as_collected = as_collected;
            options.only_finished = only_finished;
            options.python_functions = python_functions;
            FunctionEvents events = Build(*shared.trace, std::move(options));
            new (self) EventColumns(shared.trace, std::move(events));
          },
          nb::arg("trace"), nb::arg("start_ns").none() = nb::none(), nb::arg("use_device").none() = nb::none(),
          nb::arg("only_torch_flops") = false, nb::arg("as_collected") = false, nb::arg("only_finished") = false,
          nb::arg("python_functions") = true)
      .def("__len__", [](const EventColumns& columns) { return columns.events().size(); })
      .def("event",
           [](EventColumns& columns, uint32_t row) {
             if (row >= columns.events().size()) throw nb::index_error();
             return nb::steal(columns.Event(row));
           })
      .def("fill", Fill)
      .def("mirrors", Mirrors)
      .def("averages", Averages)
      .def("corrected_averages", CorrectedAverages)
      .def(
          "export_stacks",
          [](const EventColumns& columns, nb::object path, bool device_time) {
            const StackMetric metric = device_time ? StackMetric::kSelfDeviceTime : StackMetric::kSelfCpuTime;
            const std::string file = FromPath(path);
            Unwrap(WithoutGil([&] { return ExportTorchStacks(columns.trace(), columns.events(), metric, file); }),
                   path);
          },
          nb::arg("path").none(), nb::arg("device_time"))
      .def("total",
           [](EventColumns& columns) { return AverageDict(columns, TotalAverage(columns.trace(), columns.events())); })
      .def(
          "loss", [](const EventColumns& columns) { return ToText(FormatLoss(columns.trace())); },
          "One line about what the recording lacks; '' when nothing is missing.")
      .def("table", EventTable, "The events as a ComputedTable.")
      .def("self_cpu_time_total", [](const EventColumns& columns) { return SelfCpuTimeTotalOfAll(columns.events()); })
      .def_prop_ro("trace_start_ns", [](const EventColumns& columns) { return columns.events().trace_start.ns; })
      .def_rw("exposes_metadata", &EventColumns::exposes_metadata,
              "Whether `_metadata_json` of an event says something.")
      .def("__getstate__", GetState)
      .def("__setstate__", SetState);
  module.def("set_event_classes", SetEventClasses);
  module.def("set_original_event_classes", SetOriginalEventClasses, nb::arg("event"), nb::arg("interval"));
  module.def("set_constructed_event_class", [](nb::object made) { event_classes.made = made.release().ptr(); });
}

}  // namespace opscope::python
