// SPDX-License-Identifier: Apache-2.0
#include <opscope/analysis/op_summary.h>
#include <opscope/c.h>
#include <opscope/control.h>
#include <opscope/cut.h>
#include <opscope/import.h>
#include <opscope/job.h>
#include <opscope/profiler.h>
#include <opscope/report.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "in_cxx.opscope";
  opscope::Profiler profiler;
  if (!profiler.Start().ok()) return 1;
  {
    OPSCOPE_SCOPE("work");
    opscope_instant("both interfaces, one recorder");
  }
  if (!profiler.Stop().ok() || !profiler.Save(path).ok()) return 1;
  const opscope::Result<opscope::Trace> trace = opscope::ImportFile(path);
  if (!trace.ok()) return 1;
  std::printf("%s", opscope::SummaryTable(trace.value(), opscope::SummarizeOps(trace.value())).Text().c_str());
  const opscope::Result<opscope::Trace> nothing = opscope::CutTrace(trace.value(), {0});
  if (!nothing.ok() || nothing.value().spans().size() != 0) return 1;
  // Of every module that has a public header, one function.
  if (opscope::IsJob(path) || opscope::ListProcesses(path).ok()) return 1;
  return trace.value().spans().size() == 1 && trace.value().instants().size() == 1 ? 0 : 1;
}
