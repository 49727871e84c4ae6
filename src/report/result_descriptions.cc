// The list of all results: their keys for the help of the command line, and docs/reference/results.md.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "opscope/report/advise.h"
#include "opscope/report/basis.h"
#include "opscope/report/check.h"
#include "opscope/report/control.h"
#include "opscope/report/critical_path.h"
#include "opscope/report/devices.h"
#include "opscope/report/diff.h"
#include "opscope/report/html.h"
#include "opscope/report/info.h"
#include "opscope/report/job.h"
#include "opscope/report/job_answers.h"
#include "opscope/report/memory.h"
#include "opscope/report/merge.h"
#include "opscope/report/modules.h"
#include "opscope/report/result_table.h"
#include "opscope/report/roofline.h"
#include "opscope/report/steps.h"
#include "opscope/report/summary.h"

namespace opscope {

std::span<const ResultDescription* const> ResultDescriptions() {
  static const ResultDescription* const results[] = {
      &SummaryResult(),
      &AsyncSummaryResult(),
      &ModuleResult(),
      &StepTimesResult(),
      &StepDurationsResult(),
      &DeviceResult(),
      &KernelResult(),
      &CopyResult(),
      &MemoryResult(),
      &MemoryDeviceResult(),
      &MemoryStepResult(),
      &CriticalPathResult(),
      &CriticalPathEdgeResult(),
      &RooflineMachineResult(),
      &RooflineResult(),
      &AdviceResult(),
      &EvidenceResult(),
      &DiffResult(),
      &DiffStepsResult(),
      &DiffMemoryResult(),
      &CheckResult(),
      &BasisResult(),
      &InfoResult(),
      &ThreadListResult(),
      &StepListResult(),
      &MergeResult(),
      &MergedProcessResult(),
      &CollectResult(),
      &RankResult(),
      &JobCollectiveResult(),
      &CollectiveMemberResult(),
      &CollectiveGroupResult(),
      &StragglerResult(),
      &CriticalRankResult(),
      &CriticalRankStepResult(),
      &ProcessListResult(),
      &RecordedResult(),
      &PageWorkResult(),
      &PageModuleResult(),
      &PageLeakResult(),
      &PageProblemResult(),
      &PageJobProblemResult(),
  };
  return results;
}

std::string ResultKeysText(std::string_view verb) {
  std::string text;
  for (const ResultDescription* result : ResultDescriptions()) {
    if (result->verb != verb) continue;
    std::string keys;
    for (const ResultColumn& column : result->columns) {
      if (!column.key.empty()) keys.append(keys.empty() ? "" : ", ").append(column.key);
    }
    text += "Fields" + (result->list.empty() ? std::string() : " of \"" + std::string(result->list) + "\"") + ": " +
            keys + "\n";
  }
  return text;
}

}  // namespace opscope
