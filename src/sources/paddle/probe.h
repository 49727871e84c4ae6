// The probe: does what this library assumes of Paddle's objects hold? It lets Paddle construct some and looks at them.
//
// Thread rule: in a process of its own, which may crash, while no other thread uses Paddle.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/paddle_source.h"

namespace opscope {

// Null: it holds; else a static sentence. May throw.
const char* ProbePart(PaddlePart part);

}  // namespace opscope
