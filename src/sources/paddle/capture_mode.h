// How Paddle's events are recorded, and which capture modes fit the Paddle in the process. They are tried in this
// order:
//
//   hooks      GOT entries of libphi_core.so and libpaddle.so point to the hooks (hooks.h) during a recording
//   drain      Paddle's own recorder runs without its profiler and is emptied at the end (drain.h)
//   native     Paddle's own profiler runs, and the protobuf that it writes is read at the end (fallback_recorders.h)
//   wrappers   functions of Paddle's Python are wrapped: only operators that Python calls, and what Python reports
//
// A mode is used only if a probe in a separate process has shown that it fits (probe.h). OPSCOPE_PADDLE_ROUTE names a
// mode and forbids those before it.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "opscope/paddle_source.h"

namespace opscope {

enum class PaddleMode : uint32_t { kNone, kHooks, kDrain, kNative, kWrappers };

// Sets the probe result of the part, from another process: "" for success, or a sentence.
void SetProbeResult(PaddlePart part, const char* sentence);
// Null: the part fits; else why not. May throw std::bad_alloc.
const char* WhyNot(PaddlePart part);
PaddleMode ChooseMode();
// "hooks", "drain: why no hooks", ..., "none: why no hooks". May throw std::bad_alloc.
std::string ModeText(PaddleMode mode);

// Patches the GOT entries of these parts (one bit each). Null: done; else a static sentence, and no entry is patched
// but those of `End`. REQUIRES for both: GotLock() is held. May throw std::bad_alloc.
const char* PatchEntries(uint32_t parts);
// Restores all entries but those of `End`: a range that began in a hook may still be open.
void RestoreEntries();

constexpr uint32_t BitOf(PaddlePart part) {
  return 1u << static_cast<uint32_t>(part);
}

}  // namespace opscope
