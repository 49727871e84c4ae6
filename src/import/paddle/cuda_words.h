// Rows of devices as Paddle's files have them: every call of the runtime and the driver, under CUPTI's name of it.
//
// Where Paddle's own are wrong, these are right: the kinds of memory of a copy (there named as kinds of copies), calls
// of the driver (there named as calls of the runtime with the same number).
//
// Thread rule: a constant.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "import/cuda/cuda_words.h"

namespace opscope {

extern const CudaWords kPaddlesWords;

}  // namespace opscope
