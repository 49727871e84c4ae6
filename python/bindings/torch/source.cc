// Loads the PyTorch source (an adapter) at run time.
// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/torch/source.h"

namespace opscope::python {

void BindTorchSource(nb::module_& module) {
  nb::class_<LoadedTorchSource, LoadedSource>(module, "TorchSource", "The loaded PyTorch source.")
      .def_prop_ro("torch_version", [](const LoadedTorchSource& loaded) { return ToText(loaded.table->torch_version); })
      .def(
          "probe_capture_mode",
          [](const LoadedTorchSource& loaded) {
            const char* complaint = WithoutGil([&] { return loaded.table->probe_capture_mode(); });
            return ToText(complaint != nullptr ? complaint : "");
          },
          "Why hooks do not work; '': they work. Call it in a separate process (torch_source.h).")
      .def(
          "set_probe_result",
          [](const LoadedTorchSource& loaded, nb::str result) {
            loaded.table->set_probe_result(FromText(result).c_str());
          },
          nb::arg("result"), "Stores the result of probe_capture_mode for this library.")
      .def(
          "kineto_is_idle",
          [](const LoadedTorchSource& loaded) { return WithoutGil([&] { return loaded.table->kineto_is_idle(); }); },
          "Whether torch's own profiler has been used in this process and is over.")
      .def_prop_ro(
          "hold", [](const LoadedTorchSource& loaded) { return reinterpret_cast<uintptr_t>(loaded.table->hold); },
          "Address of TorchSource::hold, for the source of Python calls.");
  BindLoadSource<TorchSource>(module, "torch", kTorchSourceAbi);
}

}  // namespace opscope::python
