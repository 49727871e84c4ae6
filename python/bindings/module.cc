// The module `opscope._core`.
// SPDX-License-Identifier: Apache-2.0
#include "bindings.h"

NB_MODULE(_core, module) {
  // No leak warnings of nanobind: a program may exit with open Traces, and opscope must not add to its standard error.
  nanobind::set_leak_warnings(false);
  module.doc() = "opscope's C++ engine; use the package opscope.";
  module.attr("__version__") = OPSCOPE_VERSION;
  opscope::python::BindErrors(module);
  opscope::python::BindTrace(module);
  opscope::python::BindTables(module);
  opscope::python::BindFlame(module);
  opscope::python::BindReport(module);
  opscope::python::BindFiles(module);
  opscope::python::BindResults(module);
  opscope::python::BindDiff(module);
  opscope::python::BindCheck(module);
  opscope::python::BindSql(module);
  opscope::python::BindJob(module);
  opscope::python::BindReproduce(module);
  opscope::python::BindSources(module);
  opscope::python::BindRecording(module);
  opscope::python::BindSession(module);
  opscope::python::BindSchedule(module);
  opscope::python::BindCommandLine(module);
  opscope::python::BindCuda(module);
  opscope::python::BindMegEngine(module);
  opscope::python::BindPaddle(module);
  opscope::python::BindTorch(module);
}
