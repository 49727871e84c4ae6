// Always-on timers, as CudaSource has them (opscope/cuda_source.h).
//
// Thread rule: any thread; one call at a time per timer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "opscope/cuda_source.h"

namespace opscope::cuda {

void* StartTimer(uint32_t flags, char* why, size_t size);
void DrainTimer(void* timer, bool flush, CudaTimes* times);
void StopTimer(void* timer);
bool PushRegion(uint64_t id);
bool PopRegion(uint64_t* id);

}  // namespace opscope::cuda
