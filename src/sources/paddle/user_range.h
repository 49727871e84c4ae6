// Ranges of the program and of its phases (forward, backward, ...), which Python reports.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace opscope {

// PaddleSource::enter and exit.
void* EnterPaddleRange(const char* name, size_t name_size, uint32_t event_type);
void ExitPaddleRange(void* range);

}  // namespace opscope
