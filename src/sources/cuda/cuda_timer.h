// Always-on timers, as CudaSource has them (opscope/cuda_source.h).
//
// Thread rule: any thread; calls for one timer take turns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "opscope/cuda_source.h"

namespace opscope::cuda {

void* StartTimer(uint32_t flags, char* why, size_t size);
void DrainTimer(void* timer, bool flush, CudaTimes* times);
void StopTimer(void* timer);
bool PushRegion(uint64_t id);
bool PopRegion(uint64_t* id);

// Copies a text into a buffer of `size` bytes, cut and with a final NUL, as CudaSource returns texts.
void CopyText(std::string_view text, char* to, size_t size);

}  // namespace opscope::cuda
