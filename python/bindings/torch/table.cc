// `_core.torch.table`: the text of EventList.table() for any sequence of event-like objects.
//
// Rows are read through Python attributes, as torch does, because programs pass their own subclasses and averages; the
// layout itself is that of the C++ report (opscope/report/torch).
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <deque>

#include "opscope/report.h"
#include "python/bindings/torch/function_events.h"

namespace opscope::python {
namespace {

class RowReader {
 public:
  TorchTableRow Read(nb::handle event);

 private:
  std::string_view Keep(std::string text) { return texts_.emplace_back(std::move(text)); }
  std::string_view KeepText(const nb::object& value) {
    return value.is_none() ? std::string_view() : Keep(FromText(nb::str(value)));
  }
  static double Number(nb::handle event, const char* name) {
    const double number = PyFloat_AsDouble(nb::object(event.attr(name)).ptr());
    if (number == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return number;
  }
  // Sizes are integers; programs that average them store floats.
  static int64_t Integer(nb::handle event, const char* name) { return static_cast<int64_t>(Number(event, name)); }
  static bool Truth(nb::handle event, const char* name) {
    const int truth = PyObject_IsTrue(nb::object(event.attr(name)).ptr());
    if (truth < 0) throw nb::python_error();
    return truth != 0;
  }

  void ReadDevice(nb::handle event, TorchTableRow* row);
  void ReadTexts(nb::handle event, TorchTableRow* row);

  std::deque<std::string> texts_;
};

void RowReader::ReadTexts(nb::handle event, TorchTableRow* row) {
  row->key = KeepText(event.attr("key"));
  // Some versions of torch lack this attribute, and so do some of our events.
  if (nb::hasattr(event, "overload_name")) row->overload_name = KeepText(event.attr("overload_name"));
  nb::object shapes = event.attr("input_shapes");
  row->input_shapes = Keep(FromText(nb::str(shapes)));
  row->has_input_shapes = !shapes.is_none() && nb::len(shapes) > 0;
  nb::object stack = event.attr("stack");
  if (stack.is_none()) return;
  for (nb::handle frame : stack)
    row->stack.push_back(Keep(FromText(frame)));
}

void RowReader::ReadDevice(nb::handle event, TorchTableRow* row) {
  nb::object type = event.attr("device_type");
  row->is_cpu = type.ptr() == event_classes.cpu || type.equal(nb::handle(event_classes.cpu));
  if (row->is_cpu) return;
  const std::string name = FromText(nb::str(type.attr("name")));
  row->counts_as_device = name == "CUDA" || name == "PrivateUse1" || name == "MTIA" || name == "XPU";
}

TorchTableRow RowReader::Read(nb::handle event) {
  TorchTableRow row;
  ReadTexts(event, &row);
  ReadDevice(event, &row);
  row.self_cpu_time_total = Number(event, "self_cpu_time_total");
  row.cpu_time_total = Number(event, "cpu_time_total");
  row.cpu_time = Number(event, "cpu_time");
  row.self_device_time_total = Number(event, "self_device_time_total");
  row.device_time_total = Number(event, "device_time_total");
  row.device_time = Number(event, "device_time");
  row.cpu_memory_usage = Integer(event, "cpu_memory_usage");
  row.self_cpu_memory_usage = Integer(event, "self_cpu_memory_usage");
  row.device_memory_usage = Integer(event, "device_memory_usage");
  row.self_device_memory_usage = Integer(event, "self_device_memory_usage");
  row.count = Integer(event, "count");
  row.node_id = Integer(event, "node_id");
  row.flops = nb::object(event.attr("flops")).is_none() ? 0 : Number(event, "flops");
  row.is_async = Truth(event, "is_async");
  row.is_legacy = Truth(event, "is_legacy");
  row.is_user_annotation = nb::hasattr(event, "is_user_annotation") && Truth(event, "is_user_annotation");
  row.has_cpu_parent = !nb::object(event.attr("cpu_parent")).is_none();
  return row;
}

using Width = std::optional<int64_t>;

nb::object Table(nb::handle events, int64_t row_limit, Width source_width, Width name_width, Width shapes_width,
                 nb::object header, bool top_level_only, nb::object time_unit, bool profile_memory, bool with_flops,
                 std::optional<std::string> use_device, bool compat_swapped_cells, const std::string& note,
                 bool plain) {
  RowReader reader;
  std::vector<TorchTableRow> rows;
  for (nb::handle event : events)
    rows.push_back(reader.Read(event));
  TorchTableOptions options;
  options.row_limit = row_limit;
  options.max_src_column_width = source_width;
  options.max_name_column_width = name_width;
  options.max_shapes_column_width = shapes_width;
  if (!header.is_none()) options.header = FromText(nb::str(header));
  options.top_level_events_only = top_level_only;
  if (!time_unit.is_none()) options.time_unit = FromText(nb::str(time_unit));
  options.profile_memory = profile_memory;
  options.with_flops = with_flops;
  options.use_device = use_device.value_or("");
  options.compat_swapped_cells = compat_swapped_cells;
  options.note = note;
  const auto format = plain ? &FormatPlainTable : &FormatTorchTable;
  return ToText(Unwrap(WithoutGil([&] { return format(rows, options); })));
}

}  // namespace

void BindTorchTable(nb::module_& module) {
  module.def(
      "table", &Table, nb::arg("events"), nb::kw_only(), nb::arg("row_limit"), nb::arg("max_src_column_width").none(),
      nb::arg("max_name_column_width").none(), nb::arg("max_shapes_column_width").none(), nb::arg("header").none(),
      nb::arg("top_level_events_only"), nb::arg("time_unit").none(), nb::arg("profile_memory"), nb::arg("with_flops"),
      nb::arg("use_device").none(), nb::arg("compat_swapped_cells"), nb::arg("note") = "", nb::arg("plain") = false);
  module.def("format_time", [](double time_us) { return ToText(FormatTorchTime(time_us)); });
  module.def("format_memory", [](int64_t bytes) { return ToText(FormatTorchMemory(bytes)); });
}

}  // namespace opscope::python
