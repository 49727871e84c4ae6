// Loads the CUDA source at run time, and asks it what it can record.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "opscope/cuda_source.h"
#include "opscope/session.h"
#include "python/bindings/bindings.h"
#include "python/bindings/source_table.h"

namespace opscope::python {
namespace {

// Python's `_core.cuda.CudaSource`.
struct LoadedCudaSource : LoadedSource {
  const CudaSource* cuda = nullptr;
};

Result<LoadedCudaSource> LoadCudaSource(const std::string& path) {
  const Result<const CudaSource*> table = LoadTable<CudaSource>(path, "cuda", kCudaSourceAbi);
  if (!table.ok()) return table.error();
  return LoadedCudaSource{{&table.value()->source}, table.value()};
}

nb::object WhyNot(const LoadedCudaSource& loaded) {
  char why[512] = "";
  WithoutGil([&] {
    loaded.cuda->why_not(why, sizeof(why));
    return true;
  });
  return ToText(why);
}

nb::object WhyNotRecorded(const LoadedCudaSource& loaded, const Recording& recording) {
  char why[512] = "";
  loaded.cuda->why_not_recorded(recording.window(), why, sizeof(why));
  return ToText(why);
}

nb::object WatchGraphs(const LoadedCudaSource& loaded, bool is_on) {
  char why[512] = "";
  WithoutGil([&] {
    loaded.cuda->watch_graphs(is_on, why, sizeof(why));
    return true;
  });
  return ToText(why);
}

}  // namespace

void BindCuda(nb::module_& module) {
  nb::module_ cuda = module.def_submodule("cuda", "What is recorded of CUDA.");
  nb::class_<LoadedCudaSource, LoadedSource>(cuda, "CudaSource", "The loaded CUDA source.")
      .def_prop_ro(
          "cupti_path", [](const LoadedCudaSource& loaded) { return ToText(loaded.cuda->cupti_path()); },
          "The libcupti that it uses; '' where none was found.")
      .def_prop_ro(
          "cupti_version", [](const LoadedCudaSource& loaded) { return loaded.cuda->cupti_version(); },
          "Of its interface, 130001 for CUDA 13.0; 0: none.")
      .def_prop_ro(
          "is_named", [](const LoadedCudaSource& loaded) { return loaded.cuda->is_named(); },
          "OPSCOPE_CUPTI_LIB names it: its word counts whether there is a device.")
      .def("why_not", &WhyNot, "One line that says why CUDA cannot be recorded now, or ''.")
      .def("why_not_recorded", &WhyNotRecorded, nb::arg("recording"),
           "The same of the recording that began last; '' where CUDA is recorded.")
      .def("watch_graphs", &WatchGraphs, nb::arg("is_on"),
           "CUPTI tells what graphs are made of, until as many calls with False. '' or why it cannot.")
      .def(
          "tell_torch_profiled",
          [](const LoadedCudaSource& loaded, bool is_over) { loaded.cuda->tell_torch_profiled(is_over); },
          nb::arg("is_over"), "A profiler of torch's own has run in this process and is over: CUPTI is its no more.");
  cuda.def(
      "load_source",
      [](nb::object path) {
        const std::string file = FromPath(path);
        return Unwrap(WithoutGil([&] { return LoadCudaSource(file); }));
      },
      nb::arg("path"), "Loads libopscope_cuda.so. opscope.Error: the loader's own sentence.");
}

}  // namespace opscope::python
