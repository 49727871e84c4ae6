// What a file is and holds: "opscope.info/1", the same for people, and its problems.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/info.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/json_object.h"
#include "base/shown_text.h"
#include "opscope/report/quality.h"
#include "report/code_points.h"
#include "report/cut_off.h"
#include "report/human_units.h"
#include "report/info_lists.h"
#include "report/own_cost.h"
#include "report/recording_options.h"
#include "report/row_table.h"

namespace opscope {
namespace {

struct SpanCounts {
  uint64_t events = 0;  // complete events and paired begin/end events
  Timestamp first;
  Timestamp last;
};

SpanCounts CountSpans(const Trace& trace) {
  const SpanColumns& spans = trace.spans();
  SpanCounts counts;
  counts.events = spans.size();
  for (size_t row = 0; row < spans.size(); ++row) {
    const Timestamp start = spans.start[row];
    const Timestamp end = start + spans.duration[row];
    counts.first = row == 0 ? start : std::min(counts.first, start);
    counts.last = row == 0 ? end : std::max(counts.last, end);
  }
  return counts;
}

// Tracks and processes count when something happened on them.
std::pair<uint64_t, uint64_t> CountTracksAndProcesses(const Trace& trace) {
  const TrackColumns& tracks = trace.tracks();
  std::vector<uint8_t> is_used(tracks.size());
  auto use = [&](std::span<const TrackId> column) {
    for (TrackId track : column) {
      if (Row(track) < is_used.size()) is_used[Row(track)] = 1;
    }
  };
  use(trace.spans().track);
  use(trace.async_spans().track);
  use(trace.instants().track);
  use(trace.counters().track);
  use(trace.allocations().track);
  std::vector<uint8_t> is_process_used(trace.processes().size());
  for (size_t track = 0; track < tracks.size(); ++track) {
    const uint32_t process = Row(tracks.process[track]);
    if (is_used[track] && process < is_process_used.size()) is_process_used[process] = 1;
  }
  return {static_cast<uint64_t>(std::count(is_used.begin(), is_used.end(), 1)),
          static_cast<uint64_t>(std::count(is_process_used.begin(), is_process_used.end(), 1))};
}

std::string_view SeverityName(ProblemSeverity severity) {
  static constexpr std::string_view kNames[] = {"info", "data_loss", "error"};
  return kNames[static_cast<size_t>(severity)];
}

// The process that this one was forked or spawned from, as JSON; empty: not known.
std::string_view ParentProcess(const Trace& trace) {
  const MetadataColumns& metadata = trace.metadata();
  for (size_t row = 0; row < metadata.size(); ++row) {
    const std::string_view json = trace.text(metadata.json[row]);
    const bool is_number = !json.empty() && json.find_first_not_of("0123456789") == std::string_view::npos;
    if (is_number && trace.text(metadata.key[row]) == "parent_pid") return json;
  }
  return {};
}

}  // namespace

std::string ProblemsJson(const Trace& trace) {
  const ProblemColumns& problems = trace.problems();
  std::string out = "[";
  for (size_t i = 0; i < problems.size(); ++i) {
    out += i == 0 ? "\n" : ",\n";
    JsonObject object(&out);
    object.Text("kind", trace.text(problems.kind[i]));
    object.Text("severity", SeverityName(problems.severity[i]));
    object.Uint("count", problems.count[i]);
    object.Int("first_offset", problems.first_offset[i]);
    object.Text("message", trace.text(problems.message[i]));
    object.Close();
  }
  return out + (problems.size() == 0 ? "]" : "\n]");
}

std::string FormatProblems(const Trace& trace) {
  const ProblemColumns& problems = trace.problems();
  std::string out;
  for (size_t i = 0; i < problems.size(); ++i) {
    out += SeverityName(problems.severity[i]) == "data_loss" ? "data loss" : SeverityName(problems.severity[i]);
    out += ": " + Shown(trace.text(problems.message[i])) + " (" + Shown(trace.text(problems.kind[i]));
    out += ", " + std::to_string(problems.count[i]) + "x";
    if (problems.first_offset[i] >= 0) out += ", first at byte " + std::to_string(problems.first_offset[i]);
    out += ")\n";
  }
  return out;
}

std::string InfoJson(const Trace& trace, const Quality& quality, const InfoLists& lists) {
  const TraceInfo& info = trace.info();
  const SpanCounts spans = CountSpans(trace);
  const auto [tracks, processes] = CountTracksAndProcesses(trace);
  std::string out;
  JsonObject object(&out);
  object.Text("schema", "opscope.info/1");
  object.Text("format", info.format);
  object.Text("format_version", info.format_version);
  object.Text("compressed", info.compressed);
  object.Uint("processes", processes);
  if (const std::string_view parent = ParentProcess(trace); !parent.empty()) {
    object.Key("parent_pid");
    out += parent;
  }
  object.Uint("tracks", tracks);
  object.Uint("spans", spans.events);
  object.Uint("async_spans", trace.async_spans().size());
  object.Uint("instants", trace.instants().size());
  object.Uint("counters", trace.counters().size());
  object.Uint("flows", trace.flows().size());
  object.Uint("allocations", trace.allocations().size());
  object.Uint("steps", trace.steps().size());
  object.Uint("strings", trace.string_count());
  object.Uint("recorded", info.recorded);
  object.Uint("dropped", info.dropped);
  object.Text("epoch_ns", std::to_string(info.epoch_ns));
  object.Int("start_ns", spans.first.ns);
  object.Int("end_ns", spans.last.ns);
  object.Key("options");
  out += info.options_json.empty() ? "{}" : info.options_json;
  AddCutOff(trace, &object, &out);
  const Result<OwnCostOfSpans> own_cost = MeasureOwnCost(trace);
  object.Key("own_cost");
  out += own_cost.ok() ? OwnCostJson(trace, CorrectionOf(own_cost.value())) : "null";
  AddLists(trace, lists, &object, &out);
  object.Key("problems");
  out += ProblemsJson(trace);
  object.Key("quality");
  out += QualityJson(quality);
  object.Close();
  return out + "\n";
}

std::string InfoCsv(const Trace& trace, std::string_view file, bool has_header) {
  const TraceInfo& info = trace.info();
  const SpanCounts spans = CountSpans(trace);
  const auto [tracks, processes] = CountTracksAndProcesses(trace);
  const auto number = [](uint64_t value) { return std::vector<int64_t>{static_cast<int64_t>(value)}; };
  RowTable row;
  row.AddTexts("file", "", {std::string(file)});
  row.AddTexts("format", "", {info.format});
  row.AddTexts("format_version", "", {info.format_version});
  row.AddTexts("compressed", "", {info.compressed});
  const std::pair<const char*, uint64_t> counts[] = {{"processes", processes},
                                                     {"tracks", tracks},
                                                     {"spans", spans.events},
                                                     {"async_spans", trace.async_spans().size()},
                                                     {"instants", trace.instants().size()},
                                                     {"counters", trace.counters().size()},
                                                     {"flows", trace.flows().size()},
                                                     {"allocations", trace.allocations().size()},
                                                     {"steps", trace.steps().size()},
                                                     {"strings", trace.string_count()},
                                                     {"recorded", info.recorded},
                                                     {"dropped", info.dropped}};
  for (const auto& [key, count] : counts)
    row.AddNumbers(key, "", RowUnit::kNumber, number(count));
  for (const auto& [key, ns] : {std::pair("epoch_ns", info.epoch_ns), std::pair("start_ns", spans.first.ns),
                                std::pair("end_ns", spans.last.ns)})
    row.AddNumbers(key, "", RowUnit::kNumber, {ns});
  row.AddNumbers("problems", "", RowUnit::kNumber, number(trace.problems().size()));
  const std::string text = row.Csv(0);
  return has_header ? text : text.substr(text.find("\r\n") + 2);
}

std::string FormatInfo(const Trace& trace) {
  const TraceInfo& info = trace.info();
  const SpanCounts spans = CountSpans(trace);
  const auto [tracks, processes] = CountTracksAndProcesses(trace);
  std::vector<std::pair<std::string, std::string>> lines = {
      {"Format", info.format + (info.format_version.empty() ? "" : " " + info.format_version) +
                     (info.compressed == "none" ? "" : ", " + info.compressed)},
      {"Time", HumanTime((spans.last - spans.first).ns)},
      {"Processes", std::to_string(processes)},
      {"Tracks", std::to_string(tracks)},
      {"Spans", std::to_string(spans.events)},
  };
  if (const std::string_view parent = ParentProcess(trace); !parent.empty()) {
    lines.emplace(lines.begin() + 3, "Child of", "process " + std::string(parent));
  }
  if (const std::optional<DumpCause> cause = CauseOfDump(trace)) {
    lines.emplace(lines.begin() + 1, "Dumped", DumpInWords(*cause));
  }
  const std::pair<const char*, uint64_t> counts[] = {
      {"Async spans", trace.async_spans().size()},  {"Instants", trace.instants().size()},
      {"Counter samples", trace.counters().size()}, {"Flows", trace.flows().size()},
      {"Allocations", trace.allocations().size()},  {"Steps", trace.steps().size()},
  };
  for (const auto& [title, count] : counts) {
    if (count > 0) lines.emplace_back(title, std::to_string(count));
  }
  lines.emplace_back("Strings", std::to_string(trace.string_count()));
  lines.emplace_back("Recorded",
                     std::to_string(info.recorded) + " events, " + std::to_string(info.dropped) + " dropped");
  lines.emplace_back("In memory", HumanBytes(static_cast<int64_t>(trace.memory_bytes())));
  if (info.epoch_ns != 0) lines.emplace_back("Epoch", std::to_string(info.epoch_ns) + " ns since 1970");
  if (const Result<OwnCostOfSpans> own_cost = MeasureOwnCost(trace); own_cost.ok()) {
    lines.emplace_back("Recording cost", FormatOwnCost(trace, CorrectionOf(own_cost.value())));
  }
  if (std::string words = OptionsInWords(info.options_json); !words.empty()) lines.emplace_back("Options", words);
  std::string out;
  for (const auto& [title, value] : lines) {
    AppendPadded(title, title.size(), 17, true, &out);
    out += Shown(value) + "\n";
  }
  out += FormatOpenSpans(trace);
  if (trace.problems().size() > 0) out += "Problems\n";
  std::string problems = FormatProblems(trace);
  for (size_t at = 0; at < problems.size();) {
    const size_t end = problems.find('\n', at) + 1;
    out += "  " + problems.substr(at, end - at);
    at = end;
  }
  return out;
}

}  // namespace opscope
