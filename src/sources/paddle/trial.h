// Whether what this library assumes of Paddle's objects holds: seen by letting Paddle make some.
//
// Thread rule: in a process of its own, which may crash; nobody else uses Paddle meanwhile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/paddle_source.h"

namespace opscope {

// Null: it holds; else a static sentence. May throw.
const char* TryPart(PaddlePart part);

}  // namespace opscope
