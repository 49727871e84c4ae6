// The threads and the steps of a trace: the columns of `opscope info --list-threads` and `--list-steps`.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/saturating.h"
#include "opscope/analysis/contents.h"
#include "opscope/report/info.h"
#include "report/result_units.h"

namespace opscope {
namespace {

using namespace result_units;

std::string_view KindName(TrackKind kind) {
  switch (kind) {
    case TrackKind::kThread:
      return "thread";
    case TrackKind::kDeviceStream:
      return "stream";
    case TrackKind::kDeviceAnnotation:
      return "annotations";
    case TrackKind::kOther:
      break;
  }
  return "other";
}

// Unknown for -1.
std::optional<int64_t> Known(int32_t number) {
  if (number == -1) return std::nullopt;
  return number;
}

// Text tables have times since the first begin of the trace.
struct ThreadLine {
  ListedThread thread;
  int64_t first_ns;
};
struct StepLine {
  ListedStep step;
  int64_t first_ns;
};

constexpr ResultField<ThreadLine> kThreadFields[] = {
    {{"name", "Thread", kText, "Name, as `--where thread` and `--group-by thread` have it."},
     [](const ThreadLine& l) { return l.thread.name; }},
    {{"tid", "Tid", kText, "Its number or text in the input."}, [](const ThreadLine& l) { return l.thread.tid; }},
    {{"process", "Process", kText, "Name of the process."}, [](const ThreadLine& l) { return l.thread.process; }},
    {{"pid", "Pid", kText, "Number or text of the process in the input."},
     [](const ThreadLine& l) { return l.thread.pid; }},
    {{"rank", "Rank", kNumber, "Rank of the process; null if it is unknown.", kIfKnown},
     [](const ThreadLine& l) { return Known(l.thread.rank); }},
    {{"kind", "Kind", kText, "`thread`, `stream`, `annotations` of a stream, or `other`."},
     [](const ThreadLine& l) { return KindName(l.thread.kind); }},
    {{"device", "Device", kNumber, "Number of the device of a stream; null for threads.", kIfKnown},
     [](const ThreadLine& l) { return Known(l.thread.device); }},
    {{"spans", "Spans", kNumber, "Number of spans."}, [](const ThreadLine& l) { return l.thread.spans; }},
    {{"", "Begin", kTime}, [](const ThreadLine& l) { return SaturatingSubtract(l.thread.start_ns, l.first_ns); }},
    {{"", "End", kTime}, [](const ThreadLine& l) { return SaturatingSubtract(l.thread.end_ns, l.first_ns); }},
    {{"start_ns", "", kTime, "First begin, since `epoch_ns`."}, [](const ThreadLine& l) { return l.thread.start_ns; }},
    {{"end_ns", "", kTime, "Last end, since `epoch_ns`."}, [](const ThreadLine& l) { return l.thread.end_ns; }},
};

constexpr ResultField<StepLine> kStepFields[] = {
    {{"step", "Step", kNumber, "Number, as `--steps` takes it."}, [](const StepLine& l) { return l.step.number; }},
    {{"name", "Name", kText, "Name of its span: `ProfilerStep#3`."}, [](const StepLine& l) { return l.step.name; }},
    {{"rank", "Rank", kNumber, "Rank of the process; null if it is unknown.", kIfKnown},
     [](const StepLine& l) { return Known(l.step.rank); }},
    {{"spans", "Spans", kNumber, "Spans of its rank that begin within its time."},
     [](const StepLine& l) { return l.step.spans; }},
    {{"", "Begin", kTime}, [](const StepLine& l) { return SaturatingSubtract(l.step.start_ns, l.first_ns); }},
    {{"start_ns", "", kTime, "Begin, since `epoch_ns`."}, [](const StepLine& l) { return l.step.start_ns; }},
    {{"duration_ns", "Time", kTime, "Length."}, [](const StepLine& l) { return l.step.duration_ns; }},
};

}  // namespace

const ResultDescription& ThreadListResult() {
  static const ResultDescription description = DescribeResult<ThreadLine>(
      "info", "thread_list", "A thread, a stream of a device, or another track with spans.", kThreadFields);
  return description;
}

const ResultDescription& StepListResult() {
  static const ResultDescription description =
      DescribeResult<StepLine>("info", "step_list", "A step of the program.", kStepFields);
  return description;
}

ResultTable ThreadListTable(const Trace& trace) {
  std::vector<ThreadLine> lines;
  const int64_t first_ns = FirstBegin(trace);
  for (ListedThread& thread : ListThreads(trace))
    lines.push_back({std::move(thread), first_ns});
  return MakeResultTable<ThreadLine>(ThreadListResult(), kThreadFields, trace, lines);
}

ResultTable StepListTable(const Trace& trace) {
  std::vector<StepLine> lines;
  const int64_t first_ns = FirstBegin(trace);
  for (const ListedStep& step : ListSteps(trace))
    lines.push_back({step, first_ns});
  return MakeResultTable<StepLine>(StepListResult(), kStepFields, trace, lines);
}

}  // namespace opscope
