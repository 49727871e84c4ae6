// `_core.FlightRecorder`: dumps of a running Session. What happens without the GIL (a signal while the main
// thread hangs in C code, the watchdog) happens in C++ alone.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>

#include <cmath>
#include <new>
#include <string>

#include "bindings.h"
#include "opscope/flight_recorder.h"

namespace opscope::python {
namespace {

void Construct(FlightRecorder* place, nb::handle path, int signal, bool on_exception, double no_step_for_s) {
  FlightOptions options;
  if (!path.is_none()) options.path = FromPath(path);
  options.signal = signal;
  options.on_exception = on_exception;
  if (!std::isfinite(no_step_for_s) || std::fabs(no_step_for_s) > 1e9) {
    throw nb::value_error("the time without a step must be a number of seconds");
  }
  options.no_step_for = std::chrono::milliseconds(static_cast<int64_t>(std::ceil(no_step_for_s * 1000)));
  new (place) FlightRecorder(std::move(options));
}

// What the options forbid is a ValueError; there is no file that could be malformed.
[[noreturn]] void RaiseValue(const Error& error) {
  PyErr_SetObject(PyExc_ValueError, ToText(error.message).ptr());
  throw nb::python_error();
}

[[noreturn]] void RaiseState(const Error& error) {
  PyErr_SetObject(PyExc_RuntimeError, ToText(error.message).ptr());
  throw nb::python_error();
}

void Start(FlightRecorder& flight) {
  const Status status = WithoutGil([&] { return flight.Start(); });
  if (status.ok()) return;
  if (status.error().code == ErrorCode::kInvalidArgument) RaiseValue(status.error());
  RaiseState(status.error());
}

nb::object Dump(FlightRecorder& flight, nb::handle path, const std::string& reason, nb::str detail) {
  const std::string file = path.is_none() ? std::string() : FromPath(path);
  const std::string detail_bytes = FromText(detail);
  Result<std::string> dumped = WithoutGil([&] { return flight.Dump(file, reason, detail_bytes); });
  if (!dumped.ok() && dumped.error().code == ErrorCode::kInvalidArgument) RaiseState(dumped.error());
  const std::string written = Unwrap(std::move(dumped), path);
  return nb::steal(PyUnicode_DecodeFSDefaultAndSize(written.data(), static_cast<Py_ssize_t>(written.size())));
}

nb::list Files(const FlightRecorder& flight) {
  const std::vector<std::string> files = WithoutGil([&] { return flight.files(); });
  nb::list list;
  for (const std::string& file : files)
    list.append(nb::steal(PyUnicode_DecodeFSDefaultAndSize(file.data(), static_cast<Py_ssize_t>(file.size()))));
  return list;
}

nb::list TakeMessages(FlightRecorder& flight) {
  const std::vector<std::string> messages = WithoutGil([&] { return flight.TakeMessages(); });
  nb::list list;
  for (const std::string& message : messages)
    list.append(ToText(message));
  return list;
}

}  // namespace

void BindFlight(nb::module_& module) {
  nb::class_<FlightRecorder>(module, "FlightRecorder", "Dumps a running Session when something happens. Any thread.")
      .def("__init__", &Construct, nb::arg("path").none() = nb::none(), nb::arg("signal") = 0,
           nb::arg("on_exception") = false, nb::arg("no_step_for_s") = 0.0)
      .def("start", &Start, "ValueError: the options make no sense. RuntimeError: the system refused.")
      .def(
          "stop", [](FlightRecorder& flight) { WithoutGil([&] { flight.Stop(); }); },
          "Takes handlers and thread back; waits for a dump that is under way.")
      .def("step", &FlightRecorder::Step, "The job is alive.")
      .def("dump", &Dump, nb::arg("path").none() = nb::none(), nb::arg("reason") = "request", nb::arg("detail") = "",
           "Dumps now; the name of the file. RuntimeError: nothing is being recorded, or no path.")
      .def_prop_ro("files", &Files, "The dumps so far.")
      .def("take_messages", &TakeMessages, "What went wrong in dumps that nobody was waiting for.");
}

}  // namespace opscope::python
