// Jobs that read and export, and the other doors: C and the command line.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "claims.h"
#include "jobs.h"
#include "opscope/c.h"
#include "opscope/cli.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "opscope/profiler.h"

namespace faults {

using opscope::Profiler;
using opscope::Result;
using opscope::Status;
using opscope::Trace;

void MakeRecording(const std::string& path) {
  const std::string wrong = RunInChildProcess([&](Trial*) -> std::string {
    RecordedWork work;
    Profiler profiler;
    if (!profiler.Start().ok()) return "no start";
    work.Work();
    if (!profiler.Stop().ok() || !profiler.Save(path).ok()) return "no file";
    return "";
  });
  if (!wrong.empty()) std::abort();
}

Job Reading(std::string path) {
  return [path](Trial* trial) -> std::string {
    trial->Begin();
    std::optional<Result<Trace>> trace = opscope::ImportFile(path);
    trial->End();
    Result<Trace> whole = opscope::ImportFile(path);
    if (!whole.ok()) return whole.error().message;
    if (!trace->ok()) return CheckError(*trial, trace->error(), path);
    if (EventsOf(trace->value()) == EventsOf(whole.value())) return "";
    return trace->value().is_partial() ? "" : "events are missing, and no problem says so";
  };
}

Job Exporting(std::string recording, std::string path) {
  return [recording, path](Trial* trial) -> std::string {
    Put(path, kOldFile);
    Result<Trace> trace = opscope::ImportFile(recording);
    if (!trace.ok()) return trace.error().message;
    trial->Begin();
    const Status exported = path.ends_with(".opscope") ? opscope::ExportOpscope(trace.value(), path)
                                                       : opscope::ExportChromeTrace(trace.value(), path);
    trial->End();
    return CheckFile(*trial, exported, path);
  };
}

namespace {

// What C sees of an error.
struct CError {
  opscope_error error = OPSCOPE_ERROR_INIT;
  std::string Wrong(const Trial& trial, opscope_code code) const {
    if (!trial.failed()) return std::string("an error without a fault: ") + error.message;
    if (static_cast<int32_t>(code) != error.code) return "the code and the error's code differ";
    return error.message[0] == '\0' ? "an error without a word" : "";
  }
};

opscope_code SummarizeInC(const std::string& path, opscope_error* error) {
  opscope_trace* trace = nullptr;
  opscope_code code = opscope_trace_open(path.c_str(), nullptr, &trace, error);
  if (code != OPSCOPE_OK) return code;
  opscope_summary* summary = nullptr;
  code = opscope_summarize(trace, nullptr, &summary, error);
  char* text = nullptr;
  if (code == OPSCOPE_OK) code = opscope_summary_text(summary, OPSCOPE_TEXT_JSON, 0, &text, error);
  opscope_text_free(text);
  opscope_summary_free(summary);
  opscope_trace_free(trace);
  return code;
}

opscope_code RecordInC(opscope_profiler* profiler, RecordedWork* work, const std::string& path, opscope_error* error) {
  opscope_code code = opscope_profiler_start(profiler, error);
  work->Work();
  opscope_scope* scope = opscope_scope_begin_copy("in C");
  opscope_scope_text(scope, "key", "value");
  opscope_scope_end(scope);
  if (code != OPSCOPE_OK) return code;
  code = opscope_profiler_stop(profiler, error);
  if (code == OPSCOPE_OK) code = opscope_profiler_save(profiler, path.c_str(), error);
  return code;
}

}  // namespace

Job UsingC(std::string path) {
  return [path](Trial* trial) -> std::string {
    RecordedWork work;
    CError error;
    opscope_profiler* profiler = nullptr;
    trial->Begin();
    opscope_code code = opscope_profiler_new(nullptr, &profiler, &error.error);
    if (code == OPSCOPE_OK) code = RecordInC(profiler, &work, path, &error.error);
    opscope_profiler_free(profiler);
    if (code == OPSCOPE_OK) code = SummarizeInC(path, &error.error);
    trial->End();
    if (!work.is_right()) return "the program came to another result";
    return code == OPSCOPE_OK ? "" : error.Wrong(*trial, code);
  };
}

Job CommandLine(std::vector<std::string> arguments, std::string folder) {
  return [arguments = std::move(arguments), folder](Trial* trial) -> std::string {
    const std::string out = folder + "/out", told = folder + "/told";
    std::vector<const char*> pointers{"opscope"};
    for (const std::string& argument : arguments)
      pointers.push_back(argument.c_str());
    dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    dup2(open(told.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    trial->Begin();
    const int status = opscope::RunCli(static_cast<int>(pointers.size()), pointers.data());
    trial->End();
    const std::string line = ReadText(told);
    if (status == 0) return line.empty() ? "" : "told something, and yet the status is 0: " + line;
    if (!trial->failed()) return "status " + std::to_string(status) + " without a fault: " + line;
    if (status == 3) return "";
    if (status != 1) return "status " + std::to_string(status) + ": " + line;
    if (!line.starts_with("opscope: ") || line.find('\n') != line.size() - 1) return "not one line: " + line;
    return "";
  };
}

}  // namespace faults
