// Describes a file: format, counts, options, problems; as "opscope.info/1", CSV and text.
//
// The fields are described once as columns of a result with a single row; the text form groups them and leaves out what
// is zero or unknown.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/info.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/escaped_text.h"
#include "base/json_members.h"
#include "base/json_object.h"
#include "base/saturating.h"
#include "opscope/analysis/contents.h"
#include "opscope/report/quality.h"
#include "report/code_points.h"
#include "report/cut_off.h"
#include "report/human_units.h"
#include "report/overhead.h"
#include "report/recording_options.h"
#include "report/result_units.h"

namespace opscope {
namespace {

using namespace result_units;

// What `opscope info` says of a file in plain numbers and texts.
struct InfoFacts {
  std::string file;
  const TraceInfo* info = nullptr;
  uint64_t processes = 0, tracks = 0;
  const Trace* trace = nullptr;
  TraceWindow window = {};
};

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

InfoFacts FactsOf(const Trace& trace, std::string_view file = {}) {
  InfoFacts facts{.file = std::string(file), .info = &trace.info(), .trace = &trace};
  std::tie(facts.tracks, facts.processes) = CountTracksAndProcesses(trace);
  facts.window = WindowOfSpans(trace);
  return facts;
}

constexpr ResultField<InfoFacts> kInfoFields[] = {
    {{"file", "", kText, "Name of the file. In CSV only."}, [](const InfoFacts& f) { return f.file; }},
    {{"format", "", kText, "Format of the file, such as `chrome-json`."},
     [](const InfoFacts& f) { return f.info->format; }},
    {{"format_version", "", kText, "Version of the format; empty if the file does not say it."},
     [](const InfoFacts& f) { return f.info->format_version; }},
    {{"compressed", "", kText, "`gzip`, `zstd` or `none`."}, [](const InfoFacts& f) { return f.info->compressed; }},
    {{"processes", "Processes", kNumber, "Processes with at least one event."},
     [](const InfoFacts& f) { return f.processes; }},
    {{"tracks", "Tracks", kNumber, "Threads and device streams with at least one event."},
     [](const InfoFacts& f) { return f.tracks; }},
    {{"spans", "Spans", kNumber, "Complete events and paired begin and end events."},
     [](const InfoFacts& f) { return f.trace->spans().size(); }},
    {{"async_spans", "Async spans", kNumber, "Paired asynchronous events (`b`, `e`).", kIfNonZero},
     [](const InfoFacts& f) { return f.trace->async_spans().size(); }},
    {{"instants", "Instants", kNumber, "Instants, those of memory included.", kIfNonZero},
     [](const InfoFacts& f) { return f.trace->instants().size(); }},
    {{"counters", "Counter samples", kNumber, "Samples of counters.", kIfNonZero},
     [](const InfoFacts& f) { return f.trace->counters().size(); }},
    {{"flows", "Flows", kNumber, "Arrows: a start joined to each of its ends.", kIfNonZero},
     [](const InfoFacts& f) { return f.trace->flows().size(); }},
    {{"allocations", "Allocations", kNumber, "Allocations and frees.", kIfNonZero},
     [](const InfoFacts& f) { return f.trace->allocations().size(); }},
    {{"steps", "Steps", kNumber, "Steps of the program.", kIfNonZero},
     [](const InfoFacts& f) { return f.trace->steps().size(); }},
    {{"strings", "Strings", kNumber, "Distinct texts."}, [](const InfoFacts& f) { return f.trace->string_count(); }},
    {{"recorded", "", kNumber, "Events that were recorded."}, [](const InfoFacts& f) { return f.info->recorded; }},
    {{"dropped", "", kNumber, "Events that a cap dropped. With `recorded`, all that were issued."},
     [](const InfoFacts& f) { return f.info->dropped; }},
    {{"epoch_ns", "", kNumber,
      "Base of the times since 1970, 0 if the file has none. In JSON a decimal text, as it exceeds 2^53."},
     [](const InfoFacts& f) { return f.info->epoch_ns; }},
    {{"start_ns", "", kTime, "First begin of the spans, since `epoch_ns`."},
     [](const InfoFacts& f) { return f.window.start_ns; }},
    {{"end_ns", "", kTime, "Last end of the spans, since `epoch_ns`."},
     [](const InfoFacts& f) { return f.window.end_ns; }},
    {{"problems", "", kNumber, "Number of problems. In CSV only: JSON lists them."},
     [](const InfoFacts& f) { return f.trace->problems().size(); }},
};

// What JSON writes in another way than CSV.
bool IsInCsvOnly(std::string_view key) {
  return key == "file" || key == "epoch_ns" || key == "problems";
}

ResultTable FactsTable(const InfoFacts& facts, bool is_for_json) {
  ResultTable table(InfoResult());
  for (const ResultField<InfoFacts>& field : kInfoFields) {
    if (!is_for_json || !IsInCsvOnly(field.key))
      table.Add(field, std::span(&facts, 1), [&](const InfoFacts& row) { return field.value(*facts.trace, row); });
  }
  return table;
}

// The process that this one was forked or spawned from, as JSON; empty: not known.
std::string_view ParentProcess(const Trace& trace) {
  const MetadataColumns& metadata = trace.metadata();
  for (size_t row = 0; row < metadata.size(); ++row) {
    const std::string_view json = trace.text(metadata.json[row]);
    const bool is_number = !json.empty() && json.find_first_not_of("0123456789") == std::string_view::npos;
    if (is_number && IsJsonValue(json) && trace.text(metadata.key[row]) == "parent_pid") return json;
  }
  return {};
}

// The options as a JSON object. Those of a damaged file may be any bytes, which are then the text of a member
// "damaged".
std::string JsonOfOptions(const std::string& options) {
  if (options.empty()) return "{}";
  if (options.front() == '{' && IsJsonValue(options)) return options;
  std::string out;
  JsonObject object(&out);
  object.Text("damaged", options);
  object.Close();
  return out;
}

}  // namespace

const ResultDescription& InfoResult() {
  static const ResultDescription description =
      DescribeResult<InfoFacts>("info", "",
                                "A file: its format, how much it holds, when it was recorded. JSON has `options`, "
                                "`own_cost`, `dump`, `open` and the "
                                "lists below, too; [analyses](analyses.md) defines them.",
                                kInfoFields);
  return description;
}

ResultTable InfoTable(const Trace& trace, std::string_view file) {
  return FactsTable(FactsOf(trace, file), false);
}

std::string InfoJson(const Trace& trace, const Quality& quality, const InfoLists& lists) {
  const TraceInfo& info = trace.info();
  std::string out;
  JsonObject object(&out);
  object.Text("schema", "opscope.info/1");
  out += ',';
  FactsTable(FactsOf(trace), true).AppendJsonMembers(0, &out);
  object.Text("epoch_ns", std::to_string(info.epoch_ns));
  if (const std::string_view parent = ParentProcess(trace); !parent.empty()) {
    object.Key("parent_pid");
    out += parent;
  }
  object.Key("options");
  out += JsonOfOptions(info.options_json);
  AddCutOff(trace, &object, &out);
  const Result<SpanOverheads> overhead = MeasureOverhead(trace);
  object.Key("own_cost");
  out += overhead.ok() ? OverheadJson(trace, CorrectionOf(overhead.value())) : "null";
  if (lists.threads) {
    object.Key(ThreadListResult().list);
    ThreadListTable(trace).AppendJson(0, &out);
  }
  if (lists.steps) {
    object.Key(StepListResult().list);
    StepListTable(trace).AppendJson(0, &out);
  }
  object.Key("problems");
  out += ProblemsJson(trace);
  object.Key("quality");
  out += QualityJson(quality);
  object.Close();
  return out + "\n";
}

std::string FormatInfo(const Trace& trace) {
  const TraceInfo& info = trace.info();
  const InfoFacts facts = FactsOf(trace);
  std::vector<std::pair<std::string, std::string>> lines = {
      {"Format", info.format + (info.format_version.empty() ? "" : " " + info.format_version) +
                     (info.compressed == "none" ? "" : ", " + info.compressed)}};
  if (const std::optional<DumpCause> cause = CauseOfDump(trace)) lines.emplace_back("Dumped", DescribeDump(*cause));
  lines.emplace_back("Time", HumanTime(SaturatingSubtract(facts.window.end_ns, facts.window.start_ns)));
  for (auto& [title, cell] : FactsTable(facts, false).TextLines(0)) {
    lines.emplace_back(title, std::move(cell));
    const std::string_view parent = title == "Processes" ? ParentProcess(trace) : std::string_view();
    if (!parent.empty()) lines.emplace_back("Child of", "process " + std::string(parent));
  }
  lines.emplace_back("Recorded",
                     std::to_string(info.recorded) + " events, " + std::to_string(info.dropped) + " dropped");
  lines.emplace_back("In memory", HumanBytes(static_cast<int64_t>(trace.memory_bytes())));
  if (info.epoch_ns != 0) lines.emplace_back("Epoch", std::to_string(info.epoch_ns) + " ns since 1970");
  if (const Result<SpanOverheads> overhead = MeasureOverhead(trace); overhead.ok()) {
    lines.emplace_back("Recording cost", FormatOverhead(trace, CorrectionOf(overhead.value())));
  }
  if (std::string words = DescribeOptions(info.options_json); !words.empty()) lines.emplace_back("Options", words);
  std::string out;
  for (const auto& [title, value] : lines) {
    AppendPadded(title, title.size(), 17, true, &out);
    out += EscapedText(value) + "\n";
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
