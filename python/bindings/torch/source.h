// The loaded PyTorch source.
//
// Thread rule: with the GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/torch_source.h"
#include "python/bindings/bindings.h"

namespace opscope::python {

// Python's `_core.torch.TorchSource`.
struct LoadedTorchSource : LoadedSource {
  const TorchSource* torch = nullptr;
};

// Adds TorchSource and `load_source` to the module.
void BindTorchSource(nb::module_& module);

}  // namespace opscope::python
