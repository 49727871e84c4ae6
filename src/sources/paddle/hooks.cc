// A range that a hook has begun has the address of its scope in bits of RecordEvent that Paddle does not use (Mark,
// range_mark.h). So End finds the scope without a search, and distinguishes these ranges from those that Paddle began.
// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/hooks.h"

#include <atomic>
#include <string>

#include "sources/paddle/arguments.h"
#include "sources/paddle/memory_events.h"
#include "sources/paddle/paddle_library.h"
#include "sources/paddle/range_mark.h"
#include "sources/paddle/ranges.h"
#include "sources/streams/hot.h"

namespace opscope {
namespace {

using paddle_layout::RecordEvent;

constinit std::atomic<int32_t> trace_level{1};
constinit std::atomic<bool> with_attributes{false};

// Does what Paddle's constructors do while its profiler does not run, and adds the scope's mark. Addresses have 47
// bits.
inline void Construct(RecordEvent* self, uint32_t type, uint32_t role, const OpenScope* scope) {
  self->head = reinterpret_cast<uint64_t>(scope) << 16;
  self->name = nullptr;
  self->static_name = nullptr;
  self->role = scope != nullptr ? role | kRangeMark : role;
  self->type = type;
  self->attributes = nullptr;
  self->is_finished = 0;
}

inline bool IsWanted(uint32_t level) {
  return static_cast<int64_t>(level) <= trace_level.load(std::memory_order_relaxed);
}

// For the time while Paddle's profiler runs. construct() calls Paddle's constructor.
template <typename Intern, typename CallPaddle>
__attribute__((noinline, cold)) void BeginBoth(RecordEvent* self, uint32_t type, uint32_t level, const Intern& intern,
                                               const CallPaddle& construct) {
  construct();
  OpenScope* scope = IsWanted(level) ? BeginRange(type, intern) : nullptr;
  if (scope != nullptr && !Mark(self, scope)) EndRange(scope, ReadTicks());
}

__attribute__((noinline)) void BeginSlow(RecordEvent* self, const char* name, uint32_t type, uint32_t level,
                                         uint32_t role) {
  const auto intern = [name](Stream* stream) {
    return IsLiteral(name) ? InternStable(stream, name) : InternText(stream, name);
  };
  if (PaddleProfilerRuns()) {
    return BeginBoth(self, type, level, intern, [=] { paddle.begin_static(self, name, type, level, role); });
  }
  Construct(self, type, role, IsWanted(level) ? BeginRange(type, intern) : nullptr);
}

OPSCOPE_HOT void OnBeginStatic(RecordEvent* self, const char* name, uint32_t type, uint32_t level, uint32_t role) {
  if (__builtin_expect(IsWanted(level) && IsLiteral(name) && !PaddleProfilerRuns(), 1)) {
    const OpenScope* scope = TryBeginFast(type, name);
    if (__builtin_expect(scope != nullptr, 1)) return Construct(self, type, role, scope);
  }
  BeginSlow(self, name, type, level, role);
}

OPSCOPE_HOT void OnBeginCopied(RecordEvent* self, const std::string& name, uint32_t type, uint32_t level,
                               uint32_t role) {
  const auto intern = [&name](Stream* stream) { return InternText(stream, name.data(), name.size()); };
  if (OPSCOPE_UNLIKELY(PaddleProfilerRuns())) {
    return BeginBoth(self, type, level, intern, [&] { paddle.begin_copied(self, name, type, level, role); });
  }
  Construct(self, type, role, IsWanted(level) ? BeginRange(type, intern) : nullptr);
}

__attribute__((noinline, cold)) void EndMarked(RecordEvent* self, uint64_t now) {
  EndRange(TakeMark(self), now);
  if ((self->head & kFlagBits) != 0) paddle.end(self);
}

// Stays installed after the last recording: a range that began in a hook may end later.
OPSCOPE_HOT void OnEnd(RecordEvent* self) {
  if (OPSCOPE_UNLIKELY(!IsMarked(*self))) return paddle.end(self);
  const uint64_t now = ReadTicks();
  const auto* scope = reinterpret_cast<const OpenScope*>(self->head >> 16);
  if (OPSCOPE_UNLIKELY((self->head & kFlagBits) != 0 || scope->context[0] != 0)) return EndMarked(self, now);
  EndScope(TakeMark(self), now);
}

bool OnIsEnabled() {
  return recorded.events.load(std::memory_order_relaxed) != 0 || paddle.is_enabled();
}

bool OnOpInfoIsEnabled() {
  return recorded.shapes.load(std::memory_order_relaxed) != 0 || paddle.op_info_is_enabled();
}

void OnOpInfo(void* self, const std::string& name, const paddle_layout::Shapes& shapes,
              const paddle_layout::AttributeMap* attributes) {
  const auto* wanted = with_attributes.load(std::memory_order_relaxed) ? attributes : nullptr;
  VisitStreams(recorded.shapes, [&](Stream* stream) { RecordArguments(stream, shapes, wanted); });
  if (OPSCOPE_UNLIKELY(paddle.op_info_is_enabled())) paddle.op_info(self, name, shapes, attributes);
}

void OnMemory(void* self, const void* block, const paddle_layout::Place& place, size_t bytes, uint32_t event) {
  RecordMemory(block, place, bytes, event);
  paddle.memory(self, block, place, bytes, event);
}

}  // namespace

std::array<void*, paddle_layout::kSymbols> PaddleHooks() {
  using namespace paddle_layout;
  std::array<void*, kSymbols> hooks{};
  hooks[kBeginStatic] = reinterpret_cast<void*>(&OnBeginStatic);
  hooks[kBeginCopied] = reinterpret_cast<void*>(&OnBeginCopied);
  hooks[kEnd] = reinterpret_cast<void*>(&OnEnd);
  hooks[kIsEnabled] = reinterpret_cast<void*>(&OnIsEnabled);
  hooks[kOpInfo] = reinterpret_cast<void*>(&OnOpInfo);
  hooks[kOpInfoIsEnabled] = reinterpret_cast<void*>(&OnOpInfoIsEnabled);
  hooks[kMemory] = reinterpret_cast<void*>(&OnMemory);
  return hooks;
}

void SetAttributesWanted(bool wanted) {
  with_attributes.store(wanted, std::memory_order_relaxed);
}
void SetTraceLevel(int32_t level) {
  trace_level.store(level, std::memory_order_relaxed);
}

}  // namespace opscope
