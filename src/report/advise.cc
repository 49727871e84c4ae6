// The findings of `opscope advise`: columns, and a message for each kind. A message is a sentence with words in
// capitals that the numbers of the finding replace, "The program waits for the device TIMES, mostly in NAME", so that
// all messages stand in one list and no kind needs code of its own.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/advise.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/escaped_text.h"
#include "base/json_object.h"
#include "base/saturating.h"
#include "base/text.h"
#include "report/code_points.h"
#include "report/human_units.h"
#include "report/result_units.h"
#include "report/track_text.h"

namespace opscope {
namespace {

using namespace result_units;

// A message, with words in capitals. NAME: the span of the evidence that took most time; TIMES, RUNS: "2 times per step",
// "2 runs per step"; COUNT: "12 times"; BYTES: the growth; RANK: of the first evidence.
struct Message {
  std::string_view text;
  // For traces without operators of torch, if `text` advises something that only torch has; "": `text` suits all.
  std::string_view without_torch = {};
};

// By FindingKind.
constexpr Message kMessages[] = {
    {"The program waits for the device TIMES, mostly in NAME, and the device is idle afterwards. Keep the value on the "
     "device, or read it some steps later."},
    {"The device waits for the host to launch work, TIMES, most of all before NAME. Launch less: CUDA graphs, "
     "torch.compile, larger batches.",
     "The device waits for the host to launch work, TIMES, most of all before NAME. Launch less: larger batches, or a "
     "graph that is compiled or captured."},
    {"The program waits for input data in NAME. Load it ahead of time, in more workers."},
    {"Pointwise operations follow each other, RUNS, such as one that begins with NAME. Fuse them, for example by "
     "torch.compile.",
     "Pointwise operations follow each other, RUNS, such as one that begins with NAME. Fuse them, for example by the "
     "compiler of the framework."},
    {"Data is copied between host and device while no kernel runs, TIMES, mostly by NAME. Use pinned memory and "
     "non_blocking=True, or keep the data on the device.",
     "Data is copied between host and device while no kernel runs, TIMES, mostly by NAME. Copy from pinned memory "
     "without waiting, or keep the data on the device."},
    {"Data is exchanged between ranks while nothing is computed. Overlap it with the backward pass, or send less."},
    {"A compiler runs after the first step, mostly in NAME. Look for what changes from step to step: shapes, Python "
     "values, attributes of modules."},
    {"NAME is called COUNT after the first two steps. Let the allocator keep its memory: no empty_cache(), and the "
     "same sizes in each step."},
    {"Each step leaves BYTES more allocated than the step before. Look for tensors that the program keeps, such as "
     "losses with their graph."},
    {"Rank RANK computes longer than the others, which wait for it. Divide the work evenly."},
    {"One of the threads that run NAME takes longer than the others beside it. Divide the work evenly."},
    {"Single values of tensors are read one after the other, RUNS, such as one that begins with NAME. Compute with "
     "whole tensors, and read the result."},
    {"Tensors are copied or converted, TIMES, mostly in NAME. Keep them in the type and the layout in which they are "
     "used."},
    {"NAME updates each weight by several operators. Fuse them: fused=True or, if the optimizer has no such argument, "
     "foreach=True."},
    {"torch computes with more threads than the process may use processors, most of all in NAME. Start as many as "
     "there are processors, by OMP_NUM_THREADS or torch.set_num_threads."},
    {"The first step takes much longer than the others, mostly in NAME. Prepare that before, or keep its result for "
     "the next run."},
};
static_assert(std::size(kMessages) == kFindingKinds);

// Longer names, such as those of C++ templates, are cut in messages; the evidence has them whole.
constexpr size_t kLongestName = 60;

std::string_view ConfidenceName(Confidence confidence) {
  constexpr std::string_view kNames[] = {"low", "medium", "high"};
  return kNames[static_cast<size_t>(confidence)];
}

// The name of the evidence that took most time.
std::string MainName(const Trace& trace, const Finding& finding) {
  std::map<StringId, int64_t> times;
  for (const Evidence& evidence : finding.evidence) {
    int64_t& time = times[evidence.name];
    time = SaturatingAdd(time, SaturatingSubtract(evidence.end_ns, evidence.start_ns));
  }
  const auto most =
      std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == times.end()) return "";
  const std::string name = EscapedText(trace.text(most->first));
  return CountCodePoints(name) <= kLongestName ? name : std::string(FirstCodePoints(name, kLongestName - 3)) + "...";
}

// "once", "2 times", "1.5 times"; of runs "1 run", "2 runs".
std::string TimesText(double number) {
  return number == 1 ? "once" : FixedText(number, number == std::floor(number) ? 0 : 1) + " times";
}

std::string RunsText(double number) {
  return FixedText(number, number == std::floor(number) ? 0 : 1) + (number == 1 ? " run" : " runs");
}

struct FindingLine {
  const Advice* advice;
  const Finding* finding;
};

constexpr ResultField<FindingLine> kFindingFields[] = {
    {{"kind", "Finding", kText, "What it is: `sync_points`, `launch_bound`, ... ([advice](analyses.md#advice))."},
     [](const FindingLine& l) { return FindingKindName(l.finding->kind); }},
    {{"message", "", kText, "What it means and what to do, in words."},
     [](const Trace& trace, const FindingLine& l) { return FindingMessage(trace, *l.advice, *l.finding); }},
    {{"saving_ns", "Saving per step", kTime, "Estimate of the time per step that is saved if the cause is gone."},
     [](const FindingLine& l) { return l.finding->saving_ns; }},
    {{"share", "Of the step", kShare, "`saving_ns` as a part of `step_mean_ns`."},
     [](const FindingLine& l) { return ShareOf(l.finding->saving_ns, l.advice->step_mean_ns); }},
    {{"bytes_per_step", "Growth", kBytes, "Of `memory_growth` alone: median growth per step.", kIfKnown},
     [](const FindingLine& l) { return l.finding->bytes_per_step; }},
    {{"confidence", "Confidence", kText, "How sure it is that the saving would be had: `high`, `medium`, `low`."},
     [](const FindingLine& l) { return ConfidenceName(l.finding->confidence); }},
    {{"count", "Count", kNumber, "Number of spans, gaps or runs that it consists of."},
     [](const FindingLine& l) { return l.finding->count; }},
};

constexpr ResultField<Evidence> kEvidenceFields[] = {
    {{"rank", "", kNumber, "Rank of the process; -1 if the input does not say it."},
     [](const Evidence& e) { return e.rank; }},
    {{"track", "", kText, "`PID/TID` of the thread or stream; empty where no single one is meant."},
     [](const Trace& trace, const Evidence& e) { return TrackText(trace, e.track); }},
    {{"name", "", kText, "Name of the span; empty where a whole step or the window is meant."},
     [](const Trace& trace, const Evidence& e) { return trace.text(e.name); }},
    {{"start_ns", "", kTime, "Begin, since `epoch_ns`."}, [](const Evidence& e) { return e.start_ns; }},
    {{"end_ns", "", kTime, "End, since `epoch_ns`."}, [](const Evidence& e) { return e.end_ns; }},
};

std::vector<FindingLine> FindingLines(const Advice& advice) {
  std::vector<FindingLine> lines;
  lines.reserve(advice.findings.size());
  for (const Finding& finding : advice.findings)
    lines.push_back({&advice, &finding});
  return lines;
}

}  // namespace

std::string FindingMessage(const Trace& trace, const Advice& advice, const Finding& finding) {
  const Message& words = kMessages[static_cast<size_t>(finding.kind)];
  const bool uses_text = words.without_torch.empty() || advice.has_torch_operators;
  std::string message(uses_text ? words.text : words.without_torch);
  const auto replace = [&](std::string_view word, const std::string& by) {
    if (const size_t at = message.find(word); at != message.npos) message.replace(at, word.size(), by);
  };
  const auto count = static_cast<double>(finding.count);
  const double rate = advice.has_steps ? count / static_cast<double>(std::max<uint64_t>(1, advice.steps)) : count;
  const char* const per_step = advice.has_steps ? " per step" : "";
  replace("TIMES", TimesText(rate) + per_step);
  replace("RUNS", RunsText(rate) + per_step);
  replace("COUNT", TimesText(count));
  replace("BYTES", HumanBytes(finding.bytes_per_step.value_or(0)));
  replace("RANK", finding.evidence.empty() ? "" : std::to_string(finding.evidence.front().rank));
  const std::string name = MainName(trace, finding);
  if (name.empty()) replace(", mostly in NAME", "");
  replace("NAME", name);
  return message;
}

const ResultDescription& AdviceResult() {
  static const ResultDescription description =
      DescribeResult<FindingLine>("advise", "rows", "A cause that slows the program down.", kFindingFields);
  return description;
}

const ResultDescription& EvidenceResult() {
  static const ResultDescription description = DescribeResult<Evidence>(
      "advise", "evidence", "A time range that a finding rests on; a list within each row. The longest ones are there.",
      kEvidenceFields);
  return description;
}

ResultTable AdviceTable(const Trace& trace, const Advice& advice) {
  return MakeResultTable<FindingLine>(AdviceResult(), kFindingFields, trace, FindingLines(advice));
}

ResultTable EvidenceTable(const Trace& trace, const Advice& advice) {
  std::vector<Evidence> all;
  for (const Finding& finding : advice.findings)
    all.insert(all.end(), finding.evidence.begin(), finding.evidence.end());
  return MakeResultTable<Evidence>(EvidenceResult(), kEvidenceFields, trace, all);
}

VerbResult AdviseVerbResult(const Trace& trace, const Advice& advice) {
  VerbResult result;
  std::vector<uint32_t> first = {0};
  for (const Finding& finding : advice.findings) {
    first.push_back(first.back() + static_cast<uint32_t>(finding.evidence.size()));
    result.note +=
        "\n" + std::string(FindingKindName(finding.kind)) + ": " + FindingMessage(trace, advice, finding) + "\n";
  }
  if (advice.findings.empty()) {
    result.note = "nothing found\n";
  } else if (!advice.has_steps) {
    result.note += "\nThe trace has no steps; all of it counts as one step.\n";
  }
  result.tables.push_back(AdviceTable(trace, advice));
  result.tables.back().Nest(EvidenceTable(trace, advice), first);
  result.facts_json =
      "\"steps\":" + std::to_string(advice.steps) + ",\"step_mean_ns\":" + std::to_string(advice.step_mean_ns);
  return result;
}

}  // namespace opscope
