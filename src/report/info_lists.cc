// The threads and the steps of a trace as tables, CSV and JSON.
// SPDX-License-Identifier: Apache-2.0
#include "report/info_lists.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "opscope/analysis/contents.h"
#include "report/row_table.h"

namespace opscope {
namespace {

template <typename Row, typename Value>
std::vector<int64_t> Numbers(const std::vector<Row>& rows, const Value& value) {
  std::vector<int64_t> numbers;
  for (const Row& row : rows)
    numbers.push_back(static_cast<int64_t>(value(row)));
  return numbers;
}

template <typename Row, typename Text>
std::vector<std::string> Texts(const std::vector<Row>& rows, const Text& text) {
  std::vector<std::string> texts;
  for (const Row& row : rows)
    texts.emplace_back(text(row));
  return texts;
}

// -1 stands for none; where all have none, people see no column.
void AddOptionalNumbers(std::string_view key, std::string_view title, std::vector<int64_t> numbers, RowTable* table) {
  std::replace(numbers.begin(), numbers.end(), int64_t{-1}, kNoNumber);
  const bool is_any = std::any_of(numbers.begin(), numbers.end(), [](int64_t number) { return number != kNoNumber; });
  table->AddNumbers(key, is_any ? title : "", RowUnit::kNumber, std::move(numbers));
}

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

int64_t FirstBegin(const Trace& trace) {
  const auto& starts = trace.spans().start;
  return starts.empty() ? 0 : std::min_element(starts.begin(), starts.end())->ns;
}

RowTable ThreadRows(const Trace& trace) {
  const std::vector<ListedThread> threads = ListThreads(trace);
  const int64_t begin = FirstBegin(trace);
  RowTable table;
  table.AddTexts("name", "Thread", Texts(threads, [](const ListedThread& row) { return row.name; }));
  table.AddTexts("tid", "Tid", Texts(threads, [](const ListedThread& row) { return row.tid; }));
  table.AddTexts("process", "Process", Texts(threads, [](const ListedThread& row) { return row.process; }));
  table.AddTexts("pid", "Pid", Texts(threads, [](const ListedThread& row) { return row.pid; }));
  AddOptionalNumbers("rank", "Rank", Numbers(threads, [](const ListedThread& row) { return row.rank; }), &table);
  table.AddTexts("kind", "Kind", Texts(threads, [](const ListedThread& row) { return KindName(row.kind); }));
  AddOptionalNumbers("device", "Device", Numbers(threads, [](const ListedThread& row) { return row.device; }), &table);
  table.AddNumbers("spans", "Spans", RowUnit::kNumber,
                   Numbers(threads, [](const ListedThread& row) { return row.spans; }));
  table.AddNumbers("", "Begin", RowUnit::kTime,
                   Numbers(threads, [&](const ListedThread& row) { return row.start_ns - begin; }));
  table.AddNumbers("", "End", RowUnit::kTime,
                   Numbers(threads, [&](const ListedThread& row) { return row.end_ns - begin; }));
  table.AddNumbers("start_ns", "", RowUnit::kTime,
                   Numbers(threads, [](const ListedThread& row) { return row.start_ns; }));
  table.AddNumbers("end_ns", "", RowUnit::kTime, Numbers(threads, [](const ListedThread& row) { return row.end_ns; }));
  return table;
}

RowTable StepRows(const Trace& trace) {
  const std::vector<ListedStep> steps = ListSteps(trace);
  const int64_t begin = FirstBegin(trace);
  RowTable table;
  table.AddNumbers("step", "Step", RowUnit::kNumber, Numbers(steps, [](const ListedStep& row) { return row.number; }));
  table.AddTexts("name", "Name", Texts(steps, [](const ListedStep& row) { return row.name; }));
  AddOptionalNumbers("rank", "Rank", Numbers(steps, [](const ListedStep& row) { return row.rank; }), &table);
  table.AddNumbers("spans", "Spans", RowUnit::kNumber, Numbers(steps, [](const ListedStep& row) { return row.spans; }));
  table.AddNumbers("", "Begin", RowUnit::kTime,
                   Numbers(steps, [&](const ListedStep& row) { return row.start_ns - begin; }));
  table.AddNumbers("start_ns", "", RowUnit::kTime, Numbers(steps, [](const ListedStep& row) { return row.start_ns; }));
  table.AddNumbers("duration_ns", "Time", RowUnit::kTime,
                   Numbers(steps, [](const ListedStep& row) { return row.duration_ns; }));
  return table;
}

}  // namespace

void AddLists(const Trace& trace, const InfoLists& lists, JsonObject* object, std::string* out) {
  if (lists.threads) {
    object->Key("thread_list");
    ThreadRows(trace).AppendJson(0, out);
  }
  if (lists.steps) {
    object->Key("step_list");
    StepRows(trace).AppendJson(0, out);
  }
}

std::string FormatThreadList(const Trace& trace, size_t width) {
  return trace.spans().size() == 0 ? "" : ThreadRows(trace).ForPeople(0, width);
}

std::string ThreadListCsv(const Trace& trace) {
  return ThreadRows(trace).Csv(0);
}

std::string FormatStepList(const Trace& trace, size_t width) {
  return StepRanges(trace).empty() ? "" : StepRows(trace).ForPeople(0, width);
}

std::string StepListCsv(const Trace& trace) {
  return StepRows(trace).Csv(0);
}

}  // namespace opscope
