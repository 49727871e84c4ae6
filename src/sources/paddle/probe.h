// The probe: do the assumptions about Paddle's objects (paddle_layout.h) hold? Paddle constructs some, and the probe
// compares them.
//
// Thread rule: in a separate process, which may crash, while no other thread uses Paddle.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/paddle_source.h"

namespace opscope {

// Null: they hold; else a static sentence. May throw.
const char* ProbePart(PaddlePart part);

}  // namespace opscope
