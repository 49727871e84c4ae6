// The handle of a range is its newest scope. While Paddle's profiler runs, the handle is a phi::RecordEvent that Paddle
// itself begins, with the scope marked in it; while a fallback recorder runs, it is that recorder's handle. The lowest
// bits of the handle distinguish the three.
// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/user_range.h"

#include <cstdint>
#include <memory>
#include <string>

#include "sources/paddle/fallback_recorders.h"
#include "sources/paddle/paddle_library.h"
#include "sources/paddle/range_mark.h"
#include "sources/paddle/ranges.h"
#include "sources/streams/failures.h"

namespace opscope {
namespace {

constexpr uintptr_t kIsPaddle = 1, kIsFallback = 2, kKinds = 3;

OpenScope* Begin(const char* name, size_t size, uint32_t event_type) {
  return BeginRange(event_type, [=](Stream* stream) { return InternText(stream, name, size); });
}

__attribute__((noinline, cold)) void* EnterBoth(const char* name, size_t size, uint32_t event_type) {
  try {
    auto range = std::make_unique<paddle_layout::RecordEvent>();
    paddle.begin_copied(range.get(), std::string(name, size), event_type, kLevelOfPython, 0);
    OpenScope* scope = Begin(name, size, event_type);
    if (scope != nullptr && !Mark(range.get(), scope)) EndRange(scope, ReadTicks());
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(range.release()) | kIsPaddle);
  } catch (...) {
    CountFailure();
    return nullptr;
  }
}

}  // namespace

void* EnterPaddleRange(const char* name, size_t name_size, uint32_t event_type) {
  if (const PaddleFallbackRecorder* recorder = FallbackOfRanges(); OPSCOPE_UNLIKELY(recorder != nullptr)) {
    void* range = recorder->enter(name, name_size, event_type);
    return range == nullptr ? nullptr : reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(range) | kIsFallback);
  }
  if (OPSCOPE_UNLIKELY(PaddleProfilerRuns() && paddle.begin_copied != nullptr)) {
    return EnterBoth(name, name_size, event_type);
  }
  return Begin(name, name_size, event_type);
}

void ExitPaddleRange(void* opaque) {
  const uint64_t now = ReadTicks();
  const auto address = reinterpret_cast<uintptr_t>(opaque);
  if (__builtin_expect((address & kKinds) == 0, 1)) return EndRange(static_cast<OpenScope*>(opaque), now);
  if ((address & kIsFallback) != 0) return ExitRangeOfFallback(reinterpret_cast<void*>(address - kIsFallback));
  const std::unique_ptr<paddle_layout::RecordEvent> range(
      reinterpret_cast<paddle_layout::RecordEvent*>(address - kIsPaddle));
  if (IsMarked(*range)) EndRange(TakeMark(range.get()), now);
  try {
    paddle.end(range.get());
  } catch (...) {
    CountFailure();
  }
}

}  // namespace opscope
