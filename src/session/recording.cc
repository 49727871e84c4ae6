// The life cycle of a recording: new, running, stopped, read. The order of the steps is what matters here:
//
//   start    measure the overhead, open the window, start the sources in order, then show it to the flight recorder
//   stop     hide it from the flight recorder, stop the sources in reverse, close the window
//   deliver  sources hand over what they still hold, at the latest before the window is read;
//            with a mapped file before the close, because the close ends the file
//   free     after deliver; waits for a dump in progress
//
// A failed start undoes its steps in reverse, also when an allocation failed: what stopping needs is reserved before
// the window opens. In a forked child every function returns at once: the locks may be held by threads that do not
// exist there.
// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/catch_bad_alloc.h"
#include "base/json_members.h"
#include "base/json_object.h"
#include "base/metadata_keys.h"
#include "flight/save.h"
#include "opscope/process_identity.h"
#include "opscope/record_to.h"
#include "opscope/session.h"
#include "opscope/window_facts.h"
#include "session/recording_state.h"

namespace opscope {
namespace {

Error Unsupported(const char* message, const char* fallback) {
  return {ErrorCode::kUnsupported, message != nullptr ? message : fallback};
}

bool HasMember(const std::string& members, std::string_view key) {
  return members.find("\"" + std::string(key) + "\":") != std::string::npos;
}

// What is known of the process without its framework. Members that a front end gave are better and stay.
void AddProcessIdentity(const ProcessIdentity& identity, std::string* members) {
  if (!identity.host.empty() && !HasMember(*members, kHostKey)) {
    JsonMemberWriter(members).Text(kHostKey, identity.host);
  }
  if (identity.rank >= 0 && !HasMember(*members, kDistributedKey)) {
    std::string object;
    JsonObject info(&object);
    info.Int("rank", identity.rank);
    if (identity.world_size > 0) info.Uint("world_size", identity.world_size);
    info.Close();
    JsonMemberWriter(members).Json(kDistributedKey, object);
  }
  if (identity.attempt >= 0) JsonMemberWriter(members).Int(kAttemptKey, identity.attempt);
  if (identity.wall_error_ns >= 0) JsonMemberWriter(members).Int(kWallErrorKey, identity.wall_error_ns);
}

}  // namespace

Recording::Recording(RecordingOptions options) : state_(std::make_unique<State>(std::move(options))) {
}

Recording::~Recording() {
  if (state_->is_in_child()) return;  // the memory is the parent's copy; the recorder's locks may be held for ever
  Stop();
  const MutexLock lock(state_->mutex);
  state_->FreeWindow();
}

bool Recording::is_inherited() const {
  return state_->is_in_child();
}

bool Recording::has_earlier() const {
  return !state_->earlier.empty();
}

Status Recording::Start() {
  if (state_->is_in_child()) return ParentProcessError();
  const MutexLock lock(state_->mutex);
  const bool is_new = state_->phase == State::Phase::kNew;
  Status started = CatchBadAlloc("the recording", [this] {
    state_->mutex.AssertHeld();
    return state_->Start();
  });
  // Without a started session the flight recorder runs only while a recording does.
  const std::shared_ptr<Shared>& shared = state_->shared;
  if (!started.ok() && is_new && shared != nullptr && !shared->is_started()) shared->StopFlight();
  return started;
}

Status Recording::State::Start() {
  if (phase != Phase::kNew) return Error{ErrorCode::kInvalidArgument, "the recording was already started"};
  OPSCOPE_TRY(CheckMetadataJson(options.metadata_json));
  if (shared != nullptr) OPSCOPE_TRY(shared->StartFlight());
  std::string members = options.metadata_json;
  JsonMemberWriter(&members).Members(metadata);
  AddProcessIdentity(FindProcessIdentity(), &members);
  WindowOptions window_options;
  window_options.at_cap = options.at_cap;
  window_options.native_threads = options.native_threads;
  window_options.max_bytes = options.max_bytes;
  window_options.record_to = options.record_to.empty() ? nullptr : options.record_to.c_str();
  window_options.metadata_json = members.empty() ? nullptr : members.c_str();
  std::vector<const char*> overheads;  // asked before the window opens: measuring opens one of its own
  for (const SourceUse& use : options.sources) {
    if (use.source->abi != kSourceAbi) {
      return Error{ErrorCode::kUnsupported, "a source belongs to another version of opscope"};
    }
    overheads.push_back(use.source->overhead != nullptr ? use.source->overhead(use.flags) : "");
    if (window_options.thread_number == nullptr) window_options.thread_number = use.source->thread_number;
  }
  started.reserve(options.sources.size());
  delivering.reserve(options.sources.size());
  const char* error = nullptr;
  window = opscope_window_open(&window_options, &error);
  if (window == nullptr) return Unsupported(error, "the recorder could not open a window");
  Status status = CatchBadAlloc("the recording", [&] {
    mutex.AssertHeld();
    return StartSources(overheads);
  });
  if (!status.ok()) {
    StopSources();
    DeliverSources();
    opscope_window_free(std::exchange(window, nullptr));
    return status;
  }
  process.store(getpid(), std::memory_order_relaxed);
  phase = Phase::kRunning;
  if (shared != nullptr) {
    shared->flight.Watch(window);
    shared->recordings.fetch_add(1);
  }
  return {};
}

Status Recording::State::StartSources(const std::vector<const char*>& overheads) {
  for (size_t i = 0; i < options.sources.size(); ++i) {
    const SourceUse& use = options.sources[i];
    if (overheads[i] != nullptr && *overheads[i] != '\0') opscope_window_add_overheads(window, overheads[i]);
    const uint64_t before = use.source->failures != nullptr ? use.source->failures() : 0;
    const char* error = nullptr;
    void* session = use.source->start(use.source, window, use.flags, &error);
    if (session == nullptr) return Unsupported(error, "a source could not start");
    started.push_back({use, session, before});
  }
  return {};
}

// Counts what the sources have lost. A source counts for the whole process, so two simultaneous recordings both
// report a failure.
void Recording::State::StopSources() {
  for (; !started.empty(); started.pop_back()) {
    const Started& last = started.back();
    last.use.source->stop(last.session);
    if (last.use.source->deliver != nullptr) {
      delivering.push_back(last);
    } else if (last.use.source->failures != nullptr) {
      failures += last.use.source->failures() - last.failures;
    }
  }
}

// Before the window is first read, or freed.
void Recording::State::DeliverSources() {
  for (const Started& each : std::exchange(delivering, {})) {
    each.use.source->deliver(each.session);
    if (each.use.source->failures != nullptr) failures += each.use.source->failures() - each.failures;
  }
  if (failures != 0) {
    char member[80];  // no std::string: a destructor calls this
    std::snprintf(member, sizeof(member), "\"%.*s\":%" PRIu64, static_cast<int>(kSourceFailuresKey.size()),
                  kSourceFailuresKey.data(), std::exchange(failures, 0));
    opscope_window_add_metadata(window, member);
  }
}

void Recording::Stop() {
  if (state_->is_in_child()) return;
  const MutexLock lock(state_->mutex);
  if (state_->phase != State::Phase::kRunning) return;
  state_->Stop();
  if (state_->shared != nullptr && !state_->shared->is_started()) state_->shared->StopFlight();
}

void Recording::State::Stop() {
  if (shared != nullptr) shared->flight.Unwatch();
  StopSources();
  // The close ends the file of record_to, which has all of the recording then.
  if (delivering.empty() || !options.record_to.empty()) DeliverSources();
  opscope_window_close(window);
  phase = Phase::kStopped;
}

void Recording::Pause(bool paused, std::string_view source) {
  if (state_->is_in_child()) return;
  const MutexLock lock(state_->mutex);
  for (const State::Started& each : state_->started) {
    const bool is_meant = source.empty() || source == each.use.source->name;
    if (is_meant && each.use.source->pause != nullptr) each.use.source->pause(each.session, paused);
  }
}

void Recording::State::FreeWindow() {
  if (window == nullptr) return;
  DeliverSources();
  final_counts = opscope_window_counts(window);
  if (shared != nullptr) shared->flight.Release(window);
  opscope_window_free(std::exchange(window, nullptr));
}

std::string Recording::FileWarning() const {
  if (state_->is_in_child() || state_->options.record_to.empty()) return {};
  const MutexLock lock(state_->mutex);
  if (state_->window == nullptr) return {};
  const WindowFile file = opscope_window_file(state_->window);
  const bool is_due = (file.bytes == 0) == (state_->phase == State::Phase::kRunning);
  return file.error != 0 && is_due ? opscope::FileWarning(state_->options.record_to, file) : std::string();
}

bool Recording::is_running() const {
  if (state_->is_in_child()) return false;
  const MutexLock lock(state_->mutex);
  return state_->phase == State::Phase::kRunning;
}

bool Recording::is_over() const {
  if (state_->is_in_child()) return true;
  const MutexLock lock(state_->mutex);
  return state_->phase == State::Phase::kStopped || state_->phase == State::Phase::kRead;
}

WindowCounts Recording::counts() const {
  if (state_->is_in_child()) return {};
  const MutexLock lock(state_->mutex);
  return state_->window != nullptr ? opscope_window_counts(state_->window) : state_->final_counts;
}

bool Recording::AddMetadata(std::string_view key, std::string_view json) {
  if (state_->is_in_child() || !IsJsonValue(json)) return false;
  std::string member;
  JsonMemberWriter(&member).EscapedKey(key).append(json);
  const MutexLock lock(state_->mutex);
  if (state_->phase == State::Phase::kRead) return false;
  if (state_->phase == State::Phase::kNew) {
    JsonMemberWriter(&state_->metadata).Members(member);
  } else if (state_->window == nullptr) {
    return false;
  } else {
    opscope_window_add_metadata(state_->window, member.c_str());
  }
  return true;
}

Status Recording::Save(const std::string& path) {
  if (state_->is_in_child()) return ParentProcessError();
  return CatchBadAlloc(path, [&]() -> Status {
    const MutexLock lock(state_->mutex);
    OPSCOPE_TRY(state_->CheckStopped());
    if (state_->window == nullptr) return Error{ErrorCode::kInvalidArgument, "the recording was already read"};
    state_->DeliverSources();
    return SaveRecording(state_->window, path);
  });
}

Status Recording::State::CheckStopped() const {
  if (phase == Phase::kNew) return Error{ErrorCode::kInvalidArgument, "the recording was not started"};
  if (phase == Phase::kRunning) return Error{ErrorCode::kInvalidArgument, "the recording is still running"};
  return {};
}

uint32_t Recording::slot() const {
  if (state_->is_in_child()) return 0;
  const MutexLock lock(state_->mutex);
  return state_->phase == State::Phase::kRunning ? opscope_window_slot(state_->window) : 0;
}

uint64_t Recording::generation() const {
  if (state_->is_in_child()) return 0;
  const MutexLock lock(state_->mutex);
  return state_->phase == State::Phase::kRunning ? opscope_window_id(state_->window) : 0;
}

const Window* Recording::window() const {
  if (state_->is_in_child()) return nullptr;
  const MutexLock lock(state_->mutex);
  return state_->window;
}

}  // namespace opscope
