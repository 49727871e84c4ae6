// Loads the MegEngine source at run time, and hands it what MegEngine has recorded.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "opscope/import.h"
#include "opscope/megengine_source.h"
#include "python/bindings/bindings.h"
#include "python/bindings/source_table.h"

namespace opscope::python {
namespace {

// Python's `_core.megengine.MegEngineSource`.
struct LoadedMegEngineSource : LoadedSource {
  const MegEngineSource* megengine = nullptr;
};

Result<LoadedMegEngineSource> LoadMegEngineSource(const std::string& path) {
  const Result<const MegEngineSource*> table = LoadTable<MegEngineSource>(path, "megengine", kMegEngineSourceAbi);
  if (!table.ok()) return table.error();
  return LoadedMegEngineSource{{&table.value()->source}, table.value()};
}

// What pybind11 keeps of a C++ function behind the callable; null: it is no such callable.
const void* FunctionRecord(nb::handle callable) {
  if (!PyCFunction_Check(callable.ptr())) return nullptr;
  PyObject* self = PyCFunction_GetSelf(callable.ptr());
  if (self == nullptr || !PyCapsule_CheckExact(self)) return nullptr;
  const char* name = PyCapsule_GetName(self);
  void* record = name == nullptr && PyErr_Occurred() != nullptr ? nullptr : PyCapsule_GetPointer(self, name);
  PyErr_Clear();
  return record;
}

nb::object Take(const LoadedMegEngineSource& loaded, nb::object callable, bool with_gil) {
  const void* record = FunctionRecord(callable);
  if (record == nullptr) return ToText("it is not what MegEngine's stop_profile() returns");
  char error[512] = "";
  const auto take = [&] { return loaded.megengine->take(record, error, sizeof(error)); };
  const bool taken = with_gil ? take() : WithoutGil(take);
  return ToText(taken ? "" : error);
}

void Free(const LoadedMegEngineSource& loaded, nb::object callable, bool with_gil) {
  const void* record = FunctionRecord(callable);
  if (record == nullptr) return;
  const auto free = [&] { loaded.megengine->free(record); };
  if (with_gil) free();
  else WithoutGil(free);
}

SharedTrace ReadDump(nb::object path, nb::str why) {
  const std::string file = FromPath(path);
  ImportOptions options{.name = "MegEngine's timeline", .stands_in_because = FromText(why)};
  Trace trace = Unwrap(WithoutGil([&] { return ImportFile(file, options); }), path);
  return {std::make_shared<const Trace>(std::move(trace))};
}

}  // namespace

void BindMegEngine(nb::module_& module) {
  nb::module_ megengine = module.def_submodule("megengine", "What opscope.megengine needs of opscope's engine.");
  nb::class_<LoadedMegEngineSource, LoadedSource>(megengine, "MegEngineSource", "The loaded MegEngine source.")
      .def("take", &Take, nb::arg("callable"), nb::arg("with_gil") = false,
           "Takes the records behind what core2.stop_profile() returned into the recording that runs; the callable is "
           "then dropped, and never called. '' or why not. with_gil: of a window with backtraces.")
      .def("free", &Free, nb::arg("callable"), nb::arg("with_gil") = false,
           "Frees the records that were taken of it, without the GIL, under which dropping it would; never call it "
           "then.")
      .def_prop_ro(
          "taken",
          [](const LoadedMegEngineSource& loaded) { return WithoutGil([&] { return loaded.megengine->taken(); }); },
          "Records of MegEngine's that the recording that runs, or ran last, has taken.");
  megengine.def("read_dump", &ReadDump, nb::arg("path"), nb::arg("why"),
                "The Trace of a chrome_timeline.json that stands in for records, with a problem that says why.");
  megengine.def(
      "load_source",
      [](nb::object path) {
        const std::string file = FromPath(path);
        return Unwrap(WithoutGil([&] { return LoadMegEngineSource(file); }));
      },
      nb::arg("path"), "Loads libopscope_megengine.so. opscope.Error: the loader's own sentence.");
}

}  // namespace opscope::python
