// Loads the PyTorch source (an adapter) at run time.
// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/torch/source.h"

#include <string>

#include "python/bindings/source_table.h"

namespace opscope::python {
namespace {

Result<LoadedTorchSource> LoadTorchSource(const std::string& path) {
  const Result<const TorchSource*> torch = LoadTable<TorchSource>(path, "torch", kTorchSourceAbi);
  if (!torch.ok()) return torch.error();
  return LoadedTorchSource{{&torch.value()->source}, torch.value()};
}

}  // namespace

void BindTorchSource(nb::module_& module) {
  nb::class_<LoadedTorchSource, LoadedSource>(module, "TorchSource", "The loaded PyTorch source.")
      .def_prop_ro("torch_version", [](const LoadedTorchSource& loaded) { return ToText(loaded.torch->torch_version); })
      .def(
          "probe_capture_mode",
          [](const LoadedTorchSource& loaded) {
            const char* complaint = WithoutGil([&] { return loaded.torch->probe_capture_mode(); });
            return ToText(complaint != nullptr ? complaint : "");
          },
          "What is in the way of hooks; empty: nothing. For a process of its own (torch_source.h).")
      .def(
          "set_probe_result",
          [](const LoadedTorchSource& loaded, nb::str result) {
            loaded.torch->set_probe_result(FromText(result).c_str());
          },
          nb::arg("result"), "Stores the result of probe_capture_mode for this library.")
      .def(
          "kineto_is_idle",
          [](const LoadedTorchSource& loaded) { return WithoutGil([&] { return loaded.torch->kineto_is_idle(); }); },
          "Whether torch's own profiler has been used in this process and is over.")
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
