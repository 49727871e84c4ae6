// What changed from one run to another: the columns of `opscope diff`. Text has the difference next to the name,
// because a narrow terminal leaves columns out from the right.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/diff.h"

#include <iterator>
#include <optional>
#include <span>
#include <string>

#include "opscope/report/memory.h"
#include "report/result_units.h"

namespace opscope {
namespace {

using namespace result_units;

constexpr ResultField<DiffRow> kDiffName = {{"name", "Name", kText, "Name of the spans."},
                                            [](const DiffRow& r) { return r.name; }};

struct DiffKeyColumn {
  DiffKey by;
  ResultColumn column;
};
constexpr DiffKeyColumn kDiffKeyColumns[] = {
    {DiffKey::kShape, {"shape", "Shape", kText, "Shapes of the inputs. With `--by shape`."}},
    {DiffKey::kModule, {"module", "Module", kText, "Path of the torch.nn.Module. With `--by module`."}},
    {DiffKey::kStep, {"step", "Step", kText, "Number of the step in which the span begins. With `--by step`."}},
};

constexpr ResultField<DiffRow> kDiffFields[] = {
    {{"status", "Status", kText,
      "`new`: only B has the key, `vanished`: only A has it; `slower`, `faster`: B takes more or less time, and not by "
      "chance; `matched`: all others."},
     [](const DiffRow& r) { return DiffStatusName(r.status); }},
    {{"delta_ns", "Delta", kTime, "Mean self time per step of B less that of A. Without steps: of the sums."},
     [](const DiffRow& r) { return r.difference.delta_ns; }},
    {{"low_ns", "Low", kTime, "Begin of the 95 % interval of the difference; unknown with less than 3 samples."},
     [](const DiffRow& r) { return r.difference.low_ns; }},
    {{"high_ns", "High", kTime, "Its end."}, [](const DiffRow& r) { return r.difference.high_ns; }},
    {{"p", "p", kDouble, "Two-sided p-value of Welch's test."}, [](const DiffRow& r) { return r.difference.p; }},
    {{"a_self_ns", "A self", kTime, "Time without direct children in A, over all of its runs."},
     [](const DiffRow& r) { return r.a.self_ns; }},
    {{"b_self_ns", "B self", kTime, "The same in B."}, [](const DiffRow& r) { return r.b.self_ns; }},
    {{"a_count", "A count", kNumber, "Number of spans in A."}, [](const DiffRow& r) { return r.a.count; }},
    {{"b_count", "B count", kNumber, "Number of spans in B."}, [](const DiffRow& r) { return r.b.count; }},
    {{"a_total_ns", "A total", kTime, "Plain sum of the durations in A."},
     [](const DiffRow& r) { return r.a.total_ns; }},
    {{"b_total_ns", "B total", kTime, "The same in B."}, [](const DiffRow& r) { return r.b.total_ns; }},
    {{"a_memory_bytes", "A memory", kBytes, "Bytes allocated less bytes freed in A while the span was innermost.",
      kIfNonZero},
     [](const DiffRow& r) { return r.a.memory_bytes; }},
    {{"b_memory_bytes", "B memory", kBytes, "The same in B.", kIfNonZero},
     [](const DiffRow& r) { return r.b.memory_bytes; }},
};

std::optional<int64_t> OfSteps(const DiffSteps& steps, std::optional<int64_t> Difference::* value) {
  return steps.difference ? (*steps.difference).*value : std::nullopt;
}

constexpr ResultField<DiffSteps> kDiffStepsFields[] = {
    {{"a_count", "A steps", kNumber, "Samples of A: its steps; with several runs on a side, its runs that have steps."},
     [](const DiffSteps& s) { return s.a_count; }},
    {{"b_count", "B steps", kNumber, "Samples of B."}, [](const DiffSteps& s) { return s.b_count; }},
    {{"a_mean_ns", "A mean", kTime, "Mean duration in A, rounded down."},
     [](const DiffSteps& s) { return s.a_mean_ns; }},
    {{"b_mean_ns", "B mean", kTime, "Mean duration in B, rounded down."},
     [](const DiffSteps& s) { return s.b_mean_ns; }},
    {{"delta_ns", "Delta", kTime, "Mean of B less mean of A; unknown if a side has no steps."},
     [](const DiffSteps& s) { return s.difference ? std::optional<int64_t>(s.difference->delta_ns) : std::nullopt; }},
    {{"low_ns", "Low", kTime, "Begin of its 95 % interval."},
     [](const DiffSteps& s) { return OfSteps(s, &Difference::low_ns); }},
    {{"high_ns", "High", kTime, "Its end."}, [](const DiffSteps& s) { return OfSteps(s, &Difference::high_ns); }},
    {{"p", "p", kDouble, "Two-sided p-value of Welch's test."},
     [](const DiffSteps& s) { return s.difference ? s.difference->p : std::nullopt; }},
};

constexpr ResultField<DiffMemory> kDiffMemoryFields[] = {
    {{"rank", "Rank", kNumber, "Rank of the process; -1 if the input does not say it.", kIfKnown},
     [](const DiffMemory& m) { return m.rank; }},
    {{"device_type", "", kNumber, "torch's `DeviceType` number."}, [](const DiffMemory& m) { return m.device_type; }},
    {{"device", "", kNumber, "Number of the device; -1 if the input does not say it."},
     [](const DiffMemory& m) { return m.device; }},
    {{"", "Device", kText}, [](const DiffMemory& m) { return MemoryDeviceName({m.rank, m.device_type, m.device}); }},
    {{"a_peak_bytes", "A peak", kBytes, "Largest level of allocated memory in A, over all of its runs."},
     [](const DiffMemory& m) { return m.a_peak_bytes; }},
    {{"b_peak_bytes", "B peak", kBytes, "The same in B."}, [](const DiffMemory& m) { return m.b_peak_bytes; }},
};

// "3 slower, 1 new, 40 matched", and why the rows have no test, if they have none.
std::string DiffNote(const TraceDiff& diff) {
  size_t counts[5] = {};
  for (const DiffRow& row : diff.rows)
    ++counts[static_cast<size_t>(row.status)];
  std::string note;
  for (const DiffStatus status :
       {DiffStatus::kSlower, DiffStatus::kFaster, DiffStatus::kNew, DiffStatus::kVanished, DiffStatus::kMatched}) {
    const size_t count = counts[static_cast<size_t>(status)];
    if (count == 0) continue;
    note.append(note.empty() ? "" : ", ").append(std::to_string(count) + " ").append(DiffStatusName(status));
  }
  if (note.empty()) return note;
  if (diff.steps.a_count == 0 || diff.steps.b_count == 0) {
    note += "; a side has no steps: differences are of the sums, and nothing is tested";
  } else if (diff.steps.a_count < 3 || diff.steps.b_count < 3) {
    note += "; a side has fewer than 3 samples: nothing is tested";
  }
  return note + "\n";
}

}  // namespace

const ResultDescription& DiffResult() {
  static const ResultDescription description = [] {
    ResultDescription made{"diff", "rows", "Spans with one key in two runs, A and B, or in two sets of runs.", {}};
    made.columns.push_back(kDiffName);
    for (const DiffKeyColumn& key : kDiffKeyColumns)
      made.columns.push_back(key.column);
    made.columns.insert(made.columns.end(), std::begin(kDiffFields), std::end(kDiffFields));
    return made;
  }();
  return description;
}

const ResultDescription& DiffStepsResult() {
  static const ResultDescription description = DescribeResult<DiffSteps>(
      "diff", "steps", "The durations of steps of both sides. JSON has one object.", kDiffStepsFields, true);
  return description;
}

const ResultDescription& DiffMemoryResult() {
  static const ResultDescription description =
      DescribeResult<DiffMemory>("diff", "memory", "A device with allocations on a side.", kDiffMemoryFields);
  return description;
}

ResultTable DiffTable(const TraceDiff& diff) {
  const Trace none;
  ResultTable table(DiffResult());
  const auto add = [&](const ResultField<DiffRow>& field) {
    table.Add(field, diff.rows, [&](const DiffRow& row) { return field.value(none, row); });
  };
  add(kDiffName);
  for (const DiffKeyColumn& key : kDiffKeyColumns) {
    if (key.by == diff.by) table.Add(key.column, diff.rows, [](const DiffRow& row) { return row.key; });
  }
  for (const ResultField<DiffRow>& field : kDiffFields)
    add(field);
  return table;
}

ResultTable DiffStepsTable(const TraceDiff& diff) {
  return MakeResultTable<DiffSteps>(DiffStepsResult(), kDiffStepsFields, Trace(), std::span(&diff.steps, 1));
}

ResultTable DiffMemoryTable(const TraceDiff& diff) {
  return MakeResultTable<DiffMemory>(DiffMemoryResult(), kDiffMemoryFields, Trace(), diff.memory);
}

VerbResult DiffVerbResult(const TraceDiff& diff) {
  VerbResult result;
  result.tables = {DiffTable(diff), DiffStepsTable(diff), DiffMemoryTable(diff)};
  if (diff.steps.a_count > 0 || diff.steps.b_count > 0) result.shown.push_back(1);
  result.shown.push_back(2);
  result.note = DiffNote(diff);
  if (diff.rows.empty()) result.why_empty = "there are no spans to compare";
  return result;
}

}  // namespace opscope
