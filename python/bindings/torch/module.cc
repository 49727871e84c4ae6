// The submodule `opscope._core.torch`, which only opscope.torch uses.
// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/bindings.h"
#include "python/bindings/torch/function_events.h"
#include "python/bindings/torch/record_function.h"
#include "python/bindings/torch/source.h"

namespace opscope::python {

void BindTorch(nb::module_& module) {
  nb::module_ torch = module.def_submodule("torch", "What opscope.torch needs of opscope's engine.");
  BindTorchSource(torch);
  BindTorchRange(torch);
  BindFunctionEvent(torch);
  BindKinetoEvent(torch);
  BindInterval(torch);
  BindFunctionEvents(torch);
  BindEventTree(torch);
  BindTorchTable(torch);
  BindTorchMemoryTimeline(torch);
}

}  // namespace opscope::python
