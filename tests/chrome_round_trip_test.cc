// Export as Chrome JSON and import again preserves a trace of any format: the summary is the same under every grouping,
// and so is the tree of spans.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "opscope/analysis/devices.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "trace/builder.h"

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
    line += row.on_device ? " on a device" : "";
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

// Devices of one number may stand under several processes.
std::vector<std::string> DevicesOf(const Trace& trace) {
  std::vector<std::string> lines;
  for (const DeviceRow& row : MeasureDevices(trace)) {
    std::string& line = lines.emplace_back(std::to_string(row.device));
    if (row.stream != TrackId::kNone) line += " stream " + std::to_string(trace.tracks().tid[Row(row.stream)]);
    for (const int64_t number : {static_cast<int64_t>(row.spans), row.window_ns, row.busy_ns, row.kernel_ns,
                                 row.copy_ns, row.set_ns, row.longest_idle_ns})
      line += " " + std::to_string(number);
  }
  return Sorted(lines);
}

void ExpectSameAgain(const Trace& trace) {
  const std::string text = ChromeTraceText(trace).value();
  const Result<Trace> again = ImportBytes(std::as_bytes(std::span(text)), "again");
  ASSERT_TRUE(again.ok()) << again.error().message;
  const auto& scopes = trace.spans().scope;
  const bool is_recording =
      std::any_of(scopes.begin(), scopes.end(), [](ScopeType scope) { return scope != ScopeType::kUnknown; });
  using enum GroupKey;
  std::vector<std::vector<GroupKey>> groupings = {
      {kName}, {kName, kCategory, kDevice}, {kName, kShape}, {kName, kStack}};
  groupings.push_back({kName, kModule});
  if (!is_recording) groupings.push_back({kName, kCategory, kThread});  // torch's names of threads hold their numbers
  for (const auto& group_by : groupings)
    EXPECT_EQ(SummaryOf(again.value(), group_by, is_recording), SummaryOf(trace, group_by, is_recording));
  EXPECT_EQ(SpansOf(again.value(), is_recording), SpansOf(trace, is_recording));
  EXPECT_EQ(StepsOf(again.value()), StepsOf(trace));
  EXPECT_EQ(DevicesOf(again.value()), DevicesOf(trace));
}

// Threads of processes with numbers and texts, and devices whose streams have annotations beside them; spans cross on
// some of the tracks, and some lie outside of the nesting.
Trace RandomProgram(std::mt19937_64* random) {
  const auto below = [random](uint64_t limit) { return static_cast<int64_t>((*random)() % limit); };
  TraceBuilder builder;
  std::vector<TrackId> tracks;
  std::vector<std::string> categories;
  const auto add = [&](TrackRow row, const char* category) {
    tracks.push_back(builder.AddTrack(row)), categories.emplace_back(category);
    if (below(2) == 0) builder.SetCrossing(tracks.back());
  };
  const ProcessId named = builder.AddProcess({.pid_text = builder.Intern("CPU functions")});
  add({.process = builder.AddProcess({.pid = 100}), .tid = 7}, "cpu_op");
  add({.process = named, .tid = 7}, "");
  add({.process = named, .tid_text = builder.Intern("worker")}, "user_annotation");
  for (int32_t device = 0; device < 2; ++device) {
    const ProcessId process = builder.AddProcess({.pid = device});
    for (const int64_t stream : {7, 13}) {
      add({.process = process, .kind = TrackKind::kDeviceStream, .tid = stream, .device = device}, "kernel");
      add({.process = process, .kind = TrackKind::kDeviceAnnotation, .tid = stream, .device = device},
          "gpu_user_annotation");
    }
  }
  constexpr uint8_t kOutside[] = {span_flags::kAsync, span_flags::kAsync | span_flags::kCrossing,
                                  span_flags::kAsync | span_flags::kOtherThread};
  for (int64_t count = below(60) + 1; count > 0; --count) {
    const auto track = static_cast<size_t>(below(tracks.size()));
    builder.AddSpan({.start = {below(100)},
                     .duration = {below(40) + 1},
                     .name = builder.Intern("name " + std::to_string(below(5))),
                     .category = builder.Intern(categories[track]),
                     .track = tracks[track],
                     .flags = below(10) == 0 ? kOutside[below(3)] : uint8_t{0},
                     .correlation = static_cast<uint32_t>(below(20))});
  }
  return builder.Build();
}

size_t ExpectSameAgainIn(const fs::path& folder) {
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    SCOPED_TRACE(entry.path().string());
    const Result<Trace> trace = ImportFile(entry.path().string());
    if (trace.ok() && trace.value().spans().size() != 0) ExpectSameAgain(trace.value());
    ++files;
  }
  return files;
}

TEST(ChromeRoundTrip, KeepsWhatGoldenInputsSay) {
  EXPECT_GE(ExpectSameAgainIn(OPSCOPE_GOLDEN_DIR), 200u);
}

TEST(ChromeRoundTrip, KeepsWhatRandomProgramsSay) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000 && !testing::Test::HasFailure(); ++round)
    ExpectSameAgain(RandomProgram(&random));
}

TEST(ChromeRoundTrip, KeepsWhatRealTracesSay) {
  const fs::path samples = fs::path(OPSCOPE_SOURCE_DIR) / "../shared/samples";
  if (!fs::exists(samples)) GTEST_SKIP() << "no samples beside the checkout";
  EXPECT_GE(ExpectSameAgainIn(samples), 15u);
}

}  // namespace
}  // namespace opscope
