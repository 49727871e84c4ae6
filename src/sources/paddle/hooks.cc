// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/hooks.h"

#include <atomic>
#include <bit>
#include <cstring>

#include "sources/paddle/arguments.h"
#include "sources/paddle/memory_events.h"
#include "sources/paddle/paddle_library.h"
#include "sources/paddle/range_mark.h"
#include "sources/paddle/ranges.h"

namespace opscope {
namespace {

using paddle_layout::RecordEvent;

constinit std::atomic<int32_t> trace_level{1};
constinit std::atomic<bool> with_attributes{false};

// What Paddle's constructors do while its profiler does not run.
inline void Construct(RecordEvent* self, uint32_t type, uint32_t role) {
  self->head = 0;
  self->name = nullptr;
  self->static_name = nullptr;
  self->role = role;
  self->type = type;
  self->attributes = nullptr;
  self->is_finished = 0;
}

template <typename Intern>
inline void BeginIfWanted(RecordEvent* self, uint32_t type, uint32_t level, const Intern& intern) {
  if (static_cast<int64_t>(level) > trace_level.load(std::memory_order_relaxed)) return;
  OpenScope* scope = BeginRange(type, intern);
  if (scope != nullptr && OPSCOPE_UNLIKELY(!Mark(self, scope))) EndRange(scope, ReadTicks());
}

__attribute__((flatten)) void OnBeginStatic(RecordEvent* self, const char* name, uint32_t type, uint32_t level,
                                            uint32_t role) {
  if (OPSCOPE_UNLIKELY(PaddleProfilerRuns())) {
    paddle.begin_static(self, name, type, level, role);
  } else {
    Construct(self, type, role);
  }
  BeginIfWanted(self, type, level, [name](Stream* stream) { return InternText(stream, name); });
}

__attribute__((flatten)) void OnBeginCopied(RecordEvent* self, const std::string& name, uint32_t type, uint32_t level,
                                            uint32_t role) {
  if (OPSCOPE_UNLIKELY(PaddleProfilerRuns())) {
    paddle.begin_copied(self, name, type, level, role);
  } else {
    Construct(self, type, role);
  }
  BeginIfWanted(self, type, level, [&name](Stream* stream) { return InternText(stream, name.data(), name.size()); });
}

// Stays behind when nobody records any more: what has begun has still to end.
__attribute__((flatten)) void OnEnd(RecordEvent* self) {
  if (__builtin_expect(IsMarked(*self), 1)) {
    const uint64_t now = ReadTicks();
    EndRange(TakeMark(self), now);
    if (__builtin_expect((self->head & kFlagBits) == 0, 1)) return;
  }
  paddle.end(self);
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
  for (uint64_t left = recorded.shapes.load(std::memory_order_relaxed); left != 0; left &= left - 1) {
    Stream* stream = StreamOf(recorded.bindings[static_cast<size_t>(std::countr_zero(left))], &NoThreadNumber);
    if (stream != nullptr) NoteArguments(stream, shapes, wanted);
  }
  if (OPSCOPE_UNLIKELY(paddle.op_info_is_enabled())) paddle.op_info(self, name, shapes, attributes);
}

void OnMemory(void* self, const void* block, const paddle_layout::Place& place, size_t bytes, uint32_t event) {
  NoteMemory(block, place, bytes, event);
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
