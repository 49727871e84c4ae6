// Those who record by Python where this library cannot (PaddleStandIn): Paddle's own profiler, one recording at a time,
// which takes the ranges of Python, too; and wrappers, whose operators are ranges of this library.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/paddle_source.h"
#include "opscope/recorder_abi.h"

namespace opscope {

// REQUIRES for all with a part: it is kNative or kWrappers.
void SetStandIn(PaddlePart part, const PaddleStandIn* stand_in);
bool HasStandIn(PaddlePart part);

// Null: it records; else a static sentence. REQUIRES: HasStandIn.
const char* StartStandIn(PaddlePart part, uint32_t flags);
void StopStandIn(PaddlePart part, Window* window);
// In the child of a fork: the parent's recordings are none of its own.
void LeaveStandIns();

// That takes the ranges of Python now. Null: they are this library's.
const PaddleStandIn* StandInOfRanges();
// One of these, which may have stopped since.
void ExitRangeOfStandIn(void* range);

}  // namespace opscope
