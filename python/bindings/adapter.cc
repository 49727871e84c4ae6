// Loads the library of a source (an adapter) at run time.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <string>

#include "bindings.h"

namespace opscope::python {
namespace {

// Never unloaded: torch may call back into it until the process ends.
Result<LoadedTorchSource> LoadTorchSource(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Error{ErrorCode::kUnsupported, dlerror()};
  void* symbol = dlsym(library, "opscope_torch_source");
  if (symbol == nullptr) {
    return Error{ErrorCode::kUnsupported, path + ": is not a torch source: it has no opscope_torch_source"};
  }
  const TorchSource* source = reinterpret_cast<decltype(&opscope_torch_source)>(symbol)();
  if (source == nullptr || source->abi != kTorchSourceAbi) {
    return Error{ErrorCode::kUnsupported, path + ": belongs to another version of opscope"};
  }
  return LoadedTorchSource{source};
}

}  // namespace

void BindTorchSource(nb::module_& module) {
  nb::class_<LoadedTorchSource>(module, "TorchSource", "The loaded PyTorch source.")
      .def_prop_ro("torch_version",
                   [](const LoadedTorchSource& loaded) { return ToText(loaded.source->torch_version); })
      .def(
          "try_route",
          [](const LoadedTorchSource& loaded) {
            const char* complaint = WithoutGil([&] { return loaded.source->try_route(); });
            return ToText(complaint != nullptr ? complaint : "");
          },
          "What is in the way of drop-in functions; empty: nothing. For a process of its own (torch_source.h).")
      .def(
          "take_route_verdict",
          [](const LoadedTorchSource& loaded, nb::str verdict) {
            loaded.source->take_route_verdict(FromText(verdict).c_str());
          },
          nb::arg("verdict"), "What try_route has said of this library.")
      .def_prop_ro(
          "hold", [](const LoadedTorchSource& loaded) { return reinterpret_cast<uintptr_t>(loaded.source->hold); },
          "Address of TorchSource::hold, for the source of Python's calls.");
  module.def(
      "load_torch_source",
      [](nb::object path) {
        const std::string file = FromPath(path);
        return Unwrap(WithoutGil([&] { return LoadTorchSource(file); }));
      },
      nb::arg("path"), "Loads libopscope_torch_M_N.so. opscope.Error: the loader's own sentence.");
}

}  // namespace opscope::python
