// `_core.Trace`: opening, merging, cutting, saving and exporting, its strings and its facts. Long work runs without the
// GIL; arguments of Python are converted before it is released.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/trace.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "bindings.h"
#include "opscope/analysis/span_filter.h"
#include "opscope/cli.h"
#include "opscope/cut.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "opscope/merge.h"
#include "python/bindings/layout_name.h"

namespace opscope::python {
namespace {

SharedTrace Share(Trace&& trace) {
  return {std::make_shared<Trace>(std::move(trace))};
}

SharedTrace OpenTrace(nb::object path, uint64_t max_memory, const std::string& format) {
  const std::string file = FromPath(path);
  const ImportOptions options{.max_memory = max_memory, .format = format};
  return Share(Unwrap(WithoutGil([&] { return ImportFile(file, options); }), path));
}

SharedTrace ReadTrace(nb::bytes data, nb::object name, uint64_t max_memory, const std::string& format) {
  const std::string file = FromText(name);
  const std::span bytes(static_cast<const std::byte*>(data.data()), data.size());
  const ImportOptions options{.max_memory = max_memory, .format = format};
  return Share(Unwrap(WithoutGil([&] { return ImportBytes(bytes, file, options); })));
}

SharedTrace MergeFiles(nb::list paths, nb::list sync_names, double max_clock_difference_s) {
  constexpr double kMaxSeconds = 1e9;  // as on the command line
  if (!(max_clock_difference_s >= 0 && max_clock_difference_s <= kMaxSeconds))
    throw nb::value_error("max_clock_difference must be a number of seconds from 0 to 1e9");
  std::vector<MergeInput> inputs;
  for (const nb::handle path : paths) {
    const std::string file = FromPath(nb::borrow(path));
    inputs.push_back({Unwrap(WithoutGil([&] { return ImportFile(file); }), nb::borrow(path)), file, -1});
  }
  MergeOptions options;
  for (const nb::handle name : sync_names)
    options.sync_names.push_back(FromText(nb::borrow(name)));
  options.max_clock_difference_ns = static_cast<int64_t>(max_clock_difference_s * 1e9);
  return Share(Unwrap(WithoutGil([&] { return MergeTraces(std::move(inputs), options); })).trace);
}

SharedTrace CutByCondition(const SharedTrace& self, nb::object where) {
  const std::string condition = TextArgument(where, "where");
  return Share(Unwrap(WithoutGil([&]() -> Result<Trace> {
    const Result<SpanFilter> filter = ParseWhere(condition);
    if (!filter.ok()) return filter.error();
    return CutTrace(*self.trace, filter.value().Select(*self.trace), condition);
  })));
}

void SaveOpscope(const SharedTrace& self, nb::object path) {
  const std::string file = FromPath(path);
  Unwrap(WithoutGil([&] { return ExportOpscope(*self.trace, file); }), path);
}

void ExportChrome(const SharedTrace& self, nb::object path, bool small_gzip, nb::object trace_name,
                  std::optional<std::vector<std::string>> only_categories, std::vector<std::string> without_metadata) {
  const std::string file = FromPath(path);
  ChromeExportOptions options;
  options.small_gzip = small_gzip;
  options.trace_name = trace_name.is_none() ? std::string() : FromText(trace_name);
  options.only_categories = std::move(only_categories);
  options.without_metadata = std::move(without_metadata);
  TerminalProgress progress(file);
  options.on_progress = [&](size_t written, size_t pieces) { progress.Show(written, pieces); };
  Unwrap(WithoutGil([&] { return ExportChromeTrace(*self.trace, file, options); }), path);
}

nb::object ExportAs(const SharedTrace& self, nb::object path, const std::string& to, nb::object table,
                    bool merge_threads, int gzip_level) {
  const std::string file = FromPath(path);
  const std::optional<ExportFormat> format = ExportFormatFromName(to);
  if (!format) throw nb::value_error("no such format");
  ExportOptions options;
  options.table = FromText(table);
  options.merge_threads = merge_threads;
  options.gzip_level = gzip_level;
  TerminalProgress progress(file);
  options.on_progress = [&](size_t written, size_t pieces) { progress.Show(written, pieces); };
  const Exported exported = Unwrap(WithoutGil([&] { return ExportTrace(*self.trace, *format, file, options); }), path);
  return ToText(ExportedText(*format, exported));
}

nb::list ExportFormats() {
  nb::list names;
  for (const std::string_view name : ExportFormatNames())
    names.append(ToText(name));
  return names;
}

nb::dict Info(const SharedTrace& self) {
  const TraceInfo& info = self.trace->info();
  nb::dict result;
  result["format"] = ToText(info.format);
  result["format_version"] = ToText(info.format_version);
  result["compressed"] = ToText(info.compressed);
  result["recorded"] = info.recorded;
  result["dropped"] = info.dropped;
  result["epoch_ns"] = info.epoch_ns;
  result["options_json"] = ToText(info.options_json);
  return result;
}

nb::object TextAt(const SharedTrace& self, size_t index) {
  if (index >= self.trace->string_count()) throw nb::index_error("no such string");
  return ToText(self.trace->text(static_cast<StringId>(index)));
}

nb::object FindText(const SharedTrace& self, nb::handle text) {
  const std::optional<StringId> id = self.trace->FindString(TextArgument(text, "text"));
  return id ? nb::object(nb::int_(Row(*id))) : nb::none();
}

nb::list Sizes(std::span<const int64_t> values) {
  nb::list list;
  for (int64_t value : values)
    list.append(value);
  return list;
}

nb::list Arguments(const Trace& trace, std::span<const Argument> arguments) {
  constexpr const char* kKinds[] = {"other", "tensor", "undefined", "tensor_list", "scalar", "scalar_list"};
  nb::list list;
  for (const Argument& argument : arguments) {
    nb::dict row;
    row["kind"] = kKinds[static_cast<size_t>(argument.kind)];
    row["dtype"] = ToText(trace.text(argument.dtype));
    row["value"] = ToText(trace.text(argument.value));
    row["sizes"] = Sizes(argument.sizes);
    row["strides"] = argument.has_strides ? nb::object(Sizes(argument.strides)) : nb::none();
    row["layout"] = LayoutName(argument.layout);
    row["tensors"] = Arguments(trace, argument.tensors);
    list.append(row);
  }
  return list;
}

nb::list ArgumentsAt(const SharedTrace& self, uint32_t index) {
  const auto id = static_cast<ArgsId>(index);
  if (id != ArgsId::kNone && index >= self.trace->argument_list_count()) throw nb::index_error("no such arguments");
  return Arguments(*self.trace, self.trace->arguments(id));
}

}  // namespace

void BindTrace(nb::module_& module) {
  nb::class_<SharedTrace>(module, "Trace", "Immutable columns; opscope.Trace wraps them.")
      .def("save", &SaveOpscope, nb::arg("path"), "Writes .opscope.")
      .def("export_chrome", &ExportChrome, nb::arg("path"), nb::arg("small_gzip") = false,
           nb::arg("trace_name").none() = nb::none(), nb::arg("only_categories").none() = nb::none(),
           nb::arg("without_metadata") = std::vector<std::string>{},
           "Writes Kineto's Chrome trace JSON, .gz and .zst by the name.")
      .def("export_as", &ExportAs, nb::arg("path"), nb::arg("to"), nb::arg("table") = "spans",
           nb::arg("merge_threads") = false, nb::arg("gzip_level") = -1,
           "Writes the format; returns a text about data that the format cannot hold.")
      .def("info", &Info)
      .def_prop_ro("is_partial", [](const SharedTrace& self) { return self.trace->is_partial(); })
      .def_prop_ro("memory_bytes", [](const SharedTrace& self) { return self.trace->memory_bytes(); })
      .def_prop_ro("text_count", [](const SharedTrace& self) { return self.trace->string_count(); })
      .def("text", &TextAt, nb::arg("id"))
      .def("find_text", &FindText, nb::arg("text"), "The id of a text, or None.")
      .def("arguments", &ArgumentsAt, nb::arg("id"), "The arguments of one call, as dicts.");
  module.attr("EXPORT_FORMATS") = nb::tuple(ExportFormats());
  module.def("open_trace", &OpenTrace, nb::arg("path"), nb::arg("max_memory") = 0, nb::arg("format") = "");
  module.def("cut_trace", &CutByCondition, nb::arg("trace"), nb::arg("where"));
  module.def("merge_traces", &MergeFiles, nb::arg("paths"), nb::arg("sync_names"), nb::arg("max_clock_difference_s"));
  module.def("read_trace", &ReadTrace, nb::arg("data"), nb::arg("name"), nb::arg("max_memory") = 0,
             nb::arg("format") = "");
}

}  // namespace opscope::python
