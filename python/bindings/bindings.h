// The Python extension `opscope._core`: what its files share. Each file binds one subject through one
// function that module.cc calls; it converts and forwards, and holds no logic.
//
// Errors: an Error becomes opscope.Error (a ValueError), or the OSError subclass of its errno. Text
// crosses as UTF-8 with `surrogateescape`, so names that are not valid Unicode survive both ways.
//
// Thread rule: everything here needs the GIL unless it says otherwise; long work releases it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opscope/analysis/op_summary.h"
#include "opscope/analysis/span_filter.h"
#include "opscope/arrow.h"
#include "opscope/owned_table.h"
#include "opscope/result.h"
#include "opscope/session.h"
#include "opscope/source.h"
#include "opscope/table.h"
#include "opscope/trace.h"

namespace opscope::python {

namespace nb = nanobind;

// Python's `_core.Trace`. Shared, because Arrow readers may keep the columns longer than Python does
// and give them back on threads that never hold the GIL. Bound functions take `const SharedTrace&`.
struct SharedTrace {
  std::shared_ptr<const Trace> trace;
};

// Python's `_core.ComputedTable`: a computed table, for example the averages of a recording. `trace` also owns the
// memory of the columns, so a reference to it keeps the view valid.
struct ComputedTable {
  std::shared_ptr<const Trace> trace;
  TableView view;
};

// The capsule of the Arrow PyCapsule interface. Takes over the open stream.
nb::object ArrowCapsule(std::unique_ptr<ArrowArrayStream> stream);

ComputedTable ToComputedTable(std::shared_ptr<const OwnedTable> table);

// Python's `_core.Source`: the function table of a loaded library. The library is never unloaded.
struct LoadedSource {
  const Source* source = nullptr;
};

// Raises the Python exception of an Error. `path`: the argument of the caller, stored as the exception's `filename`.
[[noreturn]] void Raise(const Error& error, nb::handle path = {});

template <typename T>
T Unwrap(Result<T>&& result, nb::handle path = {}) {
  if (!result.ok()) Raise(result.error(), path);
  return std::move(result).value();
}
inline void Unwrap(const Status& status, nb::handle path = {}) {
  if (!status.ok()) Raise(status.error(), path);
}

// Releases the GIL for a scope. nanobind's own class is not usable: during finalisation, Python terminates a thread
// that requests the GIL by unwinding its stack (pthread_exit), and nanobind's noexcept frames abort the process. Here
// such a thread blocks forever and the process exits without it, as Python itself does from 3.14 on.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

// Runs `work` without the GIL and returns what it returns.
template <typename Work>
auto WithoutGil(Work&& work) {
  const GilRelease released;
  return work();
}

// Bytes of a trace as str, and back. FromText also accepts lone surrogates (encoded as three bytes each).
nb::object ToText(std::string_view bytes);
std::string FromText(nb::handle text);
// `FromText` of an argument. nanobind's std::string accepts valid Unicode alone, and a name of a trace may be none.
// Raises TypeError with `name` for another type.
std::string TextArgument(nb::handle argument, const char* name);
// The argument `where`: a condition that chooses spans; no value for None.
std::optional<std::string> WhereArgument(nb::handle argument);
// The argument `group_by`: names of keys. Raises ValueError for an unknown one.
std::vector<GroupKey> GroupKeysArgument(nb::list names);
// Parses `where`. The message of an error begins with "where: ". Any thread, without the GIL.
Result<SpanFilter> ParseWhere(const std::string& condition);
// The bytes of a str, without a copy if it is valid UTF-8; otherwise `*keep` owns the converted bytes. Returns false
// with a Python exception set.
bool TextBytes(PyObject* text, std::string* keep, std::string_view* bytes);
// Arguments of a recording, as Python's Recording() and Session.prepare() take them. `sources`: pairs of a Source and
// the names of the features that are requested from it.
RecordingOptions ReadRecordingOptions(uint64_t max_bytes, const std::string& at_cap, const std::string& native_threads,
                                      nb::handle metadata_json, nb::handle sources, nb::handle record_to);
// os.fsencode of a path given as str, bytes or PathLike; ValueError for one with a NUL. And os.fsdecode.
std::string FromPath(nb::handle path);
nb::object ToPath(std::string_view bytes);

// Raises RuntimeError for a call that the state of a session does not allow (`stop()` before `start()`), as the
// original profilers do.
[[noreturn]] void RaiseState(const Error& error);

// One function per file, called by module.cc.
void BindErrors(nb::module_& module);
void BindTrace(nb::module_& module);
void BindTables(nb::module_& module);
void BindComputedTable(nb::module_& module);
void BindFlame(nb::module_& module);
void BindReport(nb::module_& module);
void BindFiles(nb::module_& module);
void BindResults(nb::module_& module);
void BindDiff(nb::module_& module);
void BindCheck(nb::module_& module);
void BindSql(nb::module_& module);
void BindJob(nb::module_& module);
void BindReproduce(nb::module_& module);
void BindSources(nb::module_& module);
void BindRecording(nb::module_& module);
void BindSession(nb::module_& module);
void BindSchedule(nb::module_& module);
void BindCommandLine(nb::module_& module);
void BindCuda(nb::module_& module);       // cuda/: the submodule `_core.cuda`
void BindMegEngine(nb::module_& module);  // megengine/: the submodule `_core.megengine`
void BindPaddle(nb::module_& module);     // paddle/: the submodule `_core.paddle`
void BindTorch(nb::module_& module);      // torch/: the submodule `_core.torch`

}  // namespace opscope::python
