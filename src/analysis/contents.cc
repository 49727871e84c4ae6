// Lists what a trace contains, for `opscope info`: threads and streams with their time ranges, steps with the number of
// spans that begin in them, and the step numbers as ranges ("1..3, 7").
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/contents.h"

#include <algorithm>
#include <tuple>

#include "analysis/steps_of_ranks.h"
#include "analysis/track_labels.h"
#include "analysis/track_spans.h"

namespace opscope {
namespace {

// The numbers of the steps that have a span, in order.
std::vector<int64_t> StepNumbers(const Trace& trace) {
  const StepColumns& steps = trace.steps();
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps.span[i] != SpanId::kNone) numbers.push_back(steps.number[i]);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

}  // namespace

std::vector<ListedThread> ListThreads(const Trace& trace) {
  std::vector<ListedThread> threads = ListTracks(trace);
  std::erase_if(threads, [](const ListedThread& thread) { return thread.spans == 0; });
  return threads;
}

std::vector<ListedThread> ListTracks(const Trace& trace) {
  const TrackColumns& tracks = trace.tracks();
  const SpanColumns& spans = trace.spans();
  const std::vector<std::string> labels = LabelTracks(trace), processes = LabelProcesses(trace);
  std::vector<ListedThread> threads;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    ListedThread& thread = threads.emplace_back();
    thread.name = labels[track];
    thread.tid = NumberOrText(trace, tracks.tid[track], tracks.tid_text[track]);
    if (const ProcessId process = tracks.process[track]; process != ProcessId::kNone) {
      thread.process = processes[Row(process)];
      thread.pid = NumberOrText(trace, trace.processes().pid[Row(process)], trace.processes().pid_text[Row(process)]);
    }
    thread.rank = RankOfTrack(trace, TrackId{track});
    thread.device = tracks.device[track];
    thread.kind = tracks.kind[track];
    thread.spans = tracks.span_count[track];
    if (thread.spans == 0) continue;
    thread.start_ns = INT64_MAX, thread.end_ns = INT64_MIN;
    for (const uint32_t span : SpansOfTrack(trace, track)) {
      const auto [begin, end] = TimeOfSpan(spans, span);
      thread.start_ns = std::min(thread.start_ns, begin);
      thread.end_ns = std::max(thread.end_ns, end);
    }
  }
  return threads;
}

std::vector<ListedStep> ListSteps(const Trace& trace) {
  const StepColumns& steps = trace.steps();
  const SpanColumns& spans = trace.spans();
  const StepsOfRanks steps_of(trace);
  StepCursor cursor(trace, steps_of);
  std::vector<uint64_t> spans_in(steps.size(), 0);
  for (size_t span = 0; span < spans.size(); ++span) {
    const uint32_t step = cursor.StepAt(spans.track[span], spans.start[span].ns);
    if (step != StepsOfRanks::kNone) ++spans_in[step];
  }
  std::vector<ListedStep> listed;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps.span[i] == SpanId::kNone) continue;
    const uint32_t span = Row(steps.span[i]);
    ListedStep& step = listed.emplace_back();
    step.number = steps.number[i];
    step.name = trace.text(steps.name[i]);
    step.rank = RankOfTrack(trace, spans.track[span]);
    step.start_ns = spans.start[span].ns;
    step.duration_ns = spans.duration[span].ns;
    step.spans = spans_in[i];
  }
  std::stable_sort(listed.begin(), listed.end(), [](const ListedStep& a, const ListedStep& b) {
    return std::tie(a.rank, a.start_ns) < std::tie(b.rank, b.start_ns);
  });
  return listed;
}

std::string StepRanges(const Trace& trace) {
  const std::vector<int64_t> numbers = StepNumbers(trace);
  std::string ranges;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] - 1 == numbers[last])
      ++last;
    ranges += (ranges.empty() ? "" : ", ") + std::to_string(numbers[i]);
    if (last > i) ranges += ".." + std::to_string(numbers[last]);
    i = last + 1;
  }
  return ranges;
}

TraceWindow WindowOfSpans(const Trace& trace) {
  const SpanColumns& spans = trace.spans();
  if (spans.size() == 0) return {};
  TraceWindow window{INT64_MAX, INT64_MIN};
  for (size_t row = 0; row < spans.size(); ++row) {
    const auto [begin, end] = TimeOfSpan(spans, row);
    window = {std::min(window.start_ns, begin), std::max(window.end_ns, end)};
  }
  return window;
}

int64_t FirstBegin(const Trace& trace) {
  const auto starts = trace.spans().start;
  return starts.empty() ? 0 : std::min_element(starts.begin(), starts.end())->ns;
}

}  // namespace opscope
