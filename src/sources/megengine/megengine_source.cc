// MegEngine records by itself. When its window stops, TakeFrom finds its records in memory (bundle.h) and writes them
// into the recording's track (walk.h).
// SPDX-License-Identifier: Apache-2.0
#include "opscope/megengine_source.h"

#include <pthread.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/text.h"
#include "opscope/recorder.h"
#include "opscope/window_facts.h"
#include "sources/megengine/bundle.h"
#include "sources/megengine/walk.h"
#include "sources/streams/failures.h"
#include "sources/streams/window_fact.h"

namespace opscope {
namespace {

using megengine::FindBundle;
using megengine::FoundBundle;
using megengine::OwnMemory;
using megengine::RecordWriter;
using megengine::Walk;

// A recording that takes records.
struct Session {
  Window* window = nullptr;
  Stream* track = nullptr;
  pid_t process = 0;
  OwnMemory memory;
  std::unique_ptr<RecordWriter> writer;
  std::unique_ptr<Walk> walk;
};

// Guards the state of this source. Never destroyed: Python may end before a recording does.
constinit Mutex lock;
Session* running OPSCOPE_GUARDED_BY(lock) = nullptr;
uint64_t last_taken OPSCOPE_GUARDED_BY(lock) = 0;

const char* Begin(Window* window, std::unique_ptr<Session>* begun) {
  const TrackOptions options{.name = "megengine", .end = TrackEnd::kAtRead};
  auto session = std::make_unique<Session>();
  session->window = window;
  session->process = getpid();
  session->track = opscope_track_open(window, &options);
  if (session->track == nullptr) return "out of memory";
  session->writer = std::make_unique<RecordWriter>(session->track);
  session->walk = std::make_unique<Walk>(session->writer.get(), &session->memory);
  *begun = std::move(session);
  return nullptr;
}

void* Start(const Source* /*self*/, Window* window, uint32_t /*flags*/, const char** error) {
  const char* unused = nullptr;
  if (error == nullptr) error = &unused;
  if (opscope_recorder_abi() != kRecorderAbi) {
    *error = "the recorder library in this process is of another version than the MegEngine source";
    return nullptr;
  }
  const MutexLock guard(lock);
  if (running != nullptr && running->process == getpid()) {
    *error = "another recording takes MegEngine's records, which one alone can have";
    return nullptr;
  }
  try {
    std::unique_ptr<Session> session;
    *error = Begin(window, &session);
    if (*error != nullptr) return nullptr;
    last_taken = 0;
    return running = session.release();
  } catch (...) {
    *error = "out of memory";
    return nullptr;
  }
}

void Stop(void* opaque) {
  const MutexLock guard(lock);
  std::unique_ptr<Session> session(static_cast<Session*>(opaque));
  if (running == session.get()) running = nullptr;
  if (session->process != getpid()) return;
  try {
    const uint64_t unknown = session->walk->unknown();
    if (unknown > 0) AddWindowFact(session->window, kPartsLeftOutKey, std::to_string(unknown));
  } catch (...) {
    CountFailure();
  }
  opscope_track_close(session->track);
}

Status TakeFrom(const void* function_record) OPSCOPE_REQUIRES(lock) {
  if (running == nullptr || running->process != getpid()) {
    return Error{ErrorCode::kInvalidArgument, "no recording of MegEngine runs in this process"};
  }
  const Result<FoundBundle> found = FindBundle(function_record, &running->memory);
  if (!found.ok()) return found.error();
  const uint64_t failed = running->walk->failed();
  Status taken = running->walk->Take(found.value());
  for (uint64_t i = failed; i < running->walk->failed(); ++i)
    CountFailure();
  last_taken = running->writer->written();
  return taken;
}

bool Take(const void* function_record, char* error, size_t size) {
  const MutexLock guard(lock);
  try {
    const Status taken = TakeFrom(function_record);
    if (taken.ok()) return true;
    CopyText(taken.error().message, error, size);
  } catch (...) {
    CountFailure();
    CopyText("out of memory, or MegEngine raised an error", error, size);
  }
  return false;
}

void Free(const void* function_record) {
  const MutexLock guard(lock);
  try {
    OwnMemory memory;
    FreeBundle(function_record, &memory);
  } catch (...) {
    CountFailure();
  }
}

uint64_t Taken() {
  const MutexLock guard(lock);
  return last_taken;
}

// A fork waits for a running Take, so that the lock is free in the child. The recording belongs to the parent.
__attribute__((constructor)) void WatchForksOfMegEngine() {
  pthread_atfork([]() OPSCOPE_UNCHECKED_LOCKS { lock.lock(); }, []() OPSCOPE_UNCHECKED_LOCKS { lock.unlock(); },
                 []() OPSCOPE_UNCHECKED_LOCKS {
                   running = nullptr;
                   lock.unlock();
                 });
}

constexpr MegEngineSource kSource = {
    .source = {.name = "megengine", .start = &Start, .stop = &Stop, .failures = &FailureCount},
    .take = &Take,
    .free = &Free,
    .taken = &Taken};

}  // namespace
}  // namespace opscope

const opscope::MegEngineSource* opscope_megengine_source() {
  return &opscope::kSource;
}
const opscope::Source* opscope_source() {
  return &opscope::kSource.source;
}
