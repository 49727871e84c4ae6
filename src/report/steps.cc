// How long the steps were and what they consist of: the columns of `opscope steps`.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/steps.h"

#include "base/saturating.h"
#include "opscope/analysis/contents.h"
#include "report/result_units.h"

namespace opscope {
namespace {

using namespace result_units;

// The text has times since the first begin of the trace, as --time takes them.
struct StepTimesLine {
  StepTimes step;
  int64_t first_ns;
};

constexpr ResultField<StepTimesLine> kStepTimesFields[] = {
    {{"rank", "Rank", kNumber, "Rank of the process; -1 if the input does not say it.", kIfKnown},
     [](const StepTimesLine& l) { return l.step.rank; }},
    {{"step", "Step", kNumber, "Number of the step, as `--steps` takes it."},
     [](const StepTimesLine& l) { return l.step.number; }},
    {{"name", "", kText, "Name of its range: `ProfilerStep#3`."},
     [](const Trace& trace, const StepTimesLine& l) { return trace.text(l.step.name); }},
    {{"", "Begin", kTime}, [](const StepTimesLine& l) { return SaturatingSubtract(l.step.start_ns, l.first_ns); }},
    {{"start_ns", "", kTime, "Begin, since `epoch_ns`."}, [](const StepTimesLine& l) { return l.step.start_ns; }},
    {{"duration_ns", "Time", kTime, "Length; the sum of the parts that follow."},
     [](const StepTimesLine& l) { return l.step.duration_ns; }},
    {{"compute_ns", "Compute", kTime, "A kernel ran that does not belong to a library of collectives.", kIfNonZero},
     [](const StepTimesLine& l) { return l.step.compute_ns; }},
    {{"communication_ns", "Communication", kTime,
      "Else a kernel of a collective ran; on a rank without device work, a call of a process group.", kIfNonZero},
     [](const StepTimesLine& l) { return l.step.communication_ns; }},
    {{"copy_ns", "Copies", kTime, "Else a copy or a set ran.", kIfNonZero},
     [](const StepTimesLine& l) { return l.step.copy_ns; }},
    {{"input_ns", "Input", kTime, "Else the thread of the step waited for input data.", kIfNonZero},
     [](const StepTimesLine& l) { return l.step.input_ns; }},
    {{"host_ns", "Host", kTime, "Else an operator or another call was open on a thread."},
     [](const StepTimesLine& l) { return l.step.host_ns; }},
    {{"other_ns", "Other", kTime, "Else a range of the program or a function of Python was open on a thread."},
     [](const StepTimesLine& l) { return l.step.other_ns; }},
    {{"idle_ns", "Idle", kTime, "None of these."}, [](const StepTimesLine& l) { return l.step.idle_ns; }},
};

constexpr ResultField<StepDurations> kStepDurationsFields[] = {
    {{"count", "Steps", kNumber, "Number of steps."}, [](const StepDurations& d) { return d.count; }},
    {{"mean_ns", "Mean", kTime, "Mean length, rounded down."}, [](const StepDurations& d) { return d.mean_ns; }},
    {{"p50_ns", "P50", kTime, "Half of the steps were at most this long."},
     [](const StepDurations& d) { return d.p50_ns; }},
    {{"p99_ns", "P99", kTime, "99 of 100 steps were at most this long."},
     [](const StepDurations& d) { return d.p99_ns; }},
    {{"min_ns", "Min", kTime, "The shortest one."}, [](const StepDurations& d) { return d.min_ns; }},
    {{"max_ns", "Max", kTime, "The longest one."}, [](const StepDurations& d) { return d.max_ns; }},
    {{"stddev_ns", "Std dev", kTime, "Standard deviation of the population, rounded."},
     [](const StepDurations& d) { return d.stddev_ns; }},
};

}  // namespace

const ResultDescription& StepTimesResult() {
  static const ResultDescription description = DescribeResult<StepTimesLine>(
      "steps", "rows", "A step of a rank: how long it was and what it consists of.", kStepTimesFields);
  return description;
}

const ResultDescription& StepDurationsResult() {
  static const ResultDescription description = DescribeResult<StepDurations>(
      "steps", "summary", "The lengths of all steps of the rows.", kStepDurationsFields, true);
  return description;
}

ResultTable StepTimesTable(const Trace& trace, const StepReport& report) {
  const int64_t first_ns = FirstBegin(trace);
  std::vector<StepTimesLine> lines;
  lines.reserve(report.rows.size());
  for (const StepTimes& step : report.rows)
    lines.push_back({step, first_ns});
  return MakeResultTable<StepTimesLine>(StepTimesResult(), kStepTimesFields, trace, lines);
}

ResultTable StepDurationsTable(const Trace& trace, const StepReport& report) {
  return MakeResultTable<StepDurations>(StepDurationsResult(), kStepDurationsFields, trace,
                                        std::span(&report.durations, 1));
}

VerbResult StepsVerbResult(const Trace& trace, const StepReport& report) {
  VerbResult result;
  result.tables = {StepTimesTable(trace, report), StepDurationsTable(trace, report)};
  if (report.rows.empty()) {
    result.why_empty = "none of the selected spans counts in a step";
  } else {
    result.shown = {0, 1};
  }
  return result;
}

}  // namespace opscope
