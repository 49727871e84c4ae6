// Start chooses the mode (capture_mode.h), patches or starts what the mode needs, and binds the window for the hooks;
// Stop undoes it. What the mode cannot record is added to the recording's facts.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/paddle_source.h"

#include <unistd.h>

#include <array>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/text.h"
#include "opscope/window_facts.h"
#include "sources/got/got_entries.h"
#include "sources/paddle/append_thread.h"
#include "sources/paddle/arguments.h"
#include "sources/paddle/capture_mode.h"
#include "sources/paddle/drain.h"
#include "sources/paddle/fallback_recorders.h"
#include "sources/paddle/hooks.h"
#include "sources/paddle/memory_events.h"
#include "sources/paddle/overhead.h"
#include "sources/paddle/paddle_library.h"
#include "sources/paddle/probe.h"
#include "sources/paddle/ranges.h"
#include "sources/paddle/user_range.h"
#include "sources/streams/failures.h"
#include "sources/streams/window_fact.h"

namespace opscope {

constinit RecordedWindows recorded;

namespace {

// By slot of the recorder, which belongs to the window until the window is closed.
struct OpenSession {
  Window* window = nullptr;
  pid_t process = 0;
  PaddleMode mode = PaddleMode::kNone;
};
std::array<OpenSession, kMaxWindows>& sessions = *new std::array<OpenSession, kMaxWindows>;

// For the modes without hooks: appends to the text what the mode does not record, and returns the parts that this
// library records itself.
uint32_t PartsBeside(uint32_t flags, PaddleMode mode, std::string* mode_text) {
  const bool shapes = (flags & paddle_source_flags::kShapes) != 0, memory = (flags & paddle_source_flags::kMemory) != 0;
  if (mode == PaddleMode::kDrain && flags != 0) mode_text->append("; without arguments and memory");
  if (mode == PaddleMode::kNative) {
    mode_text->append("; without ranges that are open at the end");
    if (shapes) mode_text->append("; without arguments");
  }
  if (mode != PaddleMode::kWrappers) return 0;
  mode_text->append("; without operators that Python does not call, and what is inside of them");
  if (memory) mode_text->append("; without memory");
  return BitOf(PaddlePart::kHooks) | (shapes ? BitOf(PaddlePart::kShapes) : 0);
}

// The parts that the window wants and that fit; appends the others to the text.
uint32_t PartsFor(uint32_t flags, PaddleMode mode, std::string* mode_text) {
  if (mode != PaddleMode::kHooks) return PartsBeside(flags, mode, mode_text);
  uint32_t parts = BitOf(PaddlePart::kHooks);
  const auto add = [&](uint32_t flag, PaddlePart part, const char* what) {
    if ((flags & flag) == 0) return;
    const char* why = WhyNot(part);
    if (why == nullptr) {
      parts |= BitOf(part);
    } else {
      mode_text->append("; without ").append(what).append(": ").append(why);
    }
  };
  add(paddle_source_flags::kShapes, PaddlePart::kShapes, "shapes");
  if ((parts & BitOf(PaddlePart::kShapes)) != 0)
    add(paddle_source_flags::kShapes, PaddlePart::kAttributes, "attributes");
  add(paddle_source_flags::kMemory, PaddlePart::kMemory, "memory");
  return parts;
}

void SetRecorded(uint32_t slot, uint32_t parts) {
  const uint64_t bit = uint64_t{1} << slot;
  const auto set = [bit](std::atomic<uint64_t>* windows, bool wanted) {
    if (wanted) windows->fetch_or(bit);
    if (!wanted) windows->fetch_and(~bit);
  };
  set(&recorded.shapes, (parts & BitOf(PaddlePart::kShapes)) != 0);
  set(&recorded.memory, (parts & BitOf(PaddlePart::kMemory)) != 0);
  set(&recorded.events, (parts & BitOf(PaddlePart::kHooks)) != 0);
}

// Null: it records. One lock guards the GOT entries and their users, or a recording that ends meanwhile restores them.
const char* StartHooks(Window* window, uint32_t slot, uint32_t parts) {
  const MutexLock lock(GotLock());
  if (const char* refused = PatchEntries(parts)) return refused;
  SetTraceLevel(paddle.wanted_level != nullptr ? *paddle.wanted_level : 1);
  if ((parts & BitOf(PaddlePart::kAttributes)) != 0) SetAttributesWanted(true);
  recorded.bindings[slot].Bind(slot, opscope_window_id(window));
  SetRecorded(slot, parts);
  return nullptr;
}

void Unbind(uint32_t slot) {
  recorded.bindings[slot].Unbind();
  SetRecorded(slot, 0);
}

constexpr PaddlePart PartOf(PaddleMode mode) {
  return mode == PaddleMode::kNative ? PaddlePart::kNative : PaddlePart::kWrappers;
}

// Null: it records.
const char* BeginByFallback(Window* window, uint32_t slot, uint32_t flags, PaddleMode mode, uint32_t parts) {
  if (mode == PaddleMode::kWrappers) {
    recorded.bindings[slot].Bind(slot, opscope_window_id(window));
    SetRecorded(slot, parts);
  }
  const char* refused = StartFallback(PartOf(mode), flags);
  if (refused != nullptr && mode == PaddleMode::kWrappers) Unbind(slot);
  return refused;
}

// Bytes of the CPU's allocator at the start, to which recorded blocks are added. Empty: no memory is recorded, or
// unknown.
std::string HostMemory(uint32_t flags, PaddleMode mode, uint32_t parts) {
  const bool by_native = mode == PaddleMode::kNative && (flags & paddle_source_flags::kMemory) != 0;
  if ((parts & BitOf(PaddlePart::kMemory)) == 0 && !by_native) return {};
  const MutexLock lock(GotLock());
  return FindPaddle(PaddlePart::kMemory) == nullptr ? HostMemoryJson() : std::string();
}

// Null: it records.
const char* BeginBy(PaddleMode mode, Window* window, uint32_t slot, uint32_t flags, uint32_t parts) {
  switch (mode) {
    case PaddleMode::kHooks:
      return StartHooks(window, slot, parts);
    case PaddleMode::kDrain:
      return StartDrain();
    case PaddleMode::kNative:
    case PaddleMode::kWrappers:
      return BeginByFallback(window, slot, flags, mode, parts);
    case PaddleMode::kNone:
      break;
  }
  const char* why = WhyNot(PaddlePart::kHooks);
  return why != nullptr ? why : "this Paddle cannot be recorded";
}

// Null: it records.
const char* Begin(Window* window, uint32_t slot, uint32_t flags) {
  PaddleMode mode = PaddleMode::kNone;
  std::string mode_text, memory;
  const auto begin = [&] {
    mode = ChooseMode();
    mode_text = ModeText(mode);
    const uint32_t parts = PartsFor(flags, mode, &mode_text);
    memory = HostMemory(flags, mode, parts);
    return BeginBy(mode, window, slot, flags, parts);
  };
  const char* refused = begin();
  // A failure to patch GOT entries forbids the hooks in this process, so the second attempt uses another mode.
  if (refused != nullptr && mode == PaddleMode::kHooks) refused = begin();
  if (refused != nullptr) return refused;
  if (mode_text.find("; without ") != std::string::npos) AddWindowFact(window, kPartsLeftOutKey, "1");
  std::string mode_json;
  AppendJsonString(&mode_json, mode_text);
  AddWindowFact(window, kPaddleCaptureModeKey, mode_json);
  if (!memory.empty()) AddWindowFact(window, kHostMemoryKey, memory);
  sessions[slot] = {window, getpid(), mode};
  return nullptr;
}

void* Start(const Source* /*self*/, Window* window, uint32_t flags, const char** error) {
  const char* unused = nullptr;
  if (error == nullptr) error = &unused;
  if (opscope_recorder_abi() != kRecorderAbi) {
    *error = "the recorder library in this process is of another version than the Paddle source";
    return nullptr;
  }
  const uint32_t slot = opscope_window_slot(window);
  try {
    *error = Begin(window, slot, flags);
  } catch (...) {
    CountFailure();
    *error = "out of memory, or Paddle raised an error";
  }
  return *error == nullptr ? &sessions[slot] : nullptr;
}

void Stop(void* opaque) {
  auto* session = static_cast<OpenSession*>(opaque);
  if (session->process != getpid()) return;
  const auto slot = static_cast<uint32_t>(session - sessions.data());
  if (session->mode == PaddleMode::kDrain) {
    StopDrain(session->window);
  } else if (session->mode == PaddleMode::kNative) {
    StopFallback(PaddlePart::kNative, session->window);
  } else {
    if (session->mode == PaddleMode::kWrappers) StopFallback(PaddlePart::kWrappers, session->window);
    const MutexLock lock(GotLock());
    Unbind(slot);
    if (recorded.events.load() == 0) RestoreEntries();
  }
  *session = {};
}

void Pause(void* opaque, bool paused) {
  auto* session = static_cast<OpenSession*>(opaque);
  if (session->process != getpid() || session->mode == PaddleMode::kDrain || session->mode == PaddleMode::kNative) {
    return;
  }
  recorded.bindings[static_cast<size_t>(session - sessions.data())].Pause(paused);
}

const char* ProbeAndStore(PaddlePart part) {
  try {
    const char* wrong = ProbePart(part);
    SetProbeResult(part, wrong != nullptr ? wrong : "");
    return wrong;
  } catch (...) {
    return "it raised an error";
  }
}

void TakeProbeResult(PaddlePart part, const char* sentence) {
  try {
    SetProbeResult(part, sentence);
  } catch (...) {
    CountFailure();
  }
}

const char* CaptureMode() {
  static constinit Mutex making;
  static std::string& text = *new std::string;
  const MutexLock lock(making);
  try {
    text = ModeText(ChooseMode());
  } catch (...) {
    return "none: out of memory";
  }
  return text.c_str();
}

void Append(Window* window, const PaddleThreadEvents& thread) {
  try {
    AppendPaddleThread(window, thread);
  } catch (...) {
    CountFailure();
  }
}

void RecordShapes(std::span<const PaddleTensorShape> tensors) {
  VisitStreams(recorded.shapes, [&](Stream* stream) {
    try {
      RecordTensorShapes(stream, tensors);
    } catch (...) {
      CountFailure();
    }
  });
}

__attribute__((constructor)) void WatchForksOfPaddle() {
  CallInForkedChild([] {
    recorded.events.store(0);
    recorded.shapes.store(0);
    recorded.memory.store(0);
    for (WindowBinding& binding : recorded.bindings)
      binding.Unbind();
    RestoreEntries();
    LeaveDrain();
    LeaveFallbacks();
  });
}

constexpr SourceFlag kFlags[] = {{"shapes", paddle_source_flags::kShapes}, {"memory", paddle_source_flags::kMemory}};

constexpr PaddleSource kSource = {.source = {.flag_count = std::size(kFlags),
                                             .name = "paddle",
                                             .flags = kFlags,
                                             .start = &Start,
                                             .stop = &Stop,
                                             .pause = &Pause,
                                             .failures = &FailureCount,
                                             .overhead = &PaddleOverheadJson},
                                  .enter = &EnterPaddleRange,
                                  .exit = &ExitPaddleRange,
                                  .try_part = &ProbeAndStore,
                                  .set_probe_result = &TakeProbeResult,
                                  .capture_mode = &CaptureMode,
                                  .set_fallback_recorder = &SetFallback,
                                  .append = &Append,
                                  .record_shapes = &RecordShapes};

}  // namespace
}  // namespace opscope

const opscope::PaddleSource* opscope_paddle_source() {
  return &opscope::kSource;
}
const opscope::Source* opscope_source() {
  return &opscope::kSource.source;
}
