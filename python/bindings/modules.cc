// What each torch.nn.Module took, as a table and as JSON.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/modules.h"

#include "bindings.h"
#include "opscope/report.h"

namespace opscope::python {

void BindModules(nb::module_& module) {
  module.def(
      "module_table",
      [](const SharedTrace& self) {
        return ToText(WithoutGil([&] { return FormatModuleTable(SummarizeModules(*self.trace)); }));
      },
      nb::arg("trace"));
  module.def(
      "modules_json",
      [](const SharedTrace& self) {
        return ToText(WithoutGil([&] { return ModulesJson(*self.trace, SummarizeModules(*self.trace)); }));
      },
      nb::arg("trace"));
}

}  // namespace opscope::python
