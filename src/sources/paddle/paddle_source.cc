// SPDX-License-Identifier: Apache-2.0
#include "opscope/paddle_source.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/text.h"
#include "opscope/window_facts.h"
#include "sources/got/got_entries.h"
#include "sources/paddle/append.h"
#include "sources/paddle/arguments.h"
#include "sources/paddle/drain.h"
#include "sources/paddle/hooks.h"
#include "sources/paddle/memory_events.h"
#include "sources/paddle/own_cost.h"
#include "sources/paddle/paddle_library.h"
#include "sources/paddle/ranges.h"
#include "sources/paddle/route.h"
#include "sources/paddle/stand_ins.h"
#include "sources/paddle/trial.h"
#include "sources/paddle/user_range.h"
#include "sources/streams/failures.h"
#include "sources/streams/window_fact.h"

namespace opscope {

constinit RecordedWindows recorded;

namespace {

// By slot of the recorder, which is its window's until that is closed.
struct OpenSession {
  Window* window = nullptr;
  pid_t process = 0;
  PaddleWay way = PaddleWay::kNone;
};
std::array<OpenSession, kMaxWindows>& sessions = *new std::array<OpenSession, kMaxWindows>;

// What the ways by somebody else's recorder lack; the parts that go into records by this library.
uint32_t PartsBeside(uint32_t flags, PaddleWay way, std::string* route) {
  const bool shapes = (flags & paddle_source_flags::kShapes) != 0, memory = (flags & paddle_source_flags::kMemory) != 0;
  if (way == PaddleWay::kDrain && flags != 0) route->append("; without arguments and memory");
  if (way == PaddleWay::kNative) {
    route->append("; without ranges that are open at the end");
    if (shapes) route->append("; without arguments");
  }
  if (way != PaddleWay::kWrappers) return 0;
  route->append("; without operators that Python does not call, and what is inside of them");
  if (memory) route->append("; without memory");
  return BitOf(PaddlePart::kSlots) | (shapes ? BitOf(PaddlePart::kShapes) : 0);
}

// The parts that fit of those that are asked for; the others are told.
uint32_t PartsFor(uint32_t flags, PaddleWay way, std::string* route) {
  if (way != PaddleWay::kSlots) return PartsBeside(flags, way, route);
  uint32_t parts = BitOf(PaddlePart::kSlots);
  const auto add = [&](uint32_t flag, PaddlePart part, const char* what) {
    if ((flags & flag) == 0) return;
    const char* why = WhyNot(part);
    if (why == nullptr) {
      parts |= BitOf(part);
    } else {
      route->append("; without ").append(what).append(": ").append(why);
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
  set(&recorded.events, (parts & BitOf(PaddlePart::kSlots)) != 0);
}

// Null: it records. One lock for the slots and who needs them, or a recording that ends meanwhile would put them back.
const char* BeginBySlots(Window* window, uint32_t slot, uint32_t parts) {
  const MutexLock lock(SlotLock());
  if (const char* refused = PointSlots(parts)) return refused;
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

constexpr PaddlePart PartOf(PaddleWay way) {
  return way == PaddleWay::kNative ? PaddlePart::kNative : PaddlePart::kWrappers;
}

// Null: it records.
const char* BeginByStandIn(Window* window, uint32_t slot, uint32_t flags, PaddleWay way, uint32_t parts) {
  if (way == PaddleWay::kWrappers) {
    recorded.bindings[slot].Bind(slot, opscope_window_id(window));
    SetRecorded(slot, parts);
  }
  const char* refused = StartStandIn(PartOf(way), flags);
  if (refused != nullptr && way == PaddleWay::kWrappers) Unbind(slot);
  return refused;
}

// What its allocator holds, from which totals are counted on. Empty: blocks are not recorded, or nobody knows.
std::string HostMemory(uint32_t flags, PaddleWay way, uint32_t parts) {
  const bool by_native = way == PaddleWay::kNative && (flags & paddle_source_flags::kMemory) != 0;
  if ((parts & BitOf(PaddlePart::kMemory)) == 0 && !by_native) return {};
  const MutexLock lock(SlotLock());
  return FindPaddle(PaddlePart::kMemory) == nullptr ? HostMemoryJson() : std::string();
}

// Null: it records.
const char* BeginBy(PaddleWay way, Window* window, uint32_t slot, uint32_t flags, uint32_t parts) {
  switch (way) {
    case PaddleWay::kSlots:
      return BeginBySlots(window, slot, parts);
    case PaddleWay::kDrain:
      return StartDrain();
    case PaddleWay::kNative:
    case PaddleWay::kWrappers:
      return BeginByStandIn(window, slot, flags, way, parts);
    case PaddleWay::kNone:
      break;
  }
  const char* why = WhyNot(PaddlePart::kSlots);
  return why != nullptr ? why : "this Paddle cannot be recorded";
}

// Null: it records.
const char* Begin(Window* window, uint32_t slot, uint32_t flags) {
  PaddleWay way = ChooseWay();
  std::string route = RouteText(way);
  uint32_t parts = PartsFor(flags, way, &route);
  std::string memory = HostMemory(flags, way, parts);
  const char* refused = BeginBy(way, window, slot, flags, parts);
  if (refused != nullptr && way == PaddleWay::kSlots) {  // from now on in this process
    way = ChooseWay();
    route = RouteText(way);
    parts = PartsFor(flags, way, &route);
    memory = HostMemory(flags, way, parts);
    refused = BeginBy(way, window, slot, flags, parts);
  }
  if (refused != nullptr) return refused;
  if (route.find("; without ") != std::string::npos) AddWindowFact(window, kPartsLeftOutKey, "1");
  std::string route_json;
  AppendJsonString(&route_json, route);
  AddWindowFact(window, kPaddleRouteKey, route_json);
  if (!memory.empty()) AddWindowFact(window, kHostMemoryKey, memory);
  sessions[slot] = {window, getpid(), way};
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
    *error = "memory was short, or Paddle raised an error";
  }
  return *error == nullptr ? &sessions[slot] : nullptr;
}

void Stop(void* opaque) {
  auto* session = static_cast<OpenSession*>(opaque);
  if (session->process != getpid()) return;
  const auto slot = static_cast<uint32_t>(session - sessions.data());
  if (session->way == PaddleWay::kDrain) {
    StopDrain(session->window);
  } else if (session->way == PaddleWay::kNative) {
    StopStandIn(PaddlePart::kNative, session->window);
  } else {
    if (session->way == PaddleWay::kWrappers) StopStandIn(PaddlePart::kWrappers, session->window);
    const MutexLock lock(SlotLock());
    Unbind(slot);
    if (recorded.events.load() == 0) PutSlotsBack();
  }
  *session = {};
}

void Pause(void* opaque, bool paused) {
  auto* session = static_cast<OpenSession*>(opaque);
  if (session->process != getpid() || session->way == PaddleWay::kDrain || session->way == PaddleWay::kNative) {
    return;
  }
  recorded.bindings[static_cast<size_t>(session - sessions.data())].Pause(paused);
}

const char* TryAndTell(PaddlePart part) {
  try {
    const char* wrong = TryPart(part);
    TakeVerdict(part, wrong != nullptr ? wrong : "");
    return wrong;
  } catch (...) {
    return "it raised an error";
  }
}

void TellVerdict(PaddlePart part, const char* sentence) {
  try {
    TakeVerdict(part, sentence);
  } catch (...) {
    CountFailure();
  }
}

const char* Route() {
  static constinit Mutex making;
  static std::string& text = *new std::string;
  const MutexLock lock(making);
  try {
    text = RouteText(ChooseWay());
  } catch (...) {
    return "none: memory was short";
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

void NoteShapes(std::span<const PaddleTensorShape> tensors) {
  for (uint64_t left = recorded.shapes.load(std::memory_order_relaxed); left != 0; left &= left - 1) {
    Stream* stream = StreamOf(recorded.bindings[static_cast<size_t>(std::countr_zero(left))], &NoThreadNumber);
    if (stream == nullptr) continue;
    try {
      NoteTensorShapes(stream, tensors);
    } catch (...) {
      CountFailure();
    }
  }
}

__attribute__((constructor)) void WatchForksOfPaddle() {
  WatchForksOfSlots([] {
    recorded.events.store(0);
    recorded.shapes.store(0);
    recorded.memory.store(0);
    for (WindowBinding& binding : recorded.bindings)
      binding.Unbind();
    PutSlotsBack();
    LeaveDrain();
    LeaveStandIns();
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
                                             .own_cost = &PaddleOwnCostJson},
                                  .enter = &EnterPaddleRange,
                                  .exit = &ExitPaddleRange,
                                  .try_part = &TryAndTell,
                                  .take_verdict = &TellVerdict,
                                  .route = &Route,
                                  .set_stand_in = &SetStandIn,
                                  .append = &Append,
                                  .note_shapes = &NoteShapes};

}  // namespace
}  // namespace opscope

const opscope::PaddleSource* opscope_paddle_source() {
  return &opscope::kSource;
}
const opscope::Source* opscope_source() {
  return &opscope::kSource.source;
}
