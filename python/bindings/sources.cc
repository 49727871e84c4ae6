// Loads the shared libraries of sources (the framework adapters) at run time.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "bindings.h"

namespace opscope::python {
namespace {

LoadedSource SourceOf(nb::handle capsule) {
  const auto* source = static_cast<const Source*>(PyCapsule_GetPointer(capsule.ptr(), kSourceCapsule));
  if (source == nullptr) throw nb::python_error();
  if (source->abi != kSourceAbi) Raise({ErrorCode::kUnsupported, "the source belongs to another version of opscope"});
  return LoadedSource{source};
}

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
      [](nb::handle path) {
        const std::string file = FromPath(path);
        return LoadedSource{Unwrap(WithoutGil([&] { return LoadSource(file); }))};
      },
      nb::arg("path"), "Loads the library of a source. opscope.Error: the loader's own sentence.");
  module.def("source_of", &SourceOf, nb::arg("capsule"),
             "The table that an extension module has made (kSourceCapsule).");
}

}  // namespace opscope::python
