// `opscope report`: one HTML page that shows a trace, or the traces of a job, in any browser.
//
//   opscope report rank0.json rank1.json --baseline before.opscope -o job.html
//
// Several files are merged first, as `opscope merge` does. A damaged input has a page too, which shows its
// problems; the exit code is then 3. The page of a JOB has a tab Ranks, and the spans of the ranks that --ranks
// chooses.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/assign.h"
#include "cli/exit_code.h"
#include "cli/job_input.h"
#include "cli/open_browser.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/export/html.h"

namespace opscope {
namespace {

struct ReportVerbOptions {
  CommonOptions common;
  OutputOptions output;
  std::string baseline;
  std::vector<std::string> ranks;
  uint64_t max_size = PageOptions::kDefaultBytes;
  std::string title;
  std::string theme = "auto";
  bool open = false;
};

// "run.json" of "/home/me/run.json".
std::string LastPart(const std::string& file) {
  const std::string name = InputName(file);
  const size_t slash = name.rfind('/');
  return slash == std::string::npos || slash + 1 == name.size() ? name : name.substr(slash + 1);
}

// "rank0.json", "rank0.json, rank1.json", "rank0.json and 7 more".
std::string TitleOf(const std::vector<std::string>& files) {
  if (files.size() == 2) return files[0] + ", " + files[1];
  return files[0] + (files.size() > 1 ? " and " + std::to_string(files.size() - 1) + " more" : "");
}

int WritePage(const JobInput& input, const Trace* baseline, const ReportVerbOptions& options) {
  HtmlExportOptions html_options;
  for (const std::string& file : options.common.files)
    html_options.files.push_back(LastPart(file));
  html_options.title = options.title.empty() ? TitleOf(html_options.files) : options.title;
  html_options.baseline = baseline;
  html_options.job = input.overview.get();
  html_options.page = {.max_bytes = options.max_size,
                       .theme = PageThemeFromName(options.theme).value_or(PageTheme::kAuto)};
  if (options.output.path != "-") return ExitFor(ExportHtml(input.trace, options.output.path, html_options));
  const Result<std::string> page = HtmlText(input.trace, html_options);
  return ExitFor(page.ok() ? WriteStandardOutput(page.value()) : Status(page.error()));
}

// A JOB with its answers, or files as one trace.
Result<JobInput> OpenPageInput(const ReportVerbOptions& options, const CliHost& host) {
  const std::vector<std::string>& files = options.common.files;
  OPSCOPE_ASSIGN(const std::vector<int32_t> ranks, ReadRanks(options.ranks));
  if (files.size() == 1 && IsJob(files[0])) return OpenJobInput(files[0], options.common, ranks, host);
  OPSCOPE_ASSIGN(Trace trace, OpenJob(options.common));
  JobInput input;
  input.trace = std::move(trace);
  return input;
}

int ReportOnJob(const ReportVerbOptions& options, const CliHost& host) {
  const Result<JobInput> input = OpenPageInput(options, host);
  if (!input.ok()) return ExitFor(input.error());
  const Trace& trace = input.value().trace;
  Result<Trace> baseline = Trace();
  if (!options.baseline.empty()) baseline = OpenInput(options.baseline, options.common);
  if (!baseline.ok()) return ExitFor(baseline.error());
  if (const int written = WritePage(input.value(), options.baseline.empty() ? nullptr : &baseline.value(), options))
    return written;
  int code = ReportJobInput(input.value(), JobName(options.common), options.common);
  ProblemKinds said;
  if (input.value().overview != nullptr) {
    for (const JobProblem& problem : input.value().overview->problems)
      said.insert(problem.kind);
  }
  code = WorseExit(code, ReportInput(trace, JobName(options.common), options.common, said));
  if (!options.baseline.empty())
    code = WorseExit(code, ReportInput(baseline.value(), options.baseline, options.common));
  if (!options.open) return code;
  if (const Status opened = OpenBrowser(FileAddress(options.output.path)); !opened.ok())
    PrintError(opened.error().message);  // the page is there all the same
  return code;
}

int RunReport(const ReportVerbOptions& options, const CliHost& host) {
  if (options.max_size < PageOptions::kMinBytes) return UsageError("report: --max-size: a page takes at least 1M");
  if (options.open && options.output.path == "-")
    return UsageError("report: --open: the page needs a file, -o OUT.html");
  if (const Result<std::vector<int32_t>> ranks = ReadRanks(options.ranks); !ranks.ok())
    return UsageError("report: " + ranks.error().message);
  std::vector<std::string> inputs = options.common.files;
  if (!options.ranks.empty() && (inputs.size() > 1 || !IsJob(inputs[0])))
    return UsageError("report: --ranks chooses from a folder of `opscope collect`, and takes one such folder");
  if (!options.baseline.empty()) inputs.push_back(options.baseline);
  if (const int refused = RefuseInputAsOutput("report", options.output.path, inputs)) return refused;
  return UseInput(options.common.files[0], [&] { return ReportOnJob(options, host); });
}

}  // namespace

Verb ReportVerb(const CliHost& host) {
  auto options = std::make_shared<ReportVerbOptions>();
  Verb verb{.names = {"report"},
            .description = "one HTML page for the browser: timeline, flame graph, tables, memory",
            .run = [options, &host] { return RunReport(*options, host); }};
  options->common.clocks = JobClocks::kAligned;
  AddCommonOptions(&verb, &options->common);
  AddOutputOptions(&verb, &options->output);
  verb.Add({"--baseline"}, &options->baseline, "the run to compare with, as diff compares two files");
  verb.Add({.names = {"--ranks"},
            .target = &options->ranks,
            .description =
                "of a folder of `opscope collect`: the spans of these ranks alone; default: all, or the ranks that "
                "matter most if all have more than 20 million spans. The tab Ranks has all ranks",
            .delimiter = ','});
  verb.Add({"--max-size"}, &options->max_size,
           "largest size of the page (suffixes K, M, G), at least 1M; default 10M; what does not fit is "
           "folded, and the page says how much");
  verb.Add({"--title"}, &options->title, "title of the page, instead of the name of the file");
  verb.Add({.names = {"--theme"},
            .target = &options->theme,
            .description = "the colours at first; auto follows the system",
            .choices = {"auto", "light", "dark"}});
  verb.Add({"--open"}, &options->open, "open the page: $BROWSER, or the desktop's");
  return verb;
}

}  // namespace opscope
