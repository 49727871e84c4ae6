// The table of `opscope collect`: what became of each file. Problems of a JOB name ranks, not one input, and the same
// problem of many ranks is one reason to doubt the answers.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/job.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_object.h"
#include "opscope/report/quality.h"
#include "report/result_units.h"

namespace opscope {
namespace {

using namespace result_units;

std::string_view NameOfStatus(CollectStatus status) {
  switch (status) {
    case CollectStatus::kAdded:
      return "added";
    case CollectStatus::kAlready:
      return "already";
    case CollectStatus::kRefused:
      return "refused";
  }
  return "refused";
}

// Nothing is known of a file that is refused.
template <typename T>
std::optional<T> IfRead(const CollectedFile& row, T value) {
  if (row.status == CollectStatus::kRefused) return std::nullopt;
  return value;
}

constexpr ResultField<CollectedFile> kCollectFields[] = {
    {{"file", "File", kText, "Path of the file, as it was given or found."},
     [](const CollectedFile& row) { return row.file; }},
    {{"status", "Status", kText,
      "`added`; `already`: the folder has a file of the same content; `refused`: it is not a trace, see `problems`."},
     [](const CollectedFile& row) { return NameOfStatus(row.status); }},
    {{"rank", "", kNumber,
      "Its rank; -1: unknown. This field and those below but `sha256` are null of a refused file."},
     [](const CollectedFile& row) { return IfRead(row, row.rank); }},
    {{"", "Rank", kFigure},
     [](const CollectedFile& row) { return row.rank < 0 ? std::string() : std::to_string(row.rank); }},
    {{"rank_from", "From", kOptionalText, "What says the rank: `metadata`, `file_name` or `none`."},
     [](const CollectedFile& row) { return IfRead(row, row.rank_from); }},
    {{"attempt", "Attempt", kNumber, "Which start of the job."},
     [](const CollectedFile& row) { return IfRead(row, row.attempt); }},
    {{"world_size", "World size", kNumber, "Number of ranks of the job, as the file says; -1: unknown.", kIfKnown},
     [](const CollectedFile& row) { return IfRead(row, row.world_size); }},
    {{"host", "Host", kOptionalText, "Name of the machine; null: unknown, too."},
     [](const CollectedFile& row) { return IfRead(row, row.host); }},
    {{"spans", "Spans", kNumber, "Number of its spans."},
     [](const CollectedFile& row) { return IfRead(row, row.spans); }},
    {{"sha256", "", kOptionalText, "SHA-256 of its bytes; null: they cannot be read."},
     [](const CollectedFile& row) { return row.sha256; }},
};

}  // namespace

const ResultDescription& CollectResult() {
  static const ResultDescription description =
      DescribeResult<CollectedFile>("collect", "files", "A file, and what became of it.", kCollectFields);
  return description;
}

VerbResult CollectVerbResult(const CollectReport& report, const std::string& job) {
  VerbResult result;
  result.tables = {MakeResultTable<CollectedFile>(CollectResult(), kCollectFields, Trace(), report.files)};
  JsonMemberWriter(&result.facts_json).Text("job", job);
  result.quality = JudgeProblems(report.problems);
  result.problems_json = JobProblemsJson(report.problems);
  if (report.files.empty()) result.why_empty = "there are no files";
  return result;
}

std::string CompactJson(const CompactReport& report) {
  std::string out;
  JsonObject document(&out);
  document.Text("schema", "opscope.compact/1").Uint("parts_before", report.parts_before);
  document.Uint("parts_after", report.parts_after).Json("problems", "[]").Json("quality", QualityJson({}));
  document.Close();
  return out + "\n";
}

std::string JobProblemsJson(std::span<const JobProblem> problems) {
  std::string out = "[";
  for (const JobProblem& problem : problems) {
    out += out.size() == 1 ? "\n" : ",\n";
    JsonObject object(&out);
    object.Text("file", problem.file).Text("kind", problem.kind);
    object.Text("severity", ProblemSeverityName(problem.severity));
    object.Uint("count", problem.count).Int("first_offset", problem.first_offset).Text("message", problem.message);
    std::string ranks = "[";
    for (const int32_t rank : problem.ranks)
      ranks.append(ranks.size() == 1 ? "" : ",").append(std::to_string(rank));
    object.Json("ranks", ranks + "]");
    object.Close();
  }
  return out + (problems.empty() ? "]" : "\n]");
}

// A reason for each kind: of 10,000 ranks that all dropped events, a reason for each would be no line to read.
Quality JudgeProblems(std::span<const JobProblem> problems) {
  constexpr size_t kMaxRanks = 20, kMaxKinds = 20;
  std::vector<std::pair<std::string_view, std::set<int32_t>>> kinds;
  for (const JobProblem& problem : problems) {
    if (problem.severity == ProblemSeverity::kInfo) continue;
    auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.first == problem.kind; });
    if (found == kinds.end() && kinds.size() == kMaxKinds) continue;  // of a damaged JOB
    if (found == kinds.end()) found = kinds.insert(kinds.end(), {problem.kind, {}});
    found->second.insert(problem.ranks.begin(), problem.ranks.end());
  }
  Quality quality;
  if (!kinds.empty()) quality.verdict = Verdict::kDoubtful;
  for (const auto& [kind, ranks] : kinds) {
    std::string& reason = quality.reasons.emplace_back("problem ").append(kind);
    size_t listed = 0;
    for (auto rank = ranks.begin(); rank != ranks.end() && listed < kMaxRanks; ++rank, ++listed)
      reason.append(listed == 0 ? " of rank " : ", ").append(std::to_string(*rank));
    if (ranks.size() > kMaxRanks)
      reason.append(" and ").append(std::to_string(ranks.size() - kMaxRanks)).append(" more");
  }
  return quality;
}

}  // namespace opscope
