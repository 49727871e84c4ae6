// Recorders in Python for the modes "native" and "wrappers" (PaddleFallbackRecorder). "native" is Paddle's own
// profiler, which serves one recording at a time and also records the ranges of Python. "wrappers" records operators as
// ranges of this library.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/paddle_source.h"
#include "opscope/recorder_abi.h"

namespace opscope {

// REQUIRES for all functions with a part: it is kNative or kWrappers.
void SetFallback(PaddlePart part, const PaddleFallbackRecorder* recorder);
bool HasFallback(PaddlePart part);

// Null: it records; else a static sentence. REQUIRES: HasFallback.
const char* StartFallback(PaddlePart part, uint32_t flags);
void StopFallback(PaddlePart part, Window* window);
// In the child of a fork: forgets the parent's recordings.
void LeaveFallbacks();

// The fallback recorder that records the ranges of Python now. Null: this library records them.
const PaddleFallbackRecorder* FallbackOfRanges();
// Ends a range of that recorder, which may have stopped since.
void ExitRangeOfFallback(void* range);

}  // namespace opscope
