// Jobs that record, save and dump.
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <unistd.h>

#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "claims.h"
#include "jobs.h"
#include "opscope/import.h"
#include "opscope/profiler.h"
#include "opscope/record_to.h"

namespace faults {
namespace {

using opscope::ErrorCode;
using opscope::Profiler;
using opscope::Result;
using opscope::Status;
using opscope::Trace;

constexpr int kMoreThanIsReady = 10;
constexpr int kManyThreads = 100;
constexpr int kEventsOfAThread = 1000;

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
    if (!started.ok()) return CheckError(*trial, started.error(), "profiler");
    if (!stopped.ok()) return CheckError(*trial, stopped.error(), "profiler");
    return CheckCounts(profiler->recorded(), profiler->dropped(), work);
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
    if (!stopped.ok()) return CheckError(*trial, stopped.error(), "profiler");
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
      return CheckError(*trial, wrong.error(), "profiler");
    }
    if (ready != 2) return "ready " + std::to_string(ready) + " times";
    // The first of both may have been saved before the second one failed.
    if (!saved.ok() && ReadText(path) != kOldFile) Put(path, kOldFile);
    return CheckFile(*trial, saved, path);
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
    if (!started.ok()) return CheckError(*trial, started.error(), "");
    if (!stopped.ok()) return CheckError(*trial, stopped.error(), "");
    if (std::string wrong = CheckCounts(profiler->recorded(), profiler->dropped(), work); !wrong.empty()) return wrong;
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
    return CheckFile(*trial, saved, path);
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
    if (std::string wrong = CheckCounts(profiler.recorded(), profiler.dropped(), work); !wrong.empty()) return wrong;
    return CheckFile(*trial, status, path);
  };
}

}  // namespace faults
