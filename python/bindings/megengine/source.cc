// Loads the MegEngine source at run time and passes MegEngine's records to it.
//
// MegEngine's stop_profile() returns a C++ function bound by pybind11, whose captured data are the records. They are
// found through pybind11's capsule and read in memory, which avoids the JSON file that MegEngine would write. Signal
// handlers of Python must not run while records are in transit, so the steps call C functions only.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "opscope/import.h"
#include "opscope/megengine_source.h"
#include "python/bindings/bindings.h"
#include "python/bindings/source_table.h"

namespace opscope::python {
namespace {

using LoadedMegEngineSource = LoadedTable<MegEngineSource>;

// pybind11's record of the C++ function behind a callable; null if the callable is not of pybind11.
const void* FunctionRecord(nb::handle callable) {
  if (!PyCFunction_Check(callable.ptr())) return nullptr;
  PyObject* self = PyCFunction_GetSelf(callable.ptr());
  if (self == nullptr || !PyCapsule_CheckExact(self)) return nullptr;
  const char* name = PyCapsule_GetName(self);
  void* record = name == nullptr && PyErr_Occurred() != nullptr ? nullptr : PyCapsule_GetPointer(self, name);
  PyErr_Clear();
  return record;
}

nb::object Take(const LoadedMegEngineSource& loaded, nb::object callable, bool with_gil, bool then_free) {
  const void* record = FunctionRecord(callable);
  if (record == nullptr) return ToText("it is not what MegEngine's stop_profile() returns");
  char error[512] = "";
  const auto take = [&] {
    if (!loaded.table->take(record, error, sizeof(error))) return false;
    if (then_free) loaded.table->free(record);
    return true;
  };
  const bool taken = with_gil ? take() : WithoutGil(take);
  return ToText(taken ? "" : error);
}

// Stops MegEngine's profiler, takes its records and starts it again, without running Python code in between (`stop` and
// `start` are C++ functions): in Python code a signal handler could raise, and the records would be lost or the
// profiler never restarted. The records are freed before the restart, because they return their device events to a pool
// that MegEngine uses without a lock.
nb::object TakePart(const LoadedMegEngineSource& loaded, nb::object stop, nb::object start, bool with_gil) {
  const nb::object stopped = stop();
  nb::object why = Take(loaded, stopped, with_gil, true);
  start();
  return why;
}

std::atomic<bool> profile_is_pending = false;

// Runs on the main thread, between two bytecode instructions of the program. It runs no Python code: in Python code a
// signal handler could raise, and that exception would be swallowed.
int SetProfile(void* pending) {
  profile_is_pending.store(false, std::memory_order_relaxed);
  const nb::object wanted = nb::steal(static_cast<PyObject*>(pending));
  PyObject* const get = PySys_GetObject("getprofile");
  PyObject* const set = PySys_GetObject("setprofile");
  if (get == nullptr || set == nullptr || PyList_Size(wanted.ptr()) != 1) return 0;
  const nb::object there = nb::steal(PyObject_CallObject(get, nullptr));
  if (there.is_none()) {
    nb::steal(PyObject_CallFunctionObjArgs(set, PyList_GetItem(wanted.ptr(), 0), nullptr));
  }
  return PyErr_Occurred() != nullptr ? -1 : 0;
}

void SetProfileSoon(nb::list wanted) {
  if (profile_is_pending.exchange(true, std::memory_order_relaxed)) return;
  if (Py_AddPendingCall(&SetProfile, wanted.inc_ref().ptr()) == 0) return;
  wanted.dec_ref();
  profile_is_pending.store(false, std::memory_order_relaxed);
}

SharedTrace ReadDump(nb::object path, nb::str why) {
  const std::string file = FromPath(path);
  ImportOptions options{.name = "MegEngine's timeline", .fallback_reason = FromText(why)};
  Trace trace = Unwrap(WithoutGil([&] { return ImportFile(file, options); }), path);
  return {std::make_shared<const Trace>(std::move(trace))};
}

}  // namespace

void BindMegEngine(nb::module_& module) {
  nb::module_ megengine = module.def_submodule("megengine", "What opscope.megengine needs of opscope's engine.");
  nb::class_<LoadedMegEngineSource, LoadedSource>(megengine, "MegEngineSource", "The loaded MegEngine source.")
      .def(
          "take", &Take, nb::arg("callable"), nb::arg("with_gil") = false, nb::arg("then_free") = false,
          "Copies the records behind the result of core2.stop_profile() into the running recording. Returns '', or why "
          "it did not; afterwards the callable must not be called. with_gil: needed for backtraces. then_free: also "
          "frees the records.")
      .def("take_part", &TakePart, nb::arg("stop"), nb::arg("start"), nb::arg("with_gil") = false,
           "Calls stop(), takes and frees its records, and calls start(). Returns '', or why no record was taken.")
      .def_prop_ro(
          "taken",
          [](const LoadedMegEngineSource& loaded) { return WithoutGil([&] { return loaded.table->taken(); }); },
          "Number of MegEngine's records in the running or the last recording.");
  megengine.def(
      "set_profile_soon", &SetProfileSoon, nb::arg("wanted"),
      "Makes the item of this list the profile function of the main thread before its next instruction, unless "
      "the thread has one by then or the list is empty. Any thread.");
  megengine.def("read_dump", &ReadDump, nb::arg("path"), nb::arg("why"),
                "The Trace of a chrome_timeline.json that replaces the records; `why` becomes a problem of it.");
  BindLoadSource<MegEngineSource>(megengine, "megengine", kMegEngineSourceAbi);
}

}  // namespace opscope::python
