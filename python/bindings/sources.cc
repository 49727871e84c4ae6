// Loads the libraries of sources (adapters) at run time.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "bindings.h"

namespace opscope::python {
namespace {

nb::list FlagsOf(const LoadedSource& loaded) {
  nb::list names;
  for (uint32_t i = 0; i < loaded.source->flag_count; ++i)
    names.append(loaded.source->flags[i].name);
  return names;
}

}  // namespace

void BindSources(nb::module_& module) {
  nb::class_<LoadedSource>(module, "Source", "The loaded library of a source.")
      .def_prop_ro("name", [](const LoadedSource& loaded) { return ToText(loaded.source->name); })
      .def_prop_ro("flags", &FlagsOf, "Names of what it records only when it is asked to.");
  module.def(
      "load_source",
      [](nb::object path) {
        const std::string file = FromPath(path);
        return LoadedSource{Unwrap(WithoutGil([&] { return LoadSource(file); }))};
      },
      nb::arg("path"), "Loads the library of a source. opscope.Error: the loader's own sentence.");
}

}  // namespace opscope::python
