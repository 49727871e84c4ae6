// Loads the CUDA source at run time and asks which features it can record on this machine.
//
// The source is a separate library, because it needs libcupti, which not every machine has: `import opscope` must work
// without it. Also binds the node timer, which times the kernels of CUDA graphs without a recording.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <utility>

#include "opscope/cuda_source.h"
#include "opscope/session.h"
#include "python/bindings/bindings.h"
#include "python/bindings/source_table.h"

namespace opscope::python {
namespace {

using LoadedCudaSource = LoadedTable<CudaSource>;

nb::object WhyNot(const LoadedCudaSource& loaded) {
  char why[512] = "";
  WithoutGil([&] { loaded.table->why_not(why, sizeof(why)); });
  return ToText(why);
}

nb::object WhyNotRecorded(const LoadedCudaSource& loaded, const Recording& recording) {
  char why[512] = "";
  // Without the GIL, because window() waits for a start or stop in progress, which may wait for the GIL.
  WithoutGil([&] { loaded.table->why_not_recorded(recording.window(), why, sizeof(why)); });
  return ToText(why);
}

nb::object WatchGraphs(const LoadedCudaSource& loaded, bool is_on) {
  char why[512] = "";
  WithoutGil([&] { loaded.table->watch_graphs(is_on, why, sizeof(why)); });
  return ToText(why);
}

// Python's `_core.cuda.NodeTimer`; the source's library is never unloaded.
class NodeTimer {
 public:
  NodeTimer(const CudaSource* source, void* timer) : source_(source), timer_(timer) {}
  NodeTimer(NodeTimer&& other) noexcept : source_(other.source_), timer_(std::exchange(other.timer_, nullptr)) {}
  ~NodeTimer() { Stop(); }

  void Stop() {
    if (void* timer = std::exchange(timer_, nullptr)) source_->stop_timer(timer);
  }
  CudaTimes Drain(bool flush) const {
    CudaTimes times;
    if (timer_ != nullptr) source_->drain_timer(timer_, flush, &times);
    return times;
  }

 private:
  const CudaSource* source_;
  void* timer_;
};

nb::object StartTimer(const LoadedCudaSource& loaded, uint32_t flags) {
  char why[512] = "";
  void* timer = WithoutGil([&] { return loaded.table->start_timer(flags, why, sizeof(why)); });
  return timer == nullptr ? ToText(why) : nb::cast(NodeTimer(loaded.table, timer));
}

nb::tuple Drain(const NodeTimer& timer, bool flush) {
  const CudaTimes times = WithoutGil([&] { return timer.Drain(flush); });
  return nb::make_tuple(nb::bytes(times.works, times.work_count * sizeof(CudaTimedWork)),
                        nb::bytes(times.regions, times.region_count * sizeof(CudaRegionOfCall)), times.dropped);
}

void BindTimer(nb::module_& cuda) {
  nb::class_<NodeTimer>(cuda, "NodeTimer", "An always-on timer. One thread at a time.")
      .def("drain", &Drain, nb::arg("flush"),
           "Works and regions since the last call as bytes, and the number of lost ones.")
      .def(
          "stop", [](NodeTimer& timer) { WithoutGil([&] { timer.Stop(); }); },
          "Waits for the device; a second call does nothing.");
  using namespace cuda_timer_flags;
  cuda.attr("TIMER_FLAGS") = nb::make_tuple(kKernels, kCopies, kPeerCopies, kSets, kRegions);
}

}  // namespace

void BindCuda(nb::module_& module) {
  nb::module_ cuda = module.def_submodule("cuda", "What is recorded of CUDA.");
  nb::class_<LoadedCudaSource, LoadedSource>(cuda, "CudaSource", "The loaded CUDA source.")
      .def_prop_ro(
          "cupti_path", [](const LoadedCudaSource& loaded) { return ToText(loaded.table->cupti_path()); },
          "Path of the libcupti in use; '': no libcupti was found.")
      .def_prop_ro(
          "cupti_version", [](const LoadedCudaSource& loaded) { return loaded.table->cupti_version(); },
          "Version of CUPTI's interface, 130001 for CUDA 13.0; 0: no libcupti was found.")
      .def(
          "suggest_cupti",
          [](const LoadedCudaSource& loaded, nb::object path) { loaded.table->suggest_cupti(FromPath(path).c_str()); },
          nb::arg("path"),
          "Adds a libcupti that is tried if OPSCOPE_CUPTI_LIB is not set and none is mapped. Call it first.")
      .def_prop_ro(
          "is_named", [](const LoadedCudaSource& loaded) { return loaded.table->is_named(); },
          "Whether OPSCOPE_CUPTI_LIB names the library. Only it is then asked whether there is a device.")
      .def("why_not", &WhyNot, "Why CUDA cannot be recorded now, in one line; '': it can.")
      .def("why_not_recorded", &WhyNotRecorded, nb::arg("recording"),
           "Why the last started recording does not record CUDA, in one line; '': it does.")
      .def("start_timer", &StartTimer, nb::arg("flags"), "A NodeTimer, or why it cannot be started, in one line.")
      .def(
          "push_region", [](const LoadedCudaSource& loaded, uint64_t id) { return loaded.table->push_region(id); },
          nb::arg("id"), "Opens a region for the calls of this thread. False: CUPTI refuses.")
      .def(
          "pop_region",
          [](const LoadedCudaSource& loaded) -> std::optional<uint64_t> {
            uint64_t id = 0;
            return loaded.table->pop_region(&id) ? std::optional(id) : std::nullopt;
          },
          "Closes the innermost region of this thread; its number, or None without one.")
      .def("watch_graphs", &WatchGraphs, nb::arg("is_on"),
           "Records the structure of graphs until it was called with False as often as with True. '' or why it cannot.")
      .def(
          "set_torch_profiled",
          [](const LoadedCudaSource& loaded, bool is_over) { loaded.table->set_torch_profiled(is_over); },
          nb::arg("is_over"),
          "Whether torch's own profiler has run in this process and has stopped, which frees CUPTI.");
  BindTimer(cuda);
  BindLoadSource<CudaSource>(cuda, "cuda", kCudaSourceAbi);
}

}  // namespace opscope::python
