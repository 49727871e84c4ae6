// `_core.Recording`: a recording of this process. Calls that may block (starting a source can import a framework, which
// takes seconds) release the GIL.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.h"

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

SourceUse UseOf(nb::handle pair) {
  if (!nb::isinstance<nb::tuple>(pair) || nb::len(pair) != 2 || !nb::isinstance<LoadedSource>(pair[0])) {
    throw nb::type_error("sources must be pairs of a Source and the names of its flags");
  }
  std::vector<std::string> texts;
  for (nb::handle name : nb::borrow(pair[1]))
    texts.push_back(FromText(name));
  const std::vector<std::string_view> flags(texts.begin(), texts.end());
  const Result<SourceUse> use = UseSource(*nb::cast<const LoadedSource&>(pair[0]).source, flags);
  if (!use.ok()) throw nb::value_error(use.error().message.c_str());
  return use.value();
}

void Start(Recording& recording) {
  const Status status = WithoutGil([&] { return recording.Start(); });
  if (!status.ok()) RaiseState(status.error());
}

nb::dict Counts(const Recording& recording) {
  const WindowCounts counts = WithoutGil([&] { return recording.counts(); });
  nb::dict result;
  result["recorded"] = counts.recorded;
  result["dropped"] = counts.dropped;
  result["bytes"] = counts.bytes;
  result["threads"] = counts.threads;
  result["chunks"] = counts.chunks;
  return result;
}

// Result<Recording::SharedTrace> read(), called without the GIL.
template <typename Read>
SharedTrace TraceOf(const Read& read) {
  auto trace = WithoutGil(read);
  if (!trace.ok() && trace.error().code == ErrorCode::kInvalidArgument) RaiseState(trace.error());
  return {Unwrap(std::move(trace))};
}

}  // namespace

void RaiseState(const Error& error) {
  PyErr_SetObject(PyExc_RuntimeError, ToText(error.message).ptr());
  throw nb::python_error();
}

RecordingOptions ReadRecordingOptions(uint64_t max_bytes, const std::string& at_cap, const std::string& native_threads,
                                      nb::handle metadata_json, nb::handle sources, nb::handle record_to) {
  RecordingOptions options;
  options.max_bytes = max_bytes;
  options.at_cap = AtCapOf(at_cap);
  options.native_threads = NativeThreadsOf(native_threads);
  options.metadata_json = FromText(metadata_json);
  for (nb::handle pair : sources)
    options.sources.push_back(UseOf(pair));
  options.record_to = FromText(record_to);
  return options;
}

void BindRecording(nb::module_& module) {
  nb::class_<Recording>(module, "Recording",
                        "One recording of this process: start(), stop(), then trace(). Any thread.")
      .def(
          "__init__",
          [](Recording* place, uint64_t max_bytes, const std::string& at_cap, const std::string& native_threads,
             nb::str metadata_json, nb::object sources, nb::str record_to) {
            new (place)
                Recording(ReadRecordingOptions(max_bytes, at_cap, native_threads, metadata_json, sources, record_to));
          },
          nb::arg("max_bytes") = uint64_t{1} << 30, nb::arg("at_cap") = "stop", nb::arg("native_threads") = "all",
          nb::arg("metadata_json") = "", nb::arg("sources") = nb::make_tuple(), nb::arg("record_to") = "")
      .def(
          "file_warning",
          [](const Recording& recording) { return ToText(WithoutGil([&] { return recording.FileWarning(); })); },
          "What record_to could not do, asked after start() and after stop(); '' when all is well.")
      .def("start", &Start, "RuntimeError: it was started before, or the recorder or a source has no room.")
      .def(
          "stop", [](Recording& recording) { WithoutGil([&] { recording.Stop(); }); },
          "Ends the recording in milliseconds; a second call does nothing.")
      .def(
          "pause",
          [](Recording& recording, bool paused, const std::string& source) {
            WithoutGil([&] { recording.Pause(paused, source); });
          },
          nb::arg("paused"), nb::arg("source") = "",
          "Whether what begins now goes unrecorded by its sources, or by the one of this name; nothing unless it runs.")
      .def_prop_ro("is_running",
                   [](const Recording& recording) { return WithoutGil([&] { return recording.is_running(); }); })
      .def_prop_ro(
          "is_over", [](const Recording& recording) { return WithoutGil([&] { return recording.is_over(); }); },
          "It was stopped, or belongs to the process that this one was forked from.")
      .def_prop_ro("is_inherited", &Recording::is_inherited,
                   "It was started before this process was forked, and goes on in the parent.")
      .def("counts", &Counts, "recorded, dropped, bytes, threads, chunks; recorded + dropped = issued.")
      .def(
          "trace", [](Recording& recording) { return TraceOf([&] { return recording.ReadTrace(); }); },
          "The Trace of this recording alone, imported at the first call; REQUIRES stop().")
      .def(
          "whole_trace", [](Recording& recording) { return TraceOf([&] { return recording.ReadAll(); }); },
          "The same with the recordings before it that it adds up with; of those alone while it runs.")
      .def_prop_ro("has_earlier", &Recording::has_earlier, "Whether it adds up with recordings before it.")
      .def(
          "add_metadata",
          [](Recording& recording, nb::str key, nb::str json) {
            const std::string key_bytes = FromText(key);
            const std::string json_bytes = FromText(json);
            return WithoutGil([&] { return recording.AddMetadata(key_bytes, json_bytes); });
          },
          nb::arg("key"), nb::arg("json"), "False when the recording was already imported.")
      .def_prop_ro(
          "slot", [](const Recording& recording) { return WithoutGil([&] { return recording.slot(); }); },
          "Slot of the recorder's window while it runs.")
      .def_prop_ro(
          "generation", [](const Recording& recording) { return WithoutGil([&] { return recording.generation(); }); },
          "Generation of the window, 0 unless it runs.");
}

}  // namespace opscope::python
