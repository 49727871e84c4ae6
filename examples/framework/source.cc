// The source for the framework "toynet": it records the operators between their begin and end into all open windows.
// This is all the C++ code that support of a framework needs; opscope_toynet.py shows how it is built, found and used.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/source.h"

#include <iterator>

#include "opscope/recorder.h"
#include "sources/streams/failures.h"
#include "sources/streams/stream_of.h"
#include "toynet.h"

namespace opscope {
namespace {

constexpr uint32_t kInner = 1;
constexpr SourceFlag kFlags[] = {{"inner", kInner}};

// One per running recording; reused, never freed. A thread may have read its pointer just before the recording stopped;
// the binding then tells it not to record.
struct Recorded {
  std::atomic<bool> is_taken{false};
  WindowBinding binding;
  uint32_t flags = 0;
  toynet_observer observer;
  int number = 0;
};
Recorded recorded[kMaxWindows];

// The hot path: no allocation, no lock, no system call.
void* Begin(void* context, const char* op, int depth) {
  const auto* self = static_cast<const Recorded*>(context);
  if (depth > 0 && (self->flags & kInner) == 0) return nullptr;
  Stream* stream = StreamOf(self->binding, [] { return uint64_t{0}; });
  if (stream == nullptr) return nullptr;
  // The caller owns the text. For names that are string literals, InternStable is faster: it compares addresses.
  const auto entries = [stream, op] { return ScopeEntries{InternText(stream, op), 0}; };
  return OpenScopeOn(stream, entries, RecordSource::kOther, 0);
}

void End(void* token) {
  if (token != nullptr) EndScope(static_cast<OpenScope*>(token), ReadTicks());
}

void Stop(void* session) {
  auto* self = static_cast<Recorded*>(session);
  self->binding.Unbind();
  toynet_remove_observer(self->number);
  self->is_taken.store(false, std::memory_order_release);
}

void* Start(const Source* /*self*/, Window* window, uint32_t flags, const char** error) {
  if (opscope_recorder_abi() != kRecorderAbi) {
    *error = "the recorder library in this process is of another version than the toynet source";
    return nullptr;
  }
  for (Recorded& one : recorded) {
    if (one.is_taken.exchange(true, std::memory_order_acquire)) continue;
    one.flags = flags;
    one.binding.Bind(opscope_window_slot(window), opscope_window_id(window));
    one.observer = {.begin = &Begin, .end = &End, .context = &one};
    one.number = toynet_add_observer(&one.observer);
    if (one.number != 0) return &one;
    one.binding.Unbind();
    one.is_taken.store(false, std::memory_order_release);
    *error = "toynet has no room for another observer";
    return nullptr;
  }
  *error = "all windows are open";
  return nullptr;
}

void Pause(void* session, bool paused) {
  static_cast<Recorded*>(session)->binding.Pause(paused);
}

constexpr Source kSource = {.flag_count = std::size(kFlags),
                            .name = "toynet",
                            .flags = kFlags,
                            .start = &Start,
                            .stop = &Stop,
                            .pause = &Pause,
                            .failures = &FailureCount};

}  // namespace
}  // namespace opscope

const opscope::Source* opscope_source() {
  return &opscope::kSource;
}
