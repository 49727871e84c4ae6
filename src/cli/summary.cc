// `opscope summary`: the operator table in opscope's layout, or in torch's or Paddle's.
//
// The options select spans, group keys, the sort key and the layout; the analysis runs once and every layout prints the
// same summary. If the result has no rows, the message says why.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/exit_code.h"
#include "cli/job_verbs.h"
#include "cli/paddle_summary.h"
#include "cli/result_options.h"
#include "cli/selection.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/analysis/async_summary.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/report.h"
#include "opscope/report/job_report.h"
#include "opscope/report/missing_data.h"

namespace opscope {
namespace {

// Limit for the texts of keys: 30,000 nested calls have 30,000 stacks, 14 GB together.
constexpr size_t kMaxKeyBytes = size_t{1} << 30;
// torch's group_by_stack_n: enough frames to distinguish call sites.
constexpr int kStackFrames = 5;

struct SummaryOptions {
  CommonOptions common;
  std::string style = "plain";
  ResultVerbOptions rows;
  std::vector<std::string> group_names = {"name"};
  std::vector<GroupKey> group_by;
  bool all = false;
  bool quantiles = false;
  bool exact = false;
  bool flop_rate = false;
  double peak_flops = 0;
  bool corrected = false;
  PaddleSummaryOptions paddle;
  SelectionOptions selection;
  std::optional<SpanFilter> filter;  // read from `selection`

  // Another profiler's tables, which have no other form.
  bool is_like(const char* profiler) const { return style == profiler && common.prints_text(); }
};

// overhead: null unless times are to be corrected.
int PrintTorchTable(const Trace& trace, const std::string& file, const SummaryOptions& options,
                    const SpanOverheads* overhead, ResultWriter* writer) {
  AverageOptions average;
  for (GroupKey key : options.group_by) {
    if (key == GroupKey::kShape) average.group_by_input_shape = true;
    if (key == GroupKey::kStack) average.group_by_stack_n = kStackFrames;
  }
  FunctionEvents events = BuildFunctionEvents(trace);
  TorchTableOptions table;
  if (overhead != nullptr) table.note = FormatCorrection(CorrectFunctionEvents(*overhead, &events));
  const std::vector<FunctionEventAverage> averages = AverageFunctionEvents(trace, events, average);
  table.sort_by = options.rows.sort.empty() ? "cpu_time_total" : options.rows.sort;
  table.row_limit = options.rows.limit > 0 ? options.rows.limit : -1;
  table.profile_memory = events.profile_memory;
  table.with_flops = events.with_flops;
  table.use_device = events.use_device;
  table.fail_like_torch = false;
  table.is_escaped = true;
  table.width = writer->width();
  Result<std::string> text = FormatTorchTable(TorchTableRows(trace, events, averages), table);
  if (!text.ok()) return UsageError("summary: --sort: " + text.error().message);
  if (averages.empty() && (trace.spans().size() > 0 || !options.filter)) {
    const std::string nothing = DescribeEmptySelection(trace, std::nullopt);
    ReportNoResult(file, options.common, nothing.empty() ? "it has no events that torch's table shows" : nothing);
  }
  return writer->Write(file, text.value(), false);
}

// What to record for keys that are empty in all rows, in a sentence; "": none is.
std::string DescribeMissingKeys(const OpSummary& summary) {
  constexpr std::pair<std::string_view, const char*> kReasons[] = {
      {"shape", kNoShapes},   {"stack", kNoStacks},
      {"module", kNoModules}, {"rank", "it does not say which rank it is of"},
      {"step", kNoSteps},
  };
  std::string why;
  for (size_t key = 0; key < summary.key_names.size(); ++key) {
    const auto is_empty = [&](const OpSummaryRow& row) { return row.keys[key].empty(); };
    if (!std::all_of(summary.rows.begin(), summary.rows.end(), is_empty)) continue;
    for (const auto& [name, reason] : kReasons)
      if (summary.key_names[key] == name) why.append(why.empty() ? "" : "; ").append(reason);
  }
  return why;
}

// nothing: what DescribeEmptySelection says.
std::string WhyEmpty(const OpSummary& summary, const std::string& nothing) {
  if (!summary.rows.empty()) return DescribeMissingKeys(summary);
  return nothing.empty() ? "there is only the recording's own span, which --all shows" : nothing;
}

OpSummaryOptions CountedBy(const SummaryOptions& options) {
  return {.group_by = options.group_by,
          .join_steps = options.common.prints_text(),
          .leaves_out_window = options.common.prints_text() && !options.all};
}

ResultVerbOptions SortedByTotal(ResultVerbOptions rows) {
  if (rows.sort.empty()) rows.sort = "total_ns";
  return rows;
}

int PrintSummary(const Trace& trace, const std::string& file, const SummaryOptions& options, ResultWriter* writer) {
  std::optional<SpanOverheads> overhead;
  if (options.corrected) {
    Result<SpanOverheads> measured = MeasureOverhead(trace);
    if (!measured.ok()) return ExitFor(Error{measured.error().code, file + ": " + measured.error().message});
    overhead = std::move(measured).value();
  }
  const SpanOverheads* cost = overhead ? &*overhead : nullptr;
  if (options.is_like("torch")) return PrintTorchTable(trace, file, options, cost, writer);
  if (options.is_like("paddle")) return writer->Write(file, PaddleSummaryText(trace, options.paddle), false);
  const SelectedSpans selected(options.filter, trace);
  OpSummaryOptions counted = CountedBy(options);
  counted.overhead = cost;
  counted.selected = selected.get();
  counted.max_key_bytes = kMaxKeyBytes;
  const OpSummary summary = SummarizeOps(trace, counted);
  // Conditions are on spans of tracks alone.
  const std::vector<AsyncSummaryRow> async_rows =
      options.filter ? std::vector<AsyncSummaryRow>() : SummarizeAsyncSpans(trace);
  VerbResult result = SummaryVerbResult(trace, summary, async_rows, {options.flop_rate, options.peak_flops});
  result.why_empty = WhyEmpty(summary, DescribeEmptySelection(trace, options.filter));
  result.basis = BasisIfRequested(options.rows, std::span(&trace, 1), options.filter);
  return PrintResult("summary", file, trace, options.common, SortedByTotal(options.rows), std::move(result), writer);
}

// One rank of a JOB at a time. nullopt: the ranks have to be merged.
std::optional<int> PrintSummaryOfRanks(const std::string& job, const SummaryOptions& options, const CliHost& host,
                                       ResultWriter* writer) {
  if (options.corrected || !std::all_of(options.group_by.begin(), options.group_by.end(), CanSummarizeByRank))
    return std::nullopt;
  const auto finish = [&options](const JoinedSummary& joined) {
    VerbResult result =
        SummaryVerbResult(joined.names, joined.summary, joined.async_rows, {options.flop_rate, options.peak_flops});
    result.why_empty = WhyEmpty(joined.summary, "");
    return result;
  };
  const std::string verb = "summary";
  const ResultVerbOptions rows = SortedByTotal(options.rows);
  return AnswerOneRankAtATime(job, {verb, options.common, rows}, options.filter,
                              SummaryByRank(CountedBy(options), options.filter, finish), host, writer);
}

bool ReadGroupKeys(SummaryOptions* options) {
  for (const std::string& name : options->group_names) {
    const std::optional<GroupKey> key = GroupKeyFromName(name);
    if (!key) continue;  // Unreachable: the command line lets no other name pass
    if (options->style == "torch" && *key != GroupKey::kName && *key != GroupKey::kShape && *key != GroupKey::kStack) {
      PrintError("summary: --group-by: the torch style groups by name, shape and stack only");
      return false;
    }
    if (options->style == "paddle" && *key != GroupKey::kName) {
      PrintError("summary: --group-by: the paddle style groups by name only");
      return false;
    }
    options->group_by.push_back(*key);
  }
  return true;
}

// Counts and quantiles by name, for which the traces of a JOB need not be opened.
int PrintJobSummary(const std::string& job, const SummaryOptions& options, const CliHost& host, ResultWriter* writer) {
  const auto wrong = [](const std::string& option) {
    return UsageError("summary: --quantiles: over a folder of `opscope collect` not with " + option);
  };
  if (options.style != "plain") return wrong("--style " + options.style);
  if (options.group_names != std::vector<std::string>{"name"}) return wrong("--group-by");
  if (options.filter) return wrong("--where, --steps and --time");
  if (options.corrected) return wrong("--corrected");
  if (options.rows.explain) return wrong("--explain");
  const JobQuestion question{.attempt = options.common.attempt, .is_exact = options.exact};
  const std::string verb = "summary";
  return AnswerOverJob(
      job, {verb, options.common, options.rows}, host,
      [&](JobEngine* engine) { return AnswerJob(verb, engine, question); }, writer);
}

int RunSummary(SummaryOptions* options, const CliHost& host) {
  if (!ReadGroupKeys(options)) return kExitUsage;
  // Rows of other forms are ours, in whichever style people would read them.
  const std::string sort = options->common.prints_text() ? options->rows.sort : "";
  if (Status read = ReadPaddleSummaryOptions(options->style, sort, &options->paddle); !read.ok())
    return UsageError("summary: " + read.error().message);
  if (options->style == "paddle" && options->corrected)
    return UsageError("summary: --corrected: not with --style paddle");
  Result<std::optional<SpanFilter>> filter = ReadSelection(options->selection);
  if (!filter.ok()) return UsageError("summary: " + filter.error().message);
  options->filter = std::move(filter).value();
  if (options->exact && !options->quantiles) return UsageError("summary: --exact: only with --quantiles");
  ResultWriter writer(options->common);
  const auto print = [&](const Trace& trace, const std::string& file) {
    return PrintSummary(trace, file, *options, &writer);
  };
  // Rules of others know no chosen events: their tables are of a trace that has no others.
  const bool is_anothers = options->is_like("torch") || options->is_like("paddle");
  int code = kExitDone;
  for (const std::string& file : std::exchange(options->common.files, {})) {
    options->common.files = {file};
    const bool is_job = IsJob(file);
    std::optional<int> done;
    if (is_job && options->quantiles) done = PrintJobSummary(file, *options, host, &writer);
    if (is_job && !options->quantiles && !is_anothers) done = PrintSummaryOfRanks(file, *options, host, &writer);
    if (!done && is_anothers) done = ForEachSelected(options->common, options->filter, print);
    code = WorseExit(code, done ? *done : ForEachInput(options->common, print));
  }
  return writer.End(code);
}

}  // namespace

Verb SummaryVerb(const CliHost& host) {
  auto options = std::make_shared<SummaryOptions>();
  Verb verb{.names = {"summary", "top"}, .description = "the operator table", .run = [options, &host] {
              return RunSummary(options.get(), host);
            }};
  options->common.engine.why_no_spark = [quantiles = &options->quantiles](const CommonOptions& common) {
    return *quantiles ? WhyNotOneJob(common) : std::string("Spark answers this verb with --quantiles only");
  };
  AddCommonOptions(&verb, &options->common);
  AddResultOptions(&verb, &options->common, &options->rows,
                   "plain: a JSON field such as self_ns or count (default total_ns); torch: an attribute of its rows "
                   "(default cpu_time_total); paddle: one of SortedKeys (default CPUTotal)");
  verb.Add({.names = {"--style"},
            .target = &options->style,
            .description = "plain, torch: the table of torch.profiler, or paddle: the tables of paddle.profiler",
            .choices = {"plain", "torch", "paddle"}});
  AddPaddleSummaryOptions(&verb, &options->paddle);
  verb.Add({"--corrected"}, &options->corrected,
           "times without what recording took; only recordings of opscope say how much that is");
  verb.Add({.names = {"--group-by"},
            .target = &options->group_names,
            .description = "a row for each of these; several with commas",
            .choices = {GroupKeyNames().begin(), GroupKeyNames().end()},
            .delimiter = ','});
  AddSelectionOptions(&verb, &options->selection);
  verb.Add({"--quantiles"}, &options->quantiles,
           "of a folder of `opscope collect`: counts, sums and quantiles by name, without opening its "
           "traces; p50_ns and p99_ns are at most 2.2 % too large, never too small");
  verb.Add({"--exact"}, &options->exact, "with --quantiles: from every span, which takes longer");
  verb.Add({"--all"}, &options->all,
           "show Kineto's own span of the whole recording, \"PyTorch Profiler (0)\", too; --json and "
           "--csv always do");
  verb.Add({"--flop-rate"}, &options->flop_rate, "a column with the floating-point operations per second");
  verb.Add({.names = {"--peak-flops"},
            .target = &options->peak_flops,
            .description =
                "the machine's floating-point operations per second, such as 1.2e12: a column with the share of it",
            .least = 1});
  return verb;
}

}  // namespace opscope
