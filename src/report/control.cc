// The tables of `opscope ps` and `opscope record`. They come from running processes, so there are no problems of files;
// what could not be recorded makes the answer of `record` doubtful.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/control.h"

#include <optional>
#include <string>
#include <string_view>

#include "base/json_object.h"
#include "report/result_units.h"

namespace opscope {
namespace {

using namespace result_units;

std::string_view NameOfState(ControlState state) {
  switch (state) {
    case ControlState::kReady:
      return "ready";
    case ControlState::kRecording:
      return "recording";
    case ControlState::kUnavailable:
      return "unavailable";
  }
  return "unavailable";
}

std::string_view NameOfWindow(WindowStatus status) {
  switch (status) {
    case WindowStatus::kComplete:
      return "complete";
    case WindowStatus::kFailed:
      return "failed";
    case WindowStatus::kLate:
      return "late";
  }
  return "failed";
}

std::string NumberIfKnown(int64_t number) {
  return number < 0 ? std::string() : std::to_string(number);
}

constexpr ResultField<ControlProcess> kProcessFields[] = {
    {{"", "Rank", kFigure}, [](const ControlProcess& row) { return NumberIfKnown(row.rank); }},
    {{"pid", "", kNumber, "Number of the process."}, [](const ControlProcess& row) { return row.pid; }},
    {{"host", "Host", kText, "Name of its machine."}, [](const ControlProcess& row) { return row.host; }},
    {{"", "Process", kNumber}, [](const ControlProcess& row) { return row.pid; }},
    {{"rank", "", kNumber, "Its rank; -1: unknown."}, [](const ControlProcess& row) { return row.rank; }},
    {{"framework", "Framework", kText, "`torch`, `paddle` or `megengine`; empty: unknown."},
     [](const ControlProcess& row) { return row.framework; }},
    {{"last_step", "", kNumber,
      "The last step that has begun, from 0; 0: no step has ended. -1: unknown, because the process does not answer."},
     [](const ControlProcess& row) { return row.last_step; }},
    {{"", "Last step", kFigure}, [](const ControlProcess& row) { return NumberIfKnown(row.last_step); }},
    {{"state", "State", kText,
      "`ready`; `recording`: a window is recorded, or waits for its first step; `unavailable`: see `why_not`."},
     [](const ControlProcess& row) { return NameOfState(row.state); }},
    {{"why_not", "Why not", kText, "Why it cannot be recorded now; empty: it can."},
     [](const ControlProcess& row) { return row.why_not; }},
};

constexpr ResultField<RecordedProcess> kRecordedFields[] = {
    {{"rank", "", kNumber, "Rank of the process; -1: unknown."}, [](const RecordedProcess& row) { return row.rank; }},
    {{"", "Rank", kFigure}, [](const RecordedProcess& row) { return NumberIfKnown(row.rank); }},
    {{"host", "Host", kOptionalText, "Name of its machine; null: there is no process of this rank."},
     [](const RecordedProcess& row) { return row.host; }},
    {{"pid", "Process", kNumber, "Number of the process; null: there is no process of this rank."},
     [](const RecordedProcess& row) { return row.pid == 0 ? std::nullopt : std::optional(row.pid); }},
    {{"status", "Status", kText,
      "`complete`: the file has all steps; `failed`; `late`: the process was past the first step when the request "
      "came, and recorded nothing."},
     [](const RecordedProcess& row) { return NameOfWindow(row.status); }},
    {{"file", "File", kOptionalText,
      "Path of the file; null: no file was written. One of a failed window has a part of the steps."},
     [](const RecordedProcess& row) { return row.file; }},
    {{"why_not", "Why not", kText, "Why the file is not complete; empty: it is."},
     [](const RecordedProcess& row) { return row.why_not; }},
};

}  // namespace

const ResultDescription& ProcessListResult() {
  static const ResultDescription description = DescribeResult<ControlProcess>(
      "ps", "rows", "A process that waits for requests, ordered by rank, host and pid.", kProcessFields);
  return description;
}

const ResultDescription& RecordedResult() {
  static const ResultDescription description = DescribeResult<RecordedProcess>(
      "record", "rows", "A process that was to record, ordered by rank, host and pid.", kRecordedFields);
  return description;
}

VerbResult ProcessListVerbResult(const std::vector<ControlProcess>& processes) {
  VerbResult result;
  result.tables = {MakeResultTable<ControlProcess>(ProcessListResult(), kProcessFields, Trace(), processes)};
  result.quality = Quality();
  result.problems_json = "[]";
  if (processes.empty()) result.why_empty = "no process waits for requests";
  return result;
}

VerbResult RecordedVerbResult(const RecordReport& report) {
  VerbResult result;
  result.tables = {MakeResultTable<RecordedProcess>(RecordedResult(), kRecordedFields, Trace(), report.rows)};
  JsonMemberWriter facts(&result.facts_json);
  facts.Text("request", report.request);
  facts.Json("first_step", report.first_step ? std::to_string(*report.first_step) : "null");
  Quality quality;
  for (const RecordedProcess& row : report.rows) {
    if (row.status == WindowStatus::kComplete) continue;
    quality.verdict = Verdict::kDoubtful;
    const std::string who = row.rank < 0 ? "process " + std::to_string(row.pid) : "rank " + std::to_string(row.rank);
    quality.reasons.push_back(who + " has no complete file");
  }
  result.quality = quality;
  result.problems_json = "[]";
  return result;
}

}  // namespace opscope
