// The loaded PaddlePaddle source, and the functions that fill the submodule `_core.paddle`.
//
// Thread rule: with the GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/paddle_source.h"
#include "python/bindings/source_table.h"

namespace opscope::python {

using LoadedPaddleSource = LoadedTable<PaddleSource>;

// Each adds its types and functions to the module.
void BindPaddleSource(nb::module_& module);
void BindPaddleRange(nb::module_& module);
void BindPaddleRecordEvent(nb::module_& module);
void BindPaddleLayerCall(nb::module_& module);
void BindPaddleNodeTrees(nb::module_& module);
void BindPaddleSummary(nb::module_& module);

}  // namespace opscope::python
