// Loads the CUDA source at run time and asks which features it can record on this machine.
//
// The source is a library of its own, because it needs libcupti, which not every machine has: `import opscope` must
// work without it. Also binds the node timer, which times the kernels of CUDA graphs without a recording.
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
  // window() waits for a start or a stop that is under way, and that may wait for the GIL.
  WithoutGil([&] {
    loaded.cuda->why_not_recorded(recording.window(), why, sizeof(why));
    return true;
  });
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
  void* timer = WithoutGil([&] { return loaded.cuda->start_timer(flags, why, sizeof(why)); });
  return timer == nullptr ? ToText(why) : nb::cast(NodeTimer(loaded.cuda, timer));
}

nb::tuple Drain(const NodeTimer& timer, bool flush) {
  const CudaTimes times = WithoutGil([&] { return timer.Drain(flush); });
  return nb::make_tuple(nb::bytes(times.works, times.work_count * sizeof(CudaTimedWork)),
                        nb::bytes(times.regions, times.region_count * sizeof(CudaRegionOfCall)), times.dropped);
}

void BindTimer(nb::module_& cuda) {
  nb::class_<NodeTimer>(cuda, "NodeTimer", "An always-on timer. One thread at a time.")
      .def("drain", &Drain, nb::arg("flush"), "Works and regions since the last time as bytes, and how many were lost.")
      .def(
          "stop",
          [](NodeTimer& timer) {
            WithoutGil([&] {
              timer.Stop();
              return true;
            });
          },
          "Waits for the device; a second call does nothing.");
  using namespace cuda_timer_flags;
  cuda.attr("TIMER_FLAGS") = nb::make_tuple(kKernels, kCopies, kPeerCopies, kSets, kRegions);
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
      .def(
          "suggest_cupti",
          [](const LoadedCudaSource& loaded, nb::object path) { loaded.cuda->suggest_cupti(FromPath(path).c_str()); },
          nb::arg("path"), "A libcupti that is looked at where none is named or mapped; before it is first asked.")
      .def_prop_ro(
          "is_named", [](const LoadedCudaSource& loaded) { return loaded.cuda->is_named(); },
          "OPSCOPE_CUPTI_LIB names it: its word counts whether there is a device.")
      .def("why_not", &WhyNot, "One line that says why CUDA cannot be recorded now, or ''.")
      .def("why_not_recorded", &WhyNotRecorded, nb::arg("recording"),
           "The same of the recording that began last; '' where CUDA is recorded.")
      .def("start_timer", &StartTimer, nb::arg("flags"), "A NodeTimer, or one line that says why there is none.")
      .def(
          "push_region", [](const LoadedCudaSource& loaded, uint64_t id) { return loaded.cuda->push_region(id); },
          nb::arg("id"), "Calls of this thread are made in this region from here on. False: CUPTI refuses.")
      .def(
          "pop_region",
          [](const LoadedCudaSource& loaded) -> std::optional<uint64_t> {
            uint64_t id = 0;
            return loaded.cuda->pop_region(&id) ? std::optional(id) : std::nullopt;
          },
          "The innermost region of this thread is over; its number, or None.")
      .def("watch_graphs", &WatchGraphs, nb::arg("is_on"),
           "CUPTI tells what graphs are made of, until as many calls with False. '' or why it cannot.")
      .def(
          "set_torch_profiled",
          [](const LoadedCudaSource& loaded, bool is_over) { loaded.cuda->set_torch_profiled(is_over); },
          nb::arg("is_over"), "A profiler of torch's own has run in this process and is over: CUPTI is its no more.");
  BindTimer(cuda);
  cuda.def(
      "load_source",
      [](nb::object path) {
        const std::string file = FromPath(path);
        return Unwrap(WithoutGil([&] { return LoadCudaSource(file); }));
      },
      nb::arg("path"), "Loads libopscope_cuda.so. opscope.Error: the loader's own sentence.");
}

}  // namespace opscope::python
