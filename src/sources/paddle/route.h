// Which way Paddle's events take to their records, and which parts of it fit the Paddle in the process.
//
//   slots      the slots of libphi_core.so and libpaddle.so point to hooks.h while somebody records
//   drain      Paddle's own recorder runs without its profiler and is emptied at the end (drain.h)
//   native     Paddle's own profiler runs, and the protobuf that it writes is read at the end (stand_ins.h)
//   wrappers   functions of Paddle's Python are wrapped: only operators that Python calls, and what Python tells
//
// They are asked in this order. Only what a trial in a process of its own has shown to fit is used; the name of one in
// OPSCOPE_PADDLE_ROUTE forbids those before it.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "opscope/paddle_source.h"

namespace opscope {

enum class PaddleWay : uint32_t { kNone, kSlots, kDrain, kNative, kWrappers };

// What a trial has shown of the part, "" or its sentence.
void TakeVerdict(PaddlePart part, const char* sentence);
// Null: the part can be used; else why not. May throw std::bad_alloc.
const char* WhyNot(PaddlePart part);
PaddleWay ChooseWay();
// "slots", "drain: why not by slots", ..., "none: why not by slots". May throw std::bad_alloc.
std::string RouteText(PaddleWay way);

// Points the slots of these parts (a bit each) to the hooks. Null: done; else a static sentence, and no window of ours
// may count on them. REQUIRES for both: SlotLock() is held. May throw std::bad_alloc.
const char* PointSlots(uint32_t parts);
// All but those of `End`, behind which a range may still be open.
void PutSlotsBack();

constexpr uint32_t BitOf(PaddlePart part) {
  return 1u << static_cast<uint32_t>(part);
}

}  // namespace opscope
