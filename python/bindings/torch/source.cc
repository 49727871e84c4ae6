// Loads the PyTorch source (an adapter) at run time.
// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/torch/source.h"

#include <dlfcn.h>

#include <string>

namespace opscope::python {
namespace {

Result<LoadedTorchSource> LoadTorchSource(const std::string& path) {
  const Result<const Source*> source = LoadSource(path);
  if (!source.ok()) return source.error();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  void* symbol = library != nullptr ? dlsym(library, "opscope_torch_source") : nullptr;
  if (symbol == nullptr) {
    return Error{ErrorCode::kUnsupported, path + ": is not a torch source: it has no opscope_torch_source"};
  }
  const TorchSource* torch = reinterpret_cast<decltype(&opscope_torch_source)>(symbol)();
  if (torch == nullptr || torch->abi != kTorchSourceAbi) {
    return Error{ErrorCode::kUnsupported, path + ": belongs to another version of opscope"};
  }
  LoadedTorchSource loaded;
  loaded.source = source.value();
  loaded.torch = torch;
  return loaded;
}

}  // namespace

void BindTorchSource(nb::module_& module) {
  nb::class_<LoadedTorchSource, LoadedSource>(module, "TorchSource", "The loaded PyTorch source.")
      .def_prop_ro("torch_version", [](const LoadedTorchSource& loaded) { return ToText(loaded.torch->torch_version); })
      .def(
          "try_route",
          [](const LoadedTorchSource& loaded) {
            const char* complaint = WithoutGil([&] { return loaded.torch->try_route(); });
            return ToText(complaint != nullptr ? complaint : "");
          },
          "What is in the way of drop-in functions; empty: nothing. For a process of its own (torch_source.h).")
      .def(
          "take_route_verdict",
          [](const LoadedTorchSource& loaded, nb::str verdict) {
            loaded.torch->take_route_verdict(FromText(verdict).c_str());
          },
          nb::arg("verdict"), "What try_route has said of this library.")
      .def_prop_ro(
          "hold", [](const LoadedTorchSource& loaded) { return reinterpret_cast<uintptr_t>(loaded.torch->hold); },
          "Address of TorchSource::hold, for the source of Python's calls.");
  module.def(
      "load_source",
      [](nb::object path) {
        const std::string file = FromPath(path);
        return Unwrap(WithoutGil([&] { return LoadTorchSource(file); }));
      },
      nb::arg("path"), "Loads libopscope_torch_M_N.so. opscope.Error: the loader's own sentence.");
}

}  // namespace opscope::python
