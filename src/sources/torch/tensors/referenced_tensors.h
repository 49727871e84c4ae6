// Tensors that a module or an optimizer holds, as records of the windows that want identities.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "opscope/torch_source.h"

namespace opscope {

// TorchSource::hold.
void HoldTensors(uint64_t owner, const HeldTensorImpl* tensors, size_t count);

}  // namespace opscope
