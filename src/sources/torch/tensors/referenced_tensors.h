// Records which tensors a module or an optimizer references (parameters, gradients, optimizer state). The memory
// timeline takes its categories from them.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "opscope/torch_source.h"

namespace opscope {

// TorchSource::hold.
void RecordReferencedTensors(uint64_t owner, const ReferencedTensorImpl* tensors, size_t count);

}  // namespace opscope
