// The C type behind opscope.torch.record_function: a range that all observers of torch (RecordFunction callbacks) see.
//
// Thread rule: with the GIL. One object may be entered on several threads at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "python/bindings/bindings.h"

namespace opscope::python {

// Adds the type `RangeBase`, `set_range_source` and `set_original_range` to the module.
void BindTorchRange(nb::module_& module);

}  // namespace opscope::python
