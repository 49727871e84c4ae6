// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "flight/save.h"
#include "opscope/record_to.h"
#include "opscope/session.h"
#include "opscope/window_facts.h"
#include "session/shared.h"

namespace opscope {
namespace {

void AppendMember(std::string_view members, std::string* out) {
  if (members.empty()) return;
  if (!out->empty()) out->push_back(',');
  out->append(members);
}

std::string JsonMember(std::string_view key, std::string_view json) {
  std::string member;
  AppendJsonString(&member, key);
  return member.append(":").append(json);
}

Error NoRoom(const char* sentence, const char* otherwise) {
  return {ErrorCode::kUnsupported, sentence != nullptr ? sentence : otherwise};
}

}  // namespace

Recording::~Recording() {
  if (is_in_child()) return;  // the memory is the parent's copy; the recorder's locks may be held for ever
  if (state_ == State::kRunning) StopLocked();
  FreeWindow();
}

// Asked before the mutex: at the time of the fork another thread may have held it.
bool Recording::is_in_child() const {
  const pid_t process = process_.load(std::memory_order_relaxed);
  return process != 0 && process != getpid();
}

Status Recording::Start() {
  if (is_in_child()) return OfTheParent();
  const std::lock_guard lock(mutex_);
  if (state_ != State::kNew) return Error{ErrorCode::kInvalidArgument, "the recording was already started"};
  if (shared_ != nullptr) OPSCOPE_TRY(shared_->StartFlight());
  std::string metadata = options_.metadata_json;
  AppendMember(metadata_, &metadata);
  WindowOptions window_options;
  window_options.at_cap = options_.at_cap;
  window_options.native_threads = options_.native_threads;
  window_options.max_bytes = options_.max_bytes;
  window_options.record_to = options_.record_to.empty() ? nullptr : options_.record_to.c_str();
  window_options.metadata_json = metadata.empty() ? nullptr : metadata.c_str();
  std::vector<const char*> own_costs;  // asked before the window opens: measuring opens one of its own
  for (const SourceUse& use : options_.sources) {
    if (use.source->abi != kSourceAbi) {
      return Error{ErrorCode::kUnsupported, "a source belongs to another version of opscope"};
    }
    own_costs.push_back(use.source->own_cost != nullptr ? use.source->own_cost(use.flags) : "");
    if (window_options.thread_number == nullptr) window_options.thread_number = use.source->thread_number;
  }
  const char* error = nullptr;
  window_ = opscope_window_open(&window_options, &error);
  if (window_ == nullptr) return NoRoom(error, "the recorder could not open a window");
  if (Status started = StartSources(own_costs); !started.ok()) {
    StopSources();
    DeliverSources();
    opscope_window_free(std::exchange(window_, nullptr));
    return started;
  }
  process_.store(getpid(), std::memory_order_relaxed);
  state_ = State::kRunning;
  if (shared_ != nullptr) {
    shared_->flight.Watch(window_);
    shared_->recordings.fetch_add(1);
  }
  return {};
}

Status Recording::StartSources(const std::vector<const char*>& own_costs) {
  started_.reserve(options_.sources.size());
  for (size_t i = 0; i < options_.sources.size(); ++i) {
    const SourceUse& use = options_.sources[i];
    if (own_costs[i] != nullptr && *own_costs[i] != '\0') opscope_window_add_own_cost(window_, own_costs[i]);
    const uint64_t failures = use.source->failures != nullptr ? use.source->failures() : 0;
    const char* error = nullptr;
    void* session = use.source->start(use.source, window_, use.flags, &error);
    if (session == nullptr) return NoRoom(error, "a source could not start");
    started_.push_back({use, session, failures});
  }
  return {};
}

// What they have lost is counted. A source counts for the whole process: a failure while two recordings run is told by
// both.
void Recording::StopSources() {
  delivering_.reserve(started_.size());
  for (; !started_.empty(); started_.pop_back()) {
    const Started& last = started_.back();
    last.use.source->stop(last.session);
    if (last.use.source->deliver != nullptr) {
      delivering_.push_back(last);
    } else if (last.use.source->failures != nullptr) {
      failures_ += last.use.source->failures() - last.failures;
    }
  }
}

// Before the window is first read, or freed.
void Recording::DeliverSources() {
  for (const Started& each : std::exchange(delivering_, {})) {
    each.use.source->deliver(each.session);
    if (each.use.source->failures != nullptr) failures_ += each.use.source->failures() - each.failures;
  }
  if (failures_ != 0) {
    const std::string failures = std::to_string(std::exchange(failures_, 0));
    opscope_window_add_metadata(window_, JsonMember(kSourceFailuresKey, failures).c_str());
  }
}

void Recording::Stop() {
  if (is_in_child()) return;
  const std::lock_guard lock(mutex_);
  if (state_ != State::kRunning) return;
  StopLocked();
  if (shared_ != nullptr && !shared_->is_started()) shared_->StopFlight();
}

void Recording::StopLocked() {
  if (shared_ != nullptr) shared_->flight.Leave();
  StopSources();
  // The close ends the file of record_to, which has all of the recording then.
  if (delivering_.empty() || !options_.record_to.empty()) DeliverSources();
  opscope_window_close(window_);
  state_ = State::kStopped;
}

void Recording::Pause(bool paused) {
  if (is_in_child()) return;
  const std::lock_guard lock(mutex_);
  for (const Started& each : started_) {
    if (each.use.source->pause != nullptr) each.use.source->pause(each.session, paused);
  }
}

void Recording::FreeWindow() {
  if (window_ == nullptr) return;
  DeliverSources();
  final_counts_ = opscope_window_counts(window_);
  if (shared_ != nullptr) shared_->flight.Release(window_);
  opscope_window_free(std::exchange(window_, nullptr));
}

std::string Recording::FileWarning() const {
  if (is_in_child() || options_.record_to.empty()) return {};
  const std::lock_guard lock(mutex_);
  if (window_ == nullptr) return {};
  const WindowFile file = opscope_window_file(window_);
  const bool is_told_now = (file.bytes == 0) == (state_ == State::kRunning);
  return file.error != 0 && is_told_now ? opscope::FileWarning(options_.record_to, file) : std::string();
}

bool Recording::is_running() const {
  if (is_in_child()) return false;
  const std::lock_guard lock(mutex_);
  return state_ == State::kRunning;
}

bool Recording::is_over() const {
  if (is_in_child()) return true;
  const std::lock_guard lock(mutex_);
  return state_ == State::kStopped || state_ == State::kRead;
}

WindowCounts Recording::counts() const {
  if (is_in_child()) return {};
  const std::lock_guard lock(mutex_);
  return window_ != nullptr ? opscope_window_counts(window_) : final_counts_;
}

bool Recording::AddMetadata(std::string_view key, std::string_view json) {
  if (is_in_child()) return false;
  const std::string member = JsonMember(key, json);
  const std::lock_guard lock(mutex_);
  if (state_ == State::kRead) return false;
  if (state_ == State::kNew) {
    AppendMember(member, &metadata_);
  } else if (window_ == nullptr) {
    return false;
  } else {
    opscope_window_add_metadata(window_, member.c_str());
  }
  return true;
}

Status Recording::Save(const std::string& path) {
  if (is_in_child()) return OfTheParent();
  const std::lock_guard lock(mutex_);
  OPSCOPE_TRY(RefuseUnlessStopped());
  if (window_ == nullptr) return Error{ErrorCode::kInvalidArgument, "the recording was already read"};
  DeliverSources();
  return SaveRecording(window_, path);
}

Status Recording::RefuseUnlessStopped() const {
  if (state_ == State::kNew) return Error{ErrorCode::kInvalidArgument, "the recording was not started"};
  if (state_ == State::kRunning) return Error{ErrorCode::kInvalidArgument, "the recording is still running"};
  return {};
}

uint32_t Recording::slot() const {
  if (is_in_child()) return 0;
  const std::lock_guard lock(mutex_);
  return state_ == State::kRunning ? opscope_window_slot(window_) : 0;
}

uint64_t Recording::generation() const {
  if (is_in_child()) return 0;
  const std::lock_guard lock(mutex_);
  return state_ == State::kRunning ? opscope_window_id(window_) : 0;
}

const Window* Recording::window() const {
  if (is_in_child()) return nullptr;
  const std::lock_guard lock(mutex_);
  return window_;
}

}  // namespace opscope
