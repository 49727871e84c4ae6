// `opscope analyze-megengine`: MegEngine's profile_analyze, with the original's options and output. Reads the JSON of
// get_profile() or a timeline.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/catch_bad_alloc.h"
#include "cli/exit_code.h"
#include "cli/name_pattern.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/megengine/analysis_text.h"
#include "opscope/megengine/operator_profile.h"
#include "opscope/megengine/profile_analyze.h"

namespace opscope {
namespace {

// Names by enumerator of MegEngineAggregate and MegEnginePart; the first enumerator has no name.
constexpr const char* kAggregates[] = {"", "max", "min", "sum", "mean"};
constexpr const char* kParts[] = {"", "summary", "device", "host"};

struct AnalyzeOptions {
  CommonOptions common;
  MegEngineSelection selection{.types = {}, .input_dtype = {}, .order = {}, .top = 3};
  MegEngineTextOptions text;
  std::string aggregate_by;
  std::string aggregate;
  std::string opr_name;
  std::string order_by = "time";
  std::string end_key = "end";
  std::string print_only;
};

template <typename Enum, size_t kSize>
Enum ByName(const char* const (&names)[kSize], const std::string& name) {
  return static_cast<Enum>(std::find(std::begin(names), std::end(names), name) - std::begin(names));
}

Status ReadOptions(AnalyzeOptions* options) {
  MegEngineSelection& selection = options->selection;
  selection.aggregate = ByName<MegEngineAggregate>(kAggregates, options->aggregate);
  selection.by_type = !options->aggregate_by.empty();
  if (selection.by_type && selection.aggregate == MegEngineAggregate::kNone)
    return Error{ErrorCode::kInvalidArgument, "--aggregate-by: --aggregate must say how", 0};
  selection.is_wait_time = options->end_key == "kern";
  selection.with_copy_time = options->text.with_copy_time;
  options->text.part = ByName<MegEnginePart>(kParts, options->print_only);
  Result<MegEngineOrder> order = ParseMegEngineOrder(options->order_by);
  if (!order.ok()) return Error{ErrorCode::kInvalidArgument, "--order-by: " + order.error().message, 0};
  selection.order = order.value();
  if (!options->opr_name.empty()) {
    auto matches = CompileNamePattern(options->opr_name);
    if (!matches.ok()) return Error{ErrorCode::kInvalidArgument, "--opr-name: " + matches.error().message, 0};
    selection.name_matches = std::move(matches).value();
  }
  return {};
}

// Reports requested values that a timeline does not contain.
void ReportMissingTimelineData(const MegEngineCalls& calls, const MegEngineSelection& selection,
                               const std::string& name) {
  const MegEngineColumn column = selection.order.column;
  if (column == MegEngineColumn::kComputation || column == MegEngineColumn::kFlops)
    PrintError(name + ": a timeline does not say what operators compute: computation and FLOPS are N/A");
  if (calls.untimed > 0) {
    PrintError(name + ": operators left out, as the program's own thread computed them, of which there are no times: " +
               std::to_string(calls.untimed));
  }
}

int Analyze(const AnalyzeOptions& options) {
  const std::string& file = options.common.files.front();
  ImportOptions import;
  import.max_memory = options.common.max_memory;
  import.format = options.common.from;
  import.name = InputName(file);
  const Result<MegEngineProfile> read =
      file == "-" ? ReadMegEngineProfile(STDIN_FILENO, import) : ReadMegEngineProfile(file, import);
  if (!read.ok()) return ExitFor(read.error());
  const MegEngineProfile& profile = read.value();
  if (!profile.is_graph && !HasMegEngineOperators(profile.trace)) {
    return ExitFor(
        Error{ErrorCode::kUnsupported,
              import.name + ": neither the output of MegEngine's get_profile() nor a timeline of its operators", 0});
  }
  const MegEngineCalls calls = profile.is_graph ? MegEngineCalls() : FindMegEngineCalls(profile.trace);
  const MegEngineAnalysis analysis =
      AnalyzeMegEngineOperators(profile.is_graph ? profile.operators : calls.operators, options.selection);
  if (!options.common.quiet) {
    ListProblems(profile.trace, import.name, options.common);
    ReportQuality(profile.trace, import.name);
    if (!profile.is_graph) ReportMissingTimelineData(calls, options.selection, import.name);
  }
  const Status total = profile.is_graph ? CheckMegEngineTotal(analysis, profile.is_on_opencl, import.name) : Status();
  if (!total.ok()) return ExitFor(total);
  const int written = ExitFor(WriteStandardOutput(FormatMegEngineAnalysis(analysis, options.text)));
  return profile.trace.is_partial() ? WorseExit(written, kExitPartial) : written;
}

int RunAnalyze(AnalyzeOptions* options) {
  if (const Status status = ReadOptions(options); !status.ok())
    return UsageError("analyze-megengine: " + status.error().message);
  try {
    return Analyze(*options);
  } catch (const std::bad_alloc& refused) {
    return ExitFor(OutOfMemoryError(InputName(options->common.files.front()), BadAllocText(refused)));
  }
}

void AddChoice(Verb* verb, AnalyzeOptions* options) {
  verb->Add({"--type"}, &options->selection.types, "only operators of this type; may be repeated");
  verb->Add({"--opr-name"}, &options->opr_name,
            "only operators whose name begins with what this regular expression matches");
  verb->Add({"--input-dtype"}, &options->selection.input_dtype, "only operators with an input of this type: Float32");
  verb->Add({"--min-time"}, &options->selection.min_time, "only operators that took so many seconds or more");
  verb->Add({"--max-time"}, &options->selection.max_time, "only operators that took so many seconds or less");
}

void AddLayout(Verb* verb, AnalyzeOptions* options) {
  verb->Add({"--copy-time"}, &options->text.with_copy_time, "in the summary the time of copies, and what they waited");
  verb->Add({"--show-host"}, &options->text.with_host, "a second table, of times on threads");
  verb->Add({"--dump-only-opr"}, &options->text.is_list,
            "lines NAME TYPE ID in place of tables, to be compared with diff");
  verb->Add({"--wiki", "--confluence"}, &options->text.is_for_confluence,
            "tables for a Confluence or Markdown page, with bars");
  verb->Add({.names = {"--print-only"},
             .target = &options->print_only,
             .description = "only this part",
             .choices = {"summary", "device", "host"}});
}

}  // namespace

Verb AnalyzeMegEngineVerb() {
  auto options = std::make_shared<AnalyzeOptions>();
  Verb verb{.names = {"analyze-megengine"},
            .description = "the operators of a MegEngine program that took the longest: its profile_analyze",
            .run = [options] { return RunAnalyze(options.get()); }};
  AddCommonOptions(&verb, &options->common, InputFiles::kOne);
  verb.Add({"-t", "--top"}, &options->selection.top, "so many rows; 0: all; negative: all but so many of the last");
  AddChoice(&verb, options.get());
  verb.Add({.names = {"--aggregate"},
            .target = &options->aggregate,
            .description = "one row for all, of these of their values",
            .choices = {"max", "min", "sum", "mean"}});
  verb.Add({.names = {"--aggregate-by"},
            .target = &options->aggregate_by,
            .description = "with --aggregate: a row per type",
            .choices = {"type"}});
  verb.Add({"--order-by"}, &options->order_by,
           "time, computation, memory, flops, bandwidth, opr_id, in_shapes or out_shapes, the greatest "
           "first; with + before it the least");
  verb.Add({.names = {"--top-end-key"},
            .target = &options->end_key,
            .description = "end: the whole time; kern: until the kernel begins, the time of waiting",
            .choices = {"end", "kern"}});
  AddLayout(&verb, options.get());
  return verb;
}

}  // namespace opscope
