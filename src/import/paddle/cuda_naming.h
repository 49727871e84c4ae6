// Names of device work as in Paddle's files: every call of the runtime and the driver has a span, named as by CUPTI.
//
// Two of Paddle's names are wrong and differ here: Paddle names the memory kinds of a copy as kinds of copies, and a
// driver call as the runtime call with the same number.
//
// Thread rule: a constant.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "import/cuda/cuda_naming.h"

namespace opscope {

extern const CudaNaming kPaddleNaming;

}  // namespace opscope
