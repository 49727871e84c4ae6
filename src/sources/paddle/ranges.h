// A range of Paddle as scopes: one per window that records it, linked through their contexts.
//
// Costs: two clock reads, a name look-up that compares the text, one store of 32 bytes. No allocation, lock, system
// call or formatting.
//
// Thread rule: any thread. A range may end on another thread than it began.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "opscope/paddle_source.h"
#include "opscope/recorder.h"
#include "sources/streams/stream_of.h"

namespace opscope {

// Windows by their slot in the recorder. `events`, `shapes` and `memory` have one bit per window that records that kind
// of event.
struct RecordedWindows {
  std::array<WindowBinding, kMaxWindows> bindings;
  std::atomic<uint64_t> events{0};
  std::atomic<uint64_t> shapes{0};
  std::atomic<uint64_t> memory{0};
};
static_assert(kMaxWindows <= 64);
extern RecordedWindows recorded;

// Paddle does not number threads; 0: the recorder uses the system's thread id.
inline uint64_t NoThreadNumber() {
  return 0;
}

// Calls visit(stream) for the calling thread's stream in each of these windows that is not paused.
template <typename Visit>
__attribute__((always_inline)) inline void VisitStreams(const std::atomic<uint64_t>& windows, const Visit& visit) {
  for (uint64_t left = windows.load(std::memory_order_relaxed); left != 0; left &= left - 1) {
    Stream* stream = StreamOf(recorded.bindings[static_cast<size_t>(std::countr_zero(left))], &NoThreadNumber);
    if (stream != nullptr) visit(stream);
  }
}

inline uint8_t FlagsOf(uint32_t event_type) {
  return event_type == static_cast<uint32_t>(PaddleEventType::kProfileStep) ? record_flags::kStep : uint8_t{0};
}

// intern(stream): offset of the name. Returns the newest scope of the range; null: no window records it.
template <typename Intern>
__attribute__((always_inline)) inline OpenScope* BeginRange(uint32_t event_type, const Intern& intern) {
  const uint8_t flags = FlagsOf(event_type);
  OpenScope* begun = nullptr;
  // Not VisitStreams: GCC would not inline its lambda.
  for (uint64_t left = recorded.events.load(std::memory_order_relaxed); left != 0; left &= left - 1) {
    Stream* stream = StreamOf(recorded.bindings[static_cast<size_t>(std::countr_zero(left))], &NoThreadNumber);
    if (stream == nullptr) continue;
    OpenScope* scope = OpenScopeOn(
        stream, [&] { return ScopeEntries{intern(stream)}; }, RecordSource::kPaddle, static_cast<uint8_t>(event_type),
        flags);
    if (OPSCOPE_UNLIKELY(scope == nullptr)) continue;  // counted as dropped
    scope->context[0] = reinterpret_cast<uint64_t>(begun);
    begun = scope;
  }
  return begun;
}

// The fast path: one window records, and the name is a literal that is already in the chunk. It calls no function, so
// the compiler saves few registers. Null: nothing was changed; take the slow path, BeginRange.
__attribute__((always_inline)) inline OpenScope* TryBeginFast(uint32_t event_type, const char* literal) {
  const uint64_t windows = recorded.events.load(std::memory_order_relaxed);
  Thread* thread = opscope_tls;
  constexpr auto kStep = static_cast<uint32_t>(PaddleEventType::kProfileStep);
  if (OPSCOPE_UNLIKELY(windows == 0 || (windows & (windows - 1)) != 0 || thread == nullptr || event_type == kStep)) {
    return nullptr;
  }
  const auto window = static_cast<size_t>(std::countr_zero(windows));
  Stream* stream = thread->streams[window];
  const uint64_t generation = recorded.bindings[window].generation.load(std::memory_order_relaxed);
  OpenScope* scope = thread->free_slots;
  if (OPSCOPE_UNLIKELY(stream == nullptr || stream->accepting.load(std::memory_order_relaxed) != generation ||
                       !IsSlot(scope))) {
    return nullptr;
  }
  SetFreeSlots(thread, WritingMark());  // first: a handler could begin the next chunk
  const NameCacheEntry* entry = NameCacheSlot(stream->stable_names, literal);
  OpenScope* outer = stream->top.load(std::memory_order_relaxed);
  const bool has_ended = outer != nullptr && outer->start.load(std::memory_order_relaxed) == 0;
  if (OPSCOPE_UNLIKELY(entry->text != literal || has_ended || opscope_clock_is_slow != 0 ||
                       stream->open_table != nullptr)) {
    SetFreeSlots(thread, scope);
    return nullptr;
  }
  FillScope(stream, scope, outer, {entry->offset, 0}, generation, RecordSource::kPaddle,
            static_cast<uint8_t>(event_type), 0, RecordKind::kScope);
  scope->context[0] = 0;
  StartScope(stream, scope, ReadFastTicks());
  SetFreeSlots(thread, scope->next_free);
  return scope;
}

__attribute__((always_inline)) inline void EndRange(OpenScope* scope, uint64_t now) {
  while (scope != nullptr) {
    auto* next = reinterpret_cast<OpenScope*>(scope->context[0]);
    EndScope(scope, now);
    scope = next;
  }
}

}  // namespace opscope
