// Writes files whose content Python computed, with the same atomic writer as all other output.
// SPDX-License-Identifier: Apache-2.0
#include "bindings.h"
#include "opscope/export.h"

namespace opscope::python {
namespace {

void Write(nb::object path, nb::bytes content) {
  const std::string file = FromPath(path);
  const std::string_view bytes(content.c_str(), content.size());
  Unwrap(WithoutGil([&] { return WriteBytes(file, bytes); }), path);
}

}  // namespace

void BindFiles(nb::module_& module) {
  module.def("write_whole_file", &Write, nb::arg("path").none(), nb::arg("content"),
             "The file is there when it is whole, and not before.");
}

}  // namespace opscope::python
