// The fallback recorders of the two parts that hooks may be unable to record, each with a count of its recordings. The
// native one is Paddle's own profiler, which serves one recording at a time; the wrappers serve any number.
// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/fallback_recorders.h"

#include <atomic>
#include <cstddef>

#include "sources/streams/failures.h"

namespace opscope {
namespace {

struct Known {
  std::atomic<const PaddleFallbackRecorder*> recorder{nullptr};
  std::atomic<uint32_t> recordings{0};
};
constinit Known known[2];

Known& Of(PaddlePart part) {
  return known[static_cast<size_t>(part) - static_cast<size_t>(PaddlePart::kNative)];
}

}  // namespace

void SetFallback(PaddlePart part, const PaddleFallbackRecorder* recorder) {
  Of(part).recorder.store(recorder);
}
bool HasFallback(PaddlePart part) {
  return Of(part).recorder.load() != nullptr;
}

const char* StartFallback(PaddlePart part, uint32_t flags) {
  Known& one = Of(part);
  const PaddleFallbackRecorder* recorder = one.recorder.load();
  const bool is_alone = one.recordings.fetch_add(1) == 0;
  const char* refused = is_alone || recorder->enter == nullptr ? recorder->start(flags)
                                                               : "another recording has Paddle's own profiler already";
  if (refused != nullptr) one.recordings.fetch_sub(1);
  return refused;
}

void StopFallback(PaddlePart part, Window* window) {
  Known& one = Of(part);
  one.recordings.fetch_sub(1);  // first: this library records the ranges that begin from now on
  if (!one.recorder.load()->stop(window)) CountFailure();
}

void LeaveFallbacks() {
  for (Known& one : known)
    one.recordings.store(0);
}

const PaddleFallbackRecorder* FallbackOfRanges() {
  const Known& native = Of(PaddlePart::kNative);
  if (__builtin_expect(native.recordings.load(std::memory_order_relaxed) == 0, 1)) return nullptr;
  const PaddleFallbackRecorder* recorder = native.recorder.load(std::memory_order_relaxed);
  return recorder != nullptr && recorder->enter != nullptr ? recorder : nullptr;
}

void ExitRangeOfFallback(void* range) {
  Of(PaddlePart::kNative).recorder.load()->exit(range);
}

}  // namespace opscope
