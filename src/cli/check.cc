// `opscope check`: compares metrics of a trace with limits, and reports the result to continuous integration by its
// exit code and as JUnit XML.
//
// Everything that can be wrong with the limits is found before a trace is opened, so that wrong usage costs no time.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/check.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/assign.h"
#include "base/file.h"
#include "cli/check_rules.h"
#include "cli/exit_code.h"
#include "cli/job_verbs.h"
#include "cli/output.h"
#include "cli/result_options.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/export.h"
#include "opscope/job.h"
#include "opscope/report/check.h"

namespace opscope {
namespace {

constexpr size_t kMaxRulesBytes = size_t{16} << 20;

struct CheckOptions {
  CommonOptions common;
  ResultVerbOptions rows;
  OptionSequence given;  // --rules, --min, --max, --max-increase, --max-decrease
  std::optional<std::string> baseline, junit;
};

// What the options and the rules file ask for.
struct CheckPlan {
  std::string rules_file;  // "": none
  std::string baseline;    // "": none
  std::vector<CheckLimit> limits;
};

Result<std::string> ReadRulesFile(const std::string& path) {
  OPSCOPE_ASSIGN(InputFile file, InputFile::Open(path));
  std::string text;
  std::vector<std::byte> bytes(1 << 16);
  while (text.size() < kMaxRulesBytes) {
    OPSCOPE_ASSIGN(const size_t read, file.Read(bytes));
    if (read == 0) return text;
    text.append(reinterpret_cast<const char*>(bytes.data()), read);
  }
  return Error{ErrorCode::kMalformed, path + ": rules have at most 16 MiB"};
}

int AddRulesFile(const std::string& path, CheckPlan* plan) {
  if (!plan->rules_file.empty()) return UsageError("check: --rules: there may be one");
  plan->rules_file = path;
  const Result<std::string> text = ReadRulesFile(path);
  if (!text.ok()) return ExitFor(text.error());
  const Result<CheckRules> rules = ParseCheckRules(text.value());
  if (!rules.ok()) return UsageError(path + ": " + rules.error().message);
  const std::string& baseline = rules.value().baseline;
  if (!baseline.empty()) plan->baseline = (std::filesystem::path(path).parent_path() / baseline).string();
  plan->limits.insert(plan->limits.end(), rules.value().limits.begin(), rules.value().limits.end());
  return kExitDone;
}

std::optional<LimitKind> KindOfOption(const std::string& option) {
  if (option == "--min") return LimitKind::kMin;
  if (option == "--max") return LimitKind::kMax;
  if (option == "--max-increase") return LimitKind::kMaxIncrease;
  if (option == "--max-decrease") return LimitKind::kMaxDecrease;
  return std::nullopt;
}

// Gives an exit code other than 0 after a message.
int ReadPlan(const CheckOptions& options, CheckPlan* plan) {
  for (const OptionSequence::Given& given : options.given.given) {
    const std::optional<LimitKind> kind = KindOfOption(given.option);
    if (!kind) {
      if (const int wrong = AddRulesFile(given.value, plan)) return wrong;
      continue;
    }
    const Result<CheckLimit> limit = ParseLimit(*kind, given.value);
    if (!limit.ok()) return UsageError("check: " + given.option + ": " + limit.error().message);
    plan->limits.push_back(limit.value());
  }
  if (options.baseline) plan->baseline = *options.baseline;
  if (plan->limits.empty()) return UsageError("check: there is no limit; give --rules, --max, --min or the like");
  for (const CheckLimit& limit : plan->limits) {
    if (IsRelative(limit.kind) && plan->baseline.empty())
      return UsageError("check: " + std::string(LimitKindName(limit.kind)) + " needs a --baseline");
  }
  return kExitDone;
}

int WriteJUnit(const std::optional<std::string>& output, const std::vector<CheckRow>& rows) {
  if (!output) return kExitDone;
  const std::string xml = CheckJUnit(rows);
  return ExitFor(*output == "-" ? WriteStandardOutput(xml) : WriteText(*output, xml));
}

int ExitForRows(const std::vector<CheckRow>& rows) {
  const bool all_passed = std::all_of(rows.begin(), rows.end(), [](const CheckRow& row) { return row.passed; });
  return all_passed ? kExitDone : kExitLimit;
}

// One rank of a JOB, and of the JOB to compare with, at a time. nullopt: the ranks have to be merged.
std::optional<int> CheckRanksOfJobs(const CheckOptions& options, const CheckPlan& plan, const CliHost& host) {
  const CommonOptions& common = options.common;
  std::vector<std::string> jobs = common.files;
  if (!plan.baseline.empty()) jobs.push_back(plan.baseline);
  if (common.files.size() > 1) return std::nullopt;
  if (!std::all_of(jobs.begin(), jobs.end(), IsJob)) return std::nullopt;
  CheckMetrics metrics(plan.limits), baseline = CheckMetrics::OfBaseline(plan.limits);
  QuestionToJobs question;
  question.needs_steps = NeedsSteps(plan.limits);
  const std::optional<SpanFilter> all_spans;
  BasisOfInputs basis(options.rows, all_spans);
  const auto metrics_of = [&](size_t number) -> CheckMetrics& { return number == 0 ? metrics : baseline; };
  question.add = [&](size_t number, const Trace& trace, int32_t) {
    metrics_of(number).Add(trace);
    basis.Add(number, trace);
  };
  question.end_job = [&](size_t number, const JobCondition& condition) {
    metrics_of(number).SetProblems(condition.losses());
  };
  question.finish = [&](const JobCondition& condition) {
    const std::vector<CheckRow> rows = CheckLimits(metrics, plan.baseline.empty() ? nullptr : &baseline, plan.limits);
    if (const int code = WriteJUnit(options.junit, rows); code != kExitDone) return code;
    int code = kExitDone;
    if (options.junit != "-") {  // else standard output has the XML
      ResultWriter writer(common, ResultWriter::Of::kTogether);
      const std::string verb = "check";
      VerbResult result = CheckVerbResult(rows);
      result.basis = basis.Table();
      code = writer.End(PrintAnswerOfJobs(jobs, {verb, common, options.rows}, std::move(result), condition, &writer));
    }
    return WorseExit(code, ExitForRows(rows));
  };
  return AskRanksOfJobs(jobs, common, question, host);
}

int Check(const CheckOptions& options, const CheckPlan& plan, const CliHost& host) {
  if (const std::optional<int> done = CheckRanksOfJobs(options, plan, host)) return *done;
  const CommonOptions& common = options.common;
  const std::string job = JobName(common);
  const Result<Trace> trace = OpenJob(common);
  if (!trace.ok()) return ExitFor(trace.error());
  std::vector<ResultInput> inputs = {{&trace.value(), job}};
  Result<Trace> baseline = Trace();
  if (!plan.baseline.empty()) {
    baseline = OpenInput(plan.baseline, common);
    if (!baseline.ok()) return ExitFor(baseline.error());
    inputs.push_back({&baseline.value(), InputName(plan.baseline)});
  }
  const std::vector<CheckRow> rows =
      CheckTrace(trace.value(), plan.baseline.empty() ? nullptr : &baseline.value(), plan.limits);
  if (const int code = WriteJUnit(options.junit, rows); code != kExitDone) return code;
  int code = kExitDone;
  if (options.junit != "-") {  // else standard output has the XML
    ResultWriter writer(common, ResultWriter::Of::kTogether);
    VerbResult result = CheckVerbResult(rows);
    result.basis = BasisIfRequested(options.rows, std::span(&trace.value(), 1), std::nullopt);
    if (!plan.baseline.empty()) {
      const auto of_baseline = BasisIfRequested(options.rows, std::span(&baseline.value(), 1), std::nullopt);
      if (result.basis && of_baseline) result.basis->Append(*of_baseline);
    }
    code = writer.End(PrintResult("check", job, inputs, common, options.rows, std::move(result), &writer));
  }
  for (const ResultInput& input : inputs)
    code = WorseExit(code, ReportInput(*input.trace, input.name, common));
  return WorseExit(code, ExitForRows(rows));
}

int RunCheck(const CheckOptions& options, const CliHost& host) {
  CheckPlan plan;
  if (const int wrong = ReadPlan(options, &plan)) return wrong;
  std::vector<std::string> read = options.common.files;
  for (const std::string& file : {plan.baseline, plan.rules_file})
    if (!file.empty()) read.push_back(file);
  if (options.junit)
    if (const int refused = RefuseInputAsOutput("check", *options.junit, read)) return refused;
  return UseInput(options.common.files[0], [&] { return Check(options, plan, host); });
}

}  // namespace

Verb CheckVerb(const CliHost& host) {
  auto options = std::make_shared<CheckOptions>();
  Verb verb{.names = {"check"},
            .description = "compares metrics of a trace with limits; the exit code says whether one is crossed",
            .footer =
                "Exit codes: 0 no limit is crossed, 1 could not do it, 2 wrong usage, 3 no limit is crossed but the "
                "input is damaged, 4 a limit is crossed.",
            .run = [options, &host] { return RunCheck(*options, host); }};
  AddCommonOptions(&verb, &options->common);
  AddResultOptions(&verb, &options->common, &options->rows, "a JSON field such as value (default: as they are given)");
  const auto add_limit = [&](const char* name, const std::string& description) {
    verb.Add({name}, &options->given, description);
  };
  std::string metrics;
  for (const std::string_view metric : CheckMetricNames())
    metrics.append(metrics.empty() ? "" : ", ").append(metric);
  add_limit("--rules", "a file of limits, TOML");
  add_limit("--max",
            "METRIC=N: the largest allowed value; op_self_ns:aten::mm=2000000 for one operator. Metrics: " + metrics);
  add_limit("--min", "METRIC=N: the smallest allowed value");
  add_limit("--max-increase", "METRIC=5% or METRIC=N: how much more than the baseline's value is allowed");
  add_limit("--max-decrease", "METRIC=5% or METRIC=N: how much less than the baseline's value is allowed");
  verb.Add({"--baseline"}, &options->baseline, "the trace to compare with; it takes precedence over that of the rules");
  verb.Add({"--junit"}, &options->junit,
           "writes the answers as JUnit XML; - is standard output, which then has nothing else");
  return verb;
}

}  // namespace opscope
