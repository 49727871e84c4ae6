// `_core.Session`: a recording of this process. Every call that may wait for another (an import takes
// seconds) waits without the GIL.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>

#include <new>
#include <string>
#include <vector>

#include "bindings.h"
#include "opscope/record_to.h"
#include "recording_session.h"

namespace opscope::python {
namespace {

AtCap AtCapOf(const std::string& name) {
  if (name == "stop") return AtCap::kStop;
  if (name == "keep_newest") return AtCap::kKeepNewest;
  throw nb::value_error("at_cap must be 'stop' or 'keep_newest'");
}

NativeThreads NativeThreadsOf(const std::string& name) {
  if (name == "all") return NativeThreads::kAll;
  if (name == "attached") return NativeThreads::kAttached;
  if (name == "none") return NativeThreads::kNone;
  throw nb::value_error("native_threads must be 'all', 'attached' or 'none'");
}

// What the session's own state forbids is a RuntimeError, as in the profilers that opscope stands in for.
[[noreturn]] void RaiseState(const Error& error) {
  PyErr_SetObject(PyExc_RuntimeError, ToText(error.message).ptr());
  throw nb::python_error();
}

void Construct(RecordingSession* place, uint64_t max_bytes, const std::string& at_cap,
               const std::string& native_threads, nb::str metadata_json, uint32_t source_flags,
               const LoadedTorchSource* source, FlightRecorder* flight, nb::str record_to) {
  RecordingOptions options;
  options.max_bytes = max_bytes;
  options.at_cap = AtCapOf(at_cap);
  options.native_threads = NativeThreadsOf(native_threads);
  options.metadata_json = FromText(metadata_json);
  options.source_flags = source_flags;
  options.record_to = FromText(record_to);
  options.source = source != nullptr ? source->source : nullptr;
  options.flight = flight;
  new (place) RecordingSession(std::move(options));
}

void Start(RecordingSession& session) {
  const Status status = WithoutGil([&] { return session.Start(); });
  if (!status.ok()) RaiseState(status.error());
}

nb::dict Counts(const RecordingSession& session) {
  const WindowCounts counts = WithoutGil([&] { return session.counts(); });
  nb::dict result;
  result["recorded"] = counts.recorded;
  result["dropped"] = counts.dropped;
  result["bytes"] = counts.bytes;
  result["threads"] = counts.threads;
  result["chunks"] = counts.chunks;
  return result;
}

SharedTrace ReadTrace(RecordingSession& session) {
  auto trace = WithoutGil([&] { return session.ReadTrace(); });
  if (!trace.ok() && trace.error().code == ErrorCode::kInvalidArgument) RaiseState(trace.error());
  return {Unwrap(std::move(trace))};
}

// Python's `_core.KeptRecording`.
struct HeldRecording {
  SharedRecording recording;
};

HeldRecording Keep(RecordingSession& session) {
  auto kept = WithoutGil([&] { return session.Keep(); });
  if (!kept.ok() && kept.error().code == ErrorCode::kInvalidArgument) RaiseState(kept.error());
  return {Unwrap(std::move(kept))};
}

SharedTrace ReadKept(nb::list held) {
  std::vector<SharedRecording> recordings;
  for (nb::handle one : held)
    recordings.push_back(nb::cast<const HeldRecording&>(one).recording);
  return {Unwrap(WithoutGil([&] { return ImportKept(recordings); }))};
}

void BindKeptRecording(nb::module_& module) {
  nb::class_<HeldRecording>(module, "KeptRecording", "The bytes of a recording that is over.")
      .def_prop_ro("bytes", [](const HeldRecording& held) { return held.recording->bytes; })
      .def_prop_ro("recorded", [](const HeldRecording& held) { return held.recording->recorded; })
      .def_prop_ro("dropped", [](const HeldRecording& held) { return held.recording->dropped; })
      .def(
          "without_events", [](const HeldRecording& held) { return HeldRecording{DropRecording(*held.recording)}; },
          "What remains when there is no room for the events: their number, as dropped.");
  module.def("read_kept", &ReadKept, nb::arg("recordings"), "One Trace of several KeptRecording, oldest first.");
}

}  // namespace

void BindSession(nb::module_& module) {
  BindKeptRecording(module);
  module.def(
      "recording_path", [](nb::str record_to, int64_t n) { return ToText(RecordingPath(FromText(record_to), n)); },
      nb::arg("record_to"), nb::arg("n"), "Path of the n-th recording of one profile (from 1).");
  nb::class_<RecordingSession>(module, "Session",
                               "One recording of this process: start(), stop(), then trace(). Any thread.")
      .def("__init__", &Construct, nb::arg("max_bytes") = uint64_t{1} << 30, nb::arg("at_cap") = "stop",
           nb::arg("native_threads") = "all", nb::arg("metadata_json") = "", nb::arg("source_flags") = 0,
           nb::arg("adapter").none() = nb::none(), nb::arg("flight").none() = nb::none(), nb::arg("record_to") = "",
           nb::keep_alive<1, 8>())
      .def(
          "file_warning",
          [](const RecordingSession& session) { return ToText(WithoutGil([&] { return session.FileWarning(); })); },
          "What record_to could not do, asked after start() and after stop(); '' when all is well.")
      .def("start", &Start, "RuntimeError: it was started before, or the recorder or the source has no room.")
      .def(
          "stop",
          [](RecordingSession& session, bool links_forward_to_backward) {
            WithoutGil([&] { session.Stop(links_forward_to_backward); });
          },
          nb::arg("links_forward_to_backward") = true,
          "Ends the recording in milliseconds; a second call does nothing.")
      .def(
          "pause", [](RecordingSession& session, bool paused) { WithoutGil([&] { session.Pause(paused); }); },
          nb::arg("paused"), "Whether operators and ranges that begin now go unrecorded; nothing unless it runs.")
      .def_prop_ro("running",
                   [](const RecordingSession& session) { return WithoutGil([&] { return session.is_running(); }); })
      .def("counts", &Counts, "recorded, dropped, bytes, threads, chunks; recorded + dropped = issued.")
      .def("trace", &ReadTrace, "The Trace, imported at the first call; REQUIRES stop().")
      .def("keep", &Keep, "The recording as bytes; gives its window back. REQUIRES stop(), and no trace() before.")
      .def(
          "add_metadata",
          [](RecordingSession& session, nb::str key, nb::str json) {
            const std::string key_bytes = FromText(key);
            const std::string json_bytes = FromText(json);
            return WithoutGil([&] { return session.AddMetadata(key_bytes, json_bytes); });
          },
          nb::arg("key"), nb::arg("json"), "False when the recording was already imported.")
      .def(
          "add_own_cost",
          [](RecordingSession& session, nb::str members_json) {
            const std::string members = FromText(members_json);
            return WithoutGil([&] { return session.AddOwnCost(members); });
          },
          nb::arg("members_json"), "What more kinds of events cost here, while it runs; else False.")
      .def_prop_ro(
          "slot", [](const RecordingSession& session) { return WithoutGil([&] { return session.slot(); }); },
          "Slot of the recorder's window while it runs.")
      .def_prop_ro(
          "generation",
          [](const RecordingSession& session) { return WithoutGil([&] { return session.generation(); }); },
          "Generation of the window, 0 unless it runs.");
}

}  // namespace opscope::python
