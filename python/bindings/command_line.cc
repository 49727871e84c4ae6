// The `opscope` command.
// SPDX-License-Identifier: Apache-2.0
#include "bindings.h"
#if __has_include("opscope/cli.h")
#include "opscope/cli.h"
#endif

namespace opscope::python {

void BindCommandLine(nb::module_&) {
}

}  // namespace opscope::python
