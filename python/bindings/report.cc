// The page of a trace: a file, or its text for notebooks.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "bindings.h"
#include "opscope/export/html.h"

namespace opscope::python {
namespace {

HtmlExportOptions PageOptionsFrom(nb::object title, const std::string& theme, size_t max_size,
                                  const SharedTrace* baseline) {
  HtmlExportOptions options;
  options.title = FromText(title);
  options.baseline = baseline == nullptr ? nullptr : baseline->trace.get();
  const std::optional<PageTheme> known = PageThemeFromName(theme);
  if (!known) throw nb::value_error("theme should be one of: 'auto', 'light', 'dark'");
  options.page = {.max_bytes = max_size, .theme = *known};
  return options;
}

void WriteReport(const SharedTrace& self, nb::object path, nb::object title, const std::string& theme, size_t max_size,
                 const SharedTrace* baseline) {
  const std::string file = FromPath(path);
  const HtmlExportOptions options = PageOptionsFrom(title, theme, max_size, baseline);
  Unwrap(WithoutGil([&] { return ExportHtml(*self.trace, file, options); }), path);
}

nb::object ReportText(const SharedTrace& self, nb::object title, size_t max_size) {
  const HtmlExportOptions options = PageOptionsFrom(title, "auto", max_size, nullptr);
  return ToText(Unwrap(WithoutGil([&] { return HtmlText(*self.trace, options); })));
}

}  // namespace

void BindReport(nb::module_& module) {
  module.def("write_report", &WriteReport, nb::arg("trace"), nb::arg("path"), nb::arg("title"), nb::arg("theme"),
             nb::arg("max_size"), nb::arg("baseline").none() = nb::none(), "Writes the page of `opscope report`.");
  module.def("report_text", &ReportText, nb::arg("trace"), nb::arg("title"), nb::arg("max_size"),
             "The page as a text.");
}

}  // namespace opscope::python
