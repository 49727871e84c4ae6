// `_core.Session`: the recordings of one profile, and dumps of the running one. Dumps that must work without the GIL (on
// a signal while the main thread hangs in C code, by the watchdog) are made by C++ alone.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"

namespace opscope::python {
namespace {

void Construct(Session* place, nb::handle dump_to, int signal, bool on_exception, double no_step_for_s) {
  FlightOptions options;
  if (!dump_to.is_none()) options.path = FromPath(dump_to);
  options.signal = signal;
  options.on_exception = on_exception;
  if (!std::isfinite(no_step_for_s) || std::fabs(no_step_for_s) > 1e9) {
    throw nb::value_error("the time without a step must be a number of seconds");
  }
  options.no_step_for = std::chrono::milliseconds(static_cast<int64_t>(std::ceil(no_step_for_s * 1000)));
  if (const Status checked = FlightRecorder::Check(options);
      !checked.ok()) {  // a plain ValueError, because opscope.Error is for malformed files
    PyErr_SetObject(PyExc_ValueError, ToText(checked.error().message).ptr());
    throw nb::python_error();
  }
  new (place) Session(std::move(options));
}

void Start(Session& session) {
  const Status status = WithoutGil([&] { return session.Start(); });
  if (!status.ok()) RaiseState(status.error());
}

std::shared_ptr<Recording> Prepare(Session& session, uint64_t max_bytes, const std::string& at_cap,
                                   const std::string& native_threads, nb::str metadata_json, nb::object sources,
                                   nb::str record_to, bool adds_up) {
  RecordingOptions options = ReadRecordingOptions(max_bytes, at_cap, native_threads, metadata_json, sources, record_to);
  auto prepared = WithoutGil([&] { return session.Prepare(std::move(options), adds_up); });
  if (!prepared.ok() && prepared.error().code == ErrorCode::kInvalidArgument) RaiseState(prepared.error());
  return Unwrap(std::move(prepared));
}

nb::object Dump(Session& session, nb::handle path, const std::string& reason, nb::str detail) {
  const std::string file = path.is_none() ? std::string() : FromPath(path);
  const std::string detail_bytes = FromText(detail);
  Result<std::string> dumped = WithoutGil([&] { return session.flight().Dump(file, reason, detail_bytes); });
  if (!dumped.ok() && dumped.error().code == ErrorCode::kInvalidArgument) RaiseState(dumped.error());
  return ToPath(Unwrap(std::move(dumped), path));
}

nb::list Files(const Session& session) {
  const std::vector<std::string> files = WithoutGil([&] { return session.flight().files(); });
  nb::list list;
  for (const std::string& file : files)
    list.append(ToPath(file));
  return list;
}

nb::list TakeMessages(Session& session) {
  const std::vector<std::string> messages = WithoutGil([&] { return session.flight().TakeMessages(); });
  nb::list list;
  for (const std::string& message : messages)
    list.append(ToText(message));
  return list;
}

}  // namespace

void BindSession(nb::module_& module) {
  nb::class_<Session>(module, "Session", "The recordings of one profile, one after the other. Any thread.")
      .def("__init__", &Construct, nb::arg("dump_to").none() = nb::none(), nb::arg("signal") = 0,
           nb::arg("on_exception") = false, nb::arg("no_step_for_s") = 0.0)
      .def("start", &Start,
           "Enables dumps in this process until stop(). RuntimeError: it was started already, or the system refused.")
      .def(
          "stop", [](Session& session) { WithoutGil([&] { session.Stop(); }); },
          "Removes the signal handlers and the watchdog thread; waits for a dump in progress.")
      .def_prop_ro("is_started", &Session::is_started, "False in the child of a fork.")
      .def("prepare", &Prepare, nb::arg("max_bytes") = uint64_t{1} << 30, nb::arg("at_cap") = "stop",
           nb::arg("native_threads") = "all", nb::arg("metadata_json") = "", nb::arg("sources") = nb::make_tuple(),
           nb::arg("record_to") = "", nb::arg("adds_up") = false,
           "The next recording, not started. adds_up: its result includes the previous recording's, if that is over.")
      .def(
          "step", [](Session& session) { session.flight().Step(); }, "Restarts the watchdog's time.")
      .def("dump", &Dump, nb::arg("path").none() = nb::none(), nb::arg("reason") = "request", nb::arg("detail") = "",
           "Dumps now; returns the name of the file. RuntimeError: no recording runs, or there is no path.")
      .def_prop_ro("files", &Files, "Names of the dumps so far.")
      .def("take_messages", &TakeMessages, "Errors of automatic dumps since the last call.");
}

}  // namespace opscope::python
