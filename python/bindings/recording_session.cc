// SPDX-License-Identifier: Apache-2.0
#include "recording_session.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "opscope/import.h"
#include "opscope/record_to.h"

namespace opscope::python {
namespace {

void AppendMember(std::string_view members, std::string* out) {
  if (members.empty()) return;
  if (!out->empty()) out->push_back(',');
  out->append(members);
}

// Keys are chosen by users: any text. Bytes above 0x7f pass, the recording keeps bytes.
std::string JsonText(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      escaped.push_back('\\');
      escaped.push_back(c);
    } else if (byte < 0x20) {
      escaped.append("\\u00");
      escaped.push_back(kHex[byte >> 4]);
      escaped.push_back(kHex[byte & 15]);
    } else {
      escaped.push_back(c);
    }
  }
  return escaped;
}

std::string JsonMember(std::string_view key, std::string_view json) {
  return "\"" + JsonText(key) + "\":" + std::string(json);
}

}  // namespace

RecordingSession::~RecordingSession() {
  if (is_in_child()) return;  // the memory is the parent's copy; the recorder's locks may be held for ever
  if (state_ == State::kRunning) StopLocked();
  FreeWindow();
}

// Asked before the mutex: at the time of the fork another thread may have held it.
bool RecordingSession::is_in_child() const {
  return process_ != 0 && process_ != getpid();
}

Status RecordingSession::Start() {
  if (is_in_child()) return Error{ErrorCode::kInvalidArgument, "the recording belongs to the parent process"};
  const std::lock_guard lock(mutex_);
  if (state_ != State::kNew) return Error{ErrorCode::kInvalidArgument, "the recording was already started"};
  std::string metadata = options_.metadata_json;
  AppendMember(metadata_, &metadata);
  WindowOptions window_options;
  window_options.at_cap = options_.at_cap;
  window_options.native_threads = options_.native_threads;
  window_options.max_bytes = options_.max_bytes;
  window_options.record_to = options_.record_to.empty() ? nullptr : options_.record_to.c_str();
  if (options_.source != nullptr) window_options.thread_number = options_.source->current_thread;
  window_options.metadata_json = metadata.empty() ? nullptr : metadata.c_str();
  const char* error = nullptr;
  // Before the window opens: measuring opens one of its own.
  const char* own_cost = options_.source != nullptr ? options_.source->own_cost(options_.source_flags) : nullptr;
  Window* window = opscope_window_open(&window_options, &error);
  if (window == nullptr) {
    return Error{ErrorCode::kUnsupported, error != nullptr ? error : "the recorder could not open a window"};
  }
  if (options_.source != nullptr) {
    source_failures_ = options_.source->failures();
    opscope_window_add_own_cost(window, own_cost);
    source_session_ =
        options_.source->start(opscope_window_slot(window), opscope_window_id(window), options_.source_flags, &error);
    if (source_session_ == nullptr) {
      opscope_window_free(window);
      return Error{ErrorCode::kUnsupported, error != nullptr ? error : "the torch source could not start"};
    }
    const char* why_callbacks = options_.source->why_callbacks(source_session_);
    const std::string route = why_callbacks != nullptr ? "callbacks: " + JsonText(why_callbacks) : "drop-in functions";
    opscope_window_add_metadata(window, JsonMember(kTorchRouteKey, "\"" + route + "\"").c_str());
  }
  window_ = window;
  process_.store(getpid(), std::memory_order_relaxed);
  state_ = State::kRunning;
  if (options_.flight != nullptr) options_.flight->Watch(window);
  return {};
}

void RecordingSession::Stop(bool links_forward_to_backward) {
  if (is_in_child()) return;
  const std::lock_guard lock(mutex_);
  if (state_ != State::kRunning) return;
  links_forward_to_backward_ = links_forward_to_backward;
  StopLocked();
}

void RecordingSession::Pause(bool paused) {
  if (is_in_child()) return;
  const std::lock_guard lock(mutex_);
  if (source_session_ != nullptr) options_.source->pause(source_session_, paused);
}

void RecordingSession::FreeWindow() {
  if (window_ == nullptr) return;
  if (options_.flight != nullptr) options_.flight->Release(window_);
  opscope_window_free(window_);
  window_ = nullptr;
}

void RecordingSession::StopLocked() {
  if (options_.flight != nullptr) options_.flight->Leave();
  if (source_session_ != nullptr) options_.source->stop(source_session_);
  source_session_ = nullptr;
  ReportOperators();
  ReportSourceFailures();  // both before the close, which ends the file of record_to
  ReportTorchFacts();
  opscope_window_close(window_);
  final_counts_ = opscope_window_counts(window_);
  state_ = State::kStopped;
}

// The numbers of torch's events go on over the recordings of a process, as torch's do. The source has stopped.
void RecordingSession::ReportTorchFacts() {
  static std::atomic<uint32_t> next_id{1};
  if (options_.source == nullptr) return;
  const auto recorded = static_cast<uint32_t>(opscope_window_counts(window_).recorded);
  uint32_t first = next_id.fetch_add(recorded, std::memory_order_relaxed);
  if (first == 0 || first + recorded < first) {  // 32 bits are used up: they begin anew
    first = 1;
    next_id.store(1 + recorded, std::memory_order_relaxed);
  }
  opscope_window_add_metadata(window_, JsonMember(kFirstEventIdKey, std::to_string(first)).c_str());
  if (!links_forward_to_backward_) {
    opscope_window_add_metadata(window_, JsonMember(kForwardBackwardKey, "false").c_str());
  }
}

// The source counts for the whole process: a failure while two recordings are open is told by both.
void RecordingSession::ReportSourceFailures() {
  if (options_.source == nullptr) return;
  const uint64_t failures = options_.source->failures() - source_failures_;
  if (failures == 0) return;
  const std::string member = JsonMember(kSourceFailuresKey, std::to_string(failures));
  opscope_window_add_metadata(window_, member.c_str());
}

void RecordingSession::ReportOperators() {
  if (options_.source == nullptr || (options_.source_flags & torch_source_flags::kTensors) == 0) return;
  options_.source->operators(
      [](void* window, const char* text, size_t size) {
        const std::string member = JsonMember(kOperatorsKey, "\"" + std::string(text, size) + "\"");
        opscope_window_add_metadata(static_cast<Window*>(window), member.c_str());
      },
      window_);
}

std::string RecordingSession::FileWarning() const {
  if (is_in_child() || options_.record_to.empty()) return {};
  const std::lock_guard lock(mutex_);
  if (window_ == nullptr) return {};
  const WindowFile file = opscope_window_file(window_);
  const bool is_told_now = (file.bytes == 0) == (state_ == State::kRunning);
  return file.error != 0 && is_told_now ? opscope::FileWarning(options_.record_to, file) : std::string();
}

bool RecordingSession::is_running() const {
  if (is_in_child()) return false;
  const std::lock_guard lock(mutex_);
  return state_ == State::kRunning;
}

WindowCounts RecordingSession::counts() const {
  if (is_in_child()) return {};
  const std::lock_guard lock(mutex_);
  return state_ == State::kRunning ? opscope_window_counts(window_) : final_counts_;
}

bool RecordingSession::AddMetadata(std::string_view key, std::string_view json) {
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

bool RecordingSession::AddOwnCost(const std::string& members_json) {
  if (is_in_child()) return false;
  const std::lock_guard lock(mutex_);
  if (state_ != State::kRunning) return false;
  opscope_window_add_own_cost(window_, members_json.c_str());
  return true;
}

Result<std::shared_ptr<const Trace>> RecordingSession::ReadTrace() {
  if (is_in_child() && is_imported_.load(std::memory_order_acquire)) return *trace_;
  if (is_in_child()) return Error{ErrorCode::kInvalidArgument, "the recording belongs to the parent process"};
  const std::lock_guard lock(mutex_);
  if (const Status refused = RefuseUnlessStopped(); !refused.ok()) return refused.error();
  if (!trace_) {
    trace_ = kept_ != nullptr ? ImportKept({&kept_, 1}) : ImportWindow();
    FreeWindow();
    state_ = State::kRead;
    is_imported_.store(true, std::memory_order_release);
  }
  return *trace_;
}

Status RecordingSession::RefuseUnlessStopped() const {
  if (state_ == State::kNew) return Error{ErrorCode::kInvalidArgument, "the recording was not started"};
  if (state_ == State::kRunning) return Error{ErrorCode::kInvalidArgument, "the recording is still running"};
  return {};
}

Result<SharedRecording> RecordingSession::Keep() {
  if (is_in_child()) return Error{ErrorCode::kInvalidArgument, "the recording belongs to the parent process"};
  const std::lock_guard lock(mutex_);
  if (kept_ != nullptr) return kept_;
  if (const Status refused = RefuseUnlessStopped(); !refused.ok()) return refused.error();
  if (state_ == State::kRead) return Error{ErrorCode::kInvalidArgument, "the recording was already read"};
  Result<SharedRecording> kept = KeepWindow(window_);
  if (!kept.ok()) return kept;
  kept_ = kept.value();
  FreeWindow();
  return kept_;
}

Result<std::shared_ptr<const Trace>> RecordingSession::ImportWindow() {
  std::vector<RecordingBlock> blocks;
  opscope_window_read(
      window_,
      [](void* context, uint16_t type, const void* data, uint64_t bytes) {
        static_cast<std::vector<RecordingBlock>*>(context)->push_back(
            {type, {static_cast<const std::byte*>(data), static_cast<size_t>(bytes)}});
      },
      &blocks);
  if (blocks.empty()) return Error{ErrorCode::kOutOfMemory, "memory is short"};
  Result<Trace> trace = ImportRecording(blocks);
  if (!trace.ok()) return trace.error();
  return std::shared_ptr<const Trace>(std::make_shared<Trace>(std::move(trace).value()));
}

uint32_t RecordingSession::slot() const {
  if (is_in_child()) return 0;
  const std::lock_guard lock(mutex_);
  return state_ == State::kRunning ? opscope_window_slot(window_) : 0;
}

uint64_t RecordingSession::generation() const {
  if (is_in_child()) return 0;
  const std::lock_guard lock(mutex_);
  return state_ == State::kRunning ? opscope_window_id(window_) : 0;
}

}  // namespace opscope::python
