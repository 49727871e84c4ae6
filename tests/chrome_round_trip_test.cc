// A trace of any format says the same when it was exported as Chrome JSON and opened again: the same summary, whatever
// one groups by, and the same tree of spans.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "opscope/analysis/op_summary.h"
#include "opscope/export.h"
#include "opscope/import.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

// What an export adds to a recording, as torch does.
constexpr std::string_view kWindowSpan = "PyTorch Profiler (0)";

std::vector<std::string> Sorted(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

// One line per row; rows of equal times come in the order of the file, which an export changes.
std::vector<std::string> SummaryOf(const Trace& trace, const std::vector<GroupKey>& group_by, bool is_recording) {
  std::vector<std::string> lines;
  const OpSummary summary = SummarizeOps(trace, {.group_by = group_by});
  for (const OpSummaryRow& row : summary.rows) {
    if (is_recording && trace.text(row.name) == kWindowSpan) continue;
    std::string& line = lines.emplace_back(trace.text(row.name));
    for (const std::string& key : row.keys)
      line += " | " + key;
    for (const int64_t number :
         {static_cast<int64_t>(row.count), row.total_ns, row.total_with_recursion_ns, row.self_ns, row.thread_self_ns,
          row.min_ns, row.max_ns, row.p50_ns, row.p99_ns, row.stddev_ns, row.device_total_ns, row.device_self_ns,
          row.self_memory_bytes, row.flops})
      line += " " + std::to_string(number);
  }
  return Sorted(lines);
}

std::vector<std::string> SpansOf(const Trace& trace, bool is_recording) {
  std::vector<std::string> lines;
  const SpanColumns& spans = trace.spans();
  for (size_t row = 0; row < spans.size(); ++row) {
    if (is_recording && trace.text(spans.name[row]) == kWindowSpan) continue;
    std::string& line = lines.emplace_back(trace.text(spans.name[row]));
    line.append(".").append(trace.text(spans.overload[row]));
    for (const int64_t number : {spans.start[row].ns, spans.duration[row].ns, int64_t{spans.depth[row]}})
      line += " " + std::to_string(number);
    if (spans.parent[row] != SpanId::kNone) line.append(" in ").append(trace.text(spans.name[Row(spans.parent[row])]));
  }
  return Sorted(lines);
}

std::vector<std::string> StepsOf(const Trace& trace) {
  std::vector<std::string> lines;
  for (size_t step = 0; step < trace.steps().size(); ++step) {
    const SpanId span = trace.steps().span[step];
    if (span == SpanId::kNone) continue;
    lines.push_back(std::to_string(trace.steps().number[step]) + " " +
                    std::string(trace.text(trace.steps().name[step])) + " " +
                    std::to_string(trace.spans().start[Row(span)].ns));
  }
  return Sorted(lines);
}

void ExpectSameAgain(const fs::path& path) {
  SCOPED_TRACE(path.string());
  const Result<Trace> trace = ImportFile(path.string());
  if (!trace.ok() || trace.value().spans().size() == 0) return;
  const std::string text = ChromeTraceText(trace.value()).value();
  const Result<Trace> again = ImportBytes(std::as_bytes(std::span(text)), "again");
  ASSERT_TRUE(again.ok()) << again.error().message;
  const auto& scopes = trace.value().spans().scope;
  const bool is_recording =
      std::any_of(scopes.begin(), scopes.end(), [](ScopeType scope) { return scope != ScopeType::kUnknown; });
  using enum GroupKey;
  std::vector<std::vector<GroupKey>> groupings = {
      {kName}, {kName, kCategory, kDevice}, {kName, kShape}, {kName, kStack}};
  groupings.push_back({kName, kModule});
  if (!is_recording) groupings.push_back({kName, kCategory, kThread});  // torch's names of threads hold their numbers
  for (const auto& group_by : groupings)
    EXPECT_EQ(SummaryOf(again.value(), group_by, is_recording), SummaryOf(trace.value(), group_by, is_recording));
  EXPECT_EQ(SpansOf(again.value(), is_recording), SpansOf(trace.value(), is_recording));
  EXPECT_EQ(StepsOf(again.value()), StepsOf(trace.value()));
}

size_t ExpectSameAgainIn(const fs::path& folder) {
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    ExpectSameAgain(entry.path());
    ++files;
  }
  return files;
}

TEST(ChromeRoundTrip, KeepsWhatGoldenInputsSay) {
  EXPECT_GE(ExpectSameAgainIn(OPSCOPE_GOLDEN_DIR), 200u);
}

TEST(ChromeRoundTrip, KeepsWhatRealTracesSay) {
  const fs::path samples = fs::path(OPSCOPE_SOURCE_DIR) / "../shared/samples";
  if (!fs::exists(samples)) GTEST_SKIP() << "no samples beside the checkout";
  EXPECT_GE(ExpectSameAgainIn(samples), 15u);
}

}  // namespace
}  // namespace opscope
