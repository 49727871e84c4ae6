// SPDX-License-Identifier: Apache-2.0
#include "jobs.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "opscope/c.h"
#include "opscope/cli.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "opscope/profiler.h"
#include "opscope/record_to.h"
#include "recorded_work.h"

namespace faults {
namespace {

using opscope::Error;
using opscope::ErrorCode;
using opscope::Profiler;
using opscope::Result;
using opscope::Status;
using opscope::Trace;

constexpr int kMoreThanIsReady = 10;
constexpr int kManyThreads = 100;
constexpr int kEventsOfAThread = 1000;
constexpr std::string_view kOldFile = "what stood here before";

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void Put(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string FolderOf(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

// An error that tells what it is about.
std::string WrongWithError(const Trial& trial, const Error& error, std::string_view about) {
  if (!trial.failed()) return "an error without a fault: " + error.message;
  if (trial.is_harmless()) return "an interruption was taken for a refusal: " + error.message;
  if (error.code == ErrorCode::kIo && error.system_errno != trial.number())
    return "the error does not keep the system's reason: " + error.message;
  const bool is_known = error.code == ErrorCode::kOutOfMemory || error.code == ErrorCode::kIo ||
                        error.code == ErrorCode::kNotFound || error.code == ErrorCode::kUnsupported;
  if (!is_known) return "error of a wrong kind: " + error.message;
  // Where memory is short the sentence about it may be all that there is.
  if (error.message.find(about) == std::string::npos && error.code != ErrorCode::kOutOfMemory)
    return "the error does not name what failed: " + error.message;
  return error.message.empty() ? "an error without a word" : "";
}

uint64_t EventsOf(const Trace& trace) {
  return trace.spans().size() + trace.counters().size() + trace.instants().size();
}

// The file at `path` is the old one after an error, and a whole recording else.
std::string WrongWithFile(const Trial& trial, const Status& status, const std::string& path) {
  for (const std::string& name : NamesIn(FolderOf(path))) {
    if (name.find(".tmp") != std::string::npos) return "left over: " + name;
  }
  if (!status.ok()) {
    if (ReadText(path) != kOldFile) return "an error, and the old file is gone";
    return WrongWithError(trial, status.error(), path);
  }
  Result<Trace> trace = opscope::ImportFile(path);
  if (!trace.ok()) return "the new file cannot be read: " + trace.error().message;
  if (EventsOf(trace.value()) == 0) return "the new file has no events";
  return trace.value().is_partial() ? "the new file tells of losses" : "";
}

std::string WrongWithCounts(uint64_t recorded, uint64_t dropped, const RecordedWork& work) {
  if (!work.is_right()) return "the program came to another result";
  if (recorded + dropped == work.issued()) return "";
  return "recorded " + std::to_string(recorded) + " + dropped " + std::to_string(dropped) + " is not issued " +
         std::to_string(work.issued());
}

// Removed at the end of a trial: names have the number of the process in them.
struct FileOfOneTrial {
  explicit FileOfOneTrial(std::string of) : path(std::move(of)) {}
  ~FileOfOneTrial() { unlink(path.c_str()); }
  FileOfOneTrial(const FileOfOneTrial&) = delete;
  FileOfOneTrial& operator=(const FileOfOneTrial&) = delete;
  const std::string path;
};

// A Profiler that was not to be had is none: its constructor may say so by std::bad_alloc, as any may.
std::unique_ptr<Profiler> MakeProfiler(opscope::Options options = {}) {
  try {
    return std::make_unique<Profiler>(std::move(options));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "opscope_faults_XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}
Folder::~Folder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

Job Recording() {
  return [](Trial* trial) -> std::string {
    RecordedWork work;
    trial->Begin();
    const std::unique_ptr<Profiler> profiler = MakeProfiler();
    Status started, stopped;
    if (profiler != nullptr) started = profiler->Start();
    for (int i = 0; i < kMoreThanIsReady; ++i)
      work.Work();
    if (profiler != nullptr && started.ok()) stopped = profiler->Stop();
    trial->End();
    if (!work.is_right()) return "the program came to another result";
    if (profiler == nullptr) return trial->failed() ? "" : "no profiler without a fault";
    if (!started.ok()) return WrongWithError(*trial, started.error(), "profiler");
    if (!stopped.ok()) return WrongWithError(*trial, stopped.error(), "profiler");
    return WrongWithCounts(profiler->recorded(), profiler->dropped(), work);
  };
}

namespace {

void* RecordALittle(void* barrier) {
  pthread_barrier_wait(static_cast<pthread_barrier_t*>(barrier));
  for (int i = 0; i < kEventsOfAThread; ++i)
    OPSCOPE_SCOPE("little");
  return nullptr;
}

}  // namespace

Job ManyThreads() {
  return [](Trial* trial) -> std::string {
    Profiler profiler;
    if (!profiler.Start().ok()) return "no start";
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, kManyThreads + 1);
    std::vector<pthread_t> threads(kManyThreads);
    for (pthread_t& thread : threads)
      pthread_create(&thread, nullptr, RecordALittle, &barrier);
    trial->Begin();
    pthread_barrier_wait(&barrier);
    for (const pthread_t thread : threads)
      pthread_join(thread, nullptr);
    const Status stopped = profiler.Stop();
    trial->End();
    if (!stopped.ok()) return WrongWithError(*trial, stopped.error(), "profiler");
    const uint64_t counted = profiler.recorded() + profiler.dropped();
    if (counted == uint64_t{kManyThreads} * kEventsOfAThread) return "";
    return "recorded " + std::to_string(profiler.recorded()) + " + dropped " + std::to_string(profiler.dropped()) +
           " is not issued";
  };
}

Job ScheduledRecording(std::string path) {
  return [path](Trial* trial) -> std::string {
    Put(path, kOldFile);
    RecordedWork work;
    Status saved, wrong;
    int ready = 0;
    const auto note = [&wrong](const Status& status) {
      if (wrong.ok() && !status.ok()) wrong = status;
    };
    opscope::Options options;
    options.schedule = opscope::Schedule{.wait = 1, .warmup = 1, .active = 1};
    options.on_ready = [&](Profiler& of) {
      ++ready;
      saved = of.Save(path);
    };
    trial->Begin();
    std::unique_ptr<Profiler> profiler = MakeProfiler(std::move(options));
    const bool profiler_is_missing = profiler == nullptr;
    if (profiler != nullptr) note(profiler->Start());
    for (int step = 0; step < 6; ++step) {
      if (step % 3 == 2) work.Work();
      if (profiler != nullptr && wrong.ok()) note(profiler->Step());
    }
    if (profiler != nullptr && wrong.ok()) note(profiler->Stop());
    profiler.reset();
    trial->End();
    if (!work.is_right()) return "the program came to another result";
    if (profiler_is_missing) return trial->failed() ? "" : "no profiler without a fault";
    if (!wrong.ok()) {
      if (ready == 0 && ReadText(path) != kOldFile) return "nothing was ready, and the old file is gone";
      return WrongWithError(*trial, wrong.error(), "profiler");
    }
    if (ready != 2) return "ready " + std::to_string(ready) + " times";
    // The first of both may have been saved before the second one failed.
    if (!saved.ok() && ReadText(path) != kOldFile) Put(path, kOldFile);
    return WrongWithFile(*trial, saved, path);
  };
}

Job MappedRecording(std::string path) {
  return [path](Trial* trial) -> std::string {
    const std::string file = opscope::RecordingPath(path, 1);  // this is a child: its own file
    const FileOfOneTrial gone(file);
    RecordedWork work;
    int warnings = 0;
    opscope::Options options;
    options.record_to = path;
    options.on_warning = [&](std::string_view) { ++warnings; };
    trial->Begin();
    const std::unique_ptr<Profiler> profiler = MakeProfiler(std::move(options));
    Status started, stopped;
    if (profiler != nullptr) started = profiler->Start();
    for (int i = 0; i < 3; ++i)
      work.Work();
    if (profiler != nullptr && started.ok()) stopped = profiler->Stop();
    trial->End();
    if (!work.is_right()) return "the program came to another result";
    if (profiler == nullptr) return trial->failed() ? "" : "no profiler without a fault";
    if (!started.ok()) return WrongWithError(*trial, started.error(), "");
    if (!stopped.ok()) return WrongWithError(*trial, stopped.error(), "");
    if (std::string wrong = WrongWithCounts(profiler->recorded(), profiler->dropped(), work); !wrong.empty())
      return wrong;
    if (trial->call() != Call::kMap && profiler->dropped() != 0)
      return "dropped " + std::to_string(profiler->dropped()) + ", and there was memory";
    if (!trial->failed() && warnings != 0) return "a warning without a fault";
    const std::string copy = file + ".copy";
    const FileOfOneTrial copy_gone(copy);
    if (const Status saved = profiler->Save(copy); !saved.ok()) return saved.error().message;
    Result<Trace> trace = opscope::ImportFile(copy);
    if (!trace.ok()) return trace.error().message;
    Result<Trace> mapped = opscope::ImportFile(file);
    if (mapped.ok() && EventsOf(mapped.value()) == EventsOf(trace.value())) return "";
    if (!trial->failed()) return mapped.ok() ? "events are missing in the file" : mapped.error().message;
    return warnings == 0 ? "the file is not whole, and nobody said so" : "";
  };
}

Job Saving(std::string path) {
  return [path](Trial* trial) -> std::string {
    Put(path, kOldFile);
    RecordedWork work;
    Profiler profiler;
    if (!profiler.Start().ok()) return "no start";
    work.Work();
    if (!profiler.Stop().ok()) return "no stop";
    trial->Begin();
    const Status saved = profiler.Save(path);
    trial->End();
    return WrongWithFile(*trial, saved, path);
  };
}

Job SavingWithoutRoom(std::string path, std::function<bool()> forbid) {
  return [path, forbid](Trial*) -> std::string {
    Put(path, kOldFile);
    RecordedWork work;
    Profiler profiler;
    if (!profiler.Start().ok()) return "no start";
    work.Work();
    if (!profiler.Stop().ok()) return "no stop";
    if (forbid && !forbid()) return "it could not be forbidden";
    const Status saved = profiler.Save(path);
    if (saved.ok()) return "there was room";
    if (saved.error().code != ErrorCode::kIo) return "error of a wrong kind: " + saved.error().message;
    if (saved.error().message.find(path) == std::string::npos) return "no path: " + saved.error().message;
    if (ReadText(path) != kOldFile) return "the old file is gone";
    return NamesIn(FolderOf(path)).size() == 1 ? "" : "something is left over";
  };
}

Job Dumping(std::string path) {
  return [path](Trial* trial) -> std::string {
    Put(path, kOldFile);
    RecordedWork work;
    Profiler profiler({.at_cap = opscope::AtCap::kKeepNewest});
    if (!profiler.Start().ok()) return "no start";
    work.Work();
    trial->Begin();
    Result<std::string> dumped = profiler.Dump(path);
    trial->End();
    work.Work();
    if (!profiler.Stop().ok()) return "no stop";
    const Status status = dumped.ok() ? Status() : Status(dumped.error());
    if (std::string wrong = WrongWithCounts(profiler.recorded(), profiler.dropped(), work); !wrong.empty())
      return wrong;
    return WrongWithFile(*trial, status, path);
  };
}

void MakeRecording(const std::string& path) {
  const std::string wrong = RunApart([&](Trial*) -> std::string {
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
    if (!trace->ok()) return WrongWithError(*trial, trace->error(), path);
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
    return WrongWithFile(*trial, exported, path);
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
