// The loaded PyTorch source.
//
// Thread rule: with the GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/torch_source.h"
#include "python/bindings/source_table.h"

namespace opscope::python {

using LoadedTorchSource = LoadedTable<TorchSource>;

// Adds TorchSource and `load_source` to the module.
void BindTorchSource(nb::module_& module);

}  // namespace opscope::python
