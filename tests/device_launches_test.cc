// Device time belongs to the operator that launched it. Checks every device event of every GPU sample against a
// brute-force search by times, and all analyses that sum device times against the sums of that search.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "opscope/analysis/flame.h"
#include "opscope/analysis/modules.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "opscope/merge.h"
#include "opscope/torch/function_events.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

constexpr char kNoSamples[] = "no samples beside the checkout";

using Sums = std::map<std::string, int64_t>;

// Uses starts, ends, tracks and categories only, not the parents that the trace has computed.
class SlowLaunches {
 public:
  explicit SlowLaunches(const Trace& trace) : trace_(trace), spans_(trace.spans()), threads_(trace.tracks().size()) {
    std::map<uint32_t, size_t> calls;
    std::map<uint32_t, size_t> by_id;
    for (size_t i = 0; i < spans_.size(); ++i) {
      if (Category(i) == "cpu_op") threads_[Row(spans_.track[i])].push_back(i), by_id.emplace(spans_.external_id[i], i);
      if (!Category(i).ends_with("_runtime") && !Category(i).ends_with("_driver")) continue;
      const auto [call, is_new] = calls.emplace(spans_.correlation[i], i);
      if (!is_new && spans_.start[i] < spans_.start[call->second]) call->second = i;
    }
    const std::set<std::string_view> device = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_sync"};
    for (size_t i = 0; i < spans_.size(); ++i) {
      const bool is_on_stream = trace.tracks().kind[Row(spans_.track[i])] == TrackKind::kDeviceStream;
      if (!is_on_stream || !device.contains(Category(i))) continue;
      const auto call = calls.find(spans_.correlation[i]);
      const size_t around = call == calls.end() ? kNobody : EnclosingOperator(call->second);
      const uint32_t id = spans_.external_id[i];
      foreign_ids += IsWork(i) && around != kNobody && id != 0 && spans_.external_id[around] != id ? 1 : 0;
      launcher[i] = around != kNobody     ? around
                    : by_id.contains(id)  ? by_id[id]
                    : call != calls.end() ? call->second
                                          : kNobody;
    }
  }

  static constexpr size_t kNobody = SIZE_MAX;
  std::map<size_t, size_t> launcher;  // of every device event
  uint64_t foreign_ids = 0;
  bool IsWork(size_t i) const { return Category(i) != "cuda_sync"; }

 private:
  std::string_view Category(size_t i) const { return trace_.text(spans_.category[i]); }
  size_t EnclosingOperator(size_t call) const {
    size_t innermost = kNobody;
    for (const size_t op : threads_[Row(spans_.track[call])]) {
      if (spans_.start[call] < spans_.start[op]) break;  // by start
      if (spans_.start[call] < spans_.start[op] + spans_.duration[op]) innermost = op;
    }
    return innermost;
  }

  const Trace& trace_;
  const SpanColumns& spans_;
  std::vector<std::vector<size_t>> threads_;  // operators
};

std::vector<fs::path> GpuSamples() {
  std::vector<fs::path> samples;
  const fs::path folder = fs::path(OPSCOPE_SOURCE_DIR) / "../shared/samples/kineto";
  if (!fs::exists(folder)) return samples;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("cuda_") || name.starts_with("rocm_") || name.starts_with("diff_"))
      samples.push_back(entry.path());
  }
  return samples;
}

// False: there are no samples beside the checkout.
template <typename Check>
bool ForEachGpuSample(const Check& check) {
  const std::vector<fs::path> samples = GpuSamples();
  for (const fs::path& sample : samples) {
    SCOPED_TRACE(sample.filename());
    Result<Trace> imported = ImportFile(sample.string());
    EXPECT_TRUE(imported.ok());
    if (imported.ok()) check(sample.filename().string(), std::move(imported.value()));
  }
  return !samples.empty();
}

uint64_t ForeignIdsIn(const Trace& trace) {
  uint64_t count = 0;
  for (size_t i = 0; i < trace.problems().size(); ++i)
    if (trace.text(trace.problems().kind[i]) == "foreign_ids") count += trace.problems().count[i];
  return count;
}

Sums DeviceTimes(const Trace& trace) {
  Sums sums;
  for (const OpSummaryRow& row : SummarizeOps(trace, {.group_by = {GroupKey::kName, GroupKey::kDevice}}).rows) {
    if (row.device_self_ns != 0 && row.keys[0].empty()) sums[std::string(trace.text(row.name))] += row.device_self_ns;
  }
  return sums;
}

TEST(DeviceLaunches, AreThoseThatTimesTellInEverySample) {
  uint64_t works = 0, foreign = 0;
  const bool any = ForEachGpuSample([&](const std::string&, const Trace& trace) {
    const SlowLaunches slow(trace);
    std::map<size_t, size_t> launcher;
    for (size_t i = 0; i < trace.launches().size(); ++i)
      launcher[Row(trace.launches().span[i])] = Row(trace.launches().launcher[i]);
    Sums by_name;
    std::map<uint32_t, int64_t> by_module;
    const ModulesOfSpans modules = FindModules(trace);
    for (const auto& [work, expected] : slow.launcher) {
      const auto found = launcher.find(work);
      ASSERT_EQ(found == launcher.end() ? SlowLaunches::kNobody : found->second, expected) << "device event " << work;
      if (expected == SlowLaunches::kNobody || !slow.IsWork(work)) continue;
      by_name[std::string(trace.text(trace.spans().name[expected]))] += trace.spans().duration[work].ns;
      by_module[modules.node_of[expected]] += trace.spans().duration[work].ns;
    }
    EXPECT_EQ(ForeignIdsIn(trace), slow.foreign_ids);
    EXPECT_EQ(DeviceTimes(trace), by_name);
    Sums drawn;
    for (const FlameNode& node : FoldSpans(trace, FlameMetric::kDeviceTime).nodes)
      if (node.self != 0) drawn[std::string(node.name)] += node.self;
    EXPECT_EQ(drawn, by_name);
    const ModuleSummary summary = SummarizeModules(trace);
    for (uint32_t module = 0; module < summary.rows.size(); ++module)
      EXPECT_EQ(summary.rows[module].device_self_ns, by_module[module]) << modules.PathOf(module);
    works += slow.launcher.size(), foreign += slow.foreign_ids;
  });
  if (!any) GTEST_SKIP() << kNoSamples;
  EXPECT_GT(works, 20'000u);
  EXPECT_GT(foreign, 20'000u) << "samples of old and of new versions are needed";
  EXPECT_GT(works, foreign + 3'000);
}

TEST(DeviceLaunches, StayWhatTheyAreInFilesOfOursAndInAMergedJob) {
  Sums both;
  uint64_t foreign = 0;
  std::vector<MergeInput> inputs;
  const bool any = ForEachGpuSample([&](const std::string& name, Trace trace) {
    const Sums expected = DeviceTimes(trace);
    const uint64_t ids = ForeignIdsIn(trace);
    const std::string texts[] = {ChromeTraceText(trace).value(), OpscopeBytes(trace).value()};
    for (const std::string& text : texts) {
      const Result<Trace> again = ImportBytes(std::as_bytes(std::span(text)), "again");
      ASSERT_TRUE(again.ok());
      EXPECT_EQ(DeviceTimes(again.value()), expected);
      EXPECT_EQ(ForeignIdsIn(again.value()), ids);
    }
    if (name.find("_sampled") == std::string::npos) return;
    for (const auto& [op, time] : expected)
      both[op] += time;
    foreign += ids;
    inputs.push_back({std::move(trace), name});
  });
  if (!any) GTEST_SKIP() << kNoSamples;
  ASSERT_EQ(inputs.size(), 2u);
  const Result<Merged> merged = MergeTraces(std::move(inputs));
  ASSERT_TRUE(merged.ok()) << merged.error().message;
  EXPECT_EQ(DeviceTimes(merged.value().trace), both);
  EXPECT_EQ(ForeignIdsIn(merged.value().trace), foreign);
}

// torch's table: where ids are those of operators, by ids; where they are not, by the operators around the calls.
TEST(DeviceLaunches, AreTheKernelsOfTorchsEvents) {
  const bool any = ForEachGpuSample([](const std::string&, const Trace& trace) {
    const SlowLaunches slow(trace);
    std::map<SpanId, size_t> expected;
    for (const auto& [work, launcher] : slow.launcher) {
      if (launcher == SlowLaunches::kNobody || trace.text(trace.spans().category[launcher]) != "cpu_op") continue;
      if (trace.spans().external_id[work] != 0) ++expected[SpanId{static_cast<uint32_t>(launcher)}];
    }
    const FunctionEvents events = BuildFunctionEvents(trace);
    std::map<SpanId, size_t> kernels;
    for (size_t i = 0; i < events.size() && !events.kernel_offset.empty(); ++i) {
      if (events.span[i] == SpanId::kNone) continue;
      const bool is_op = trace.text(trace.spans().category[Row(events.span[i])]) == "cpu_op";
      size_t count = 0;  // waits for no stream are on no track of one, where launches are not looked for
      for (uint32_t k = events.kernel_offset[i]; k < events.kernel_offset[i + 1]; ++k) {
        const TrackId track = trace.spans().track[Row(events.span[Row(events.kernels[k])])];
        count += trace.tracks().kind[Row(track)] == TrackKind::kDeviceStream ? 1 : 0;
      }
      if (is_op && count != 0) kernels[events.span[i]] = count;
    }
    // An operator that is its parent's only child and has its name is folded into it.
    size_t all = 0, listed = 0;
    for (const auto& [op, count] : expected) {
      all += count;
      const auto found = kernels.find(op);
      EXPECT_TRUE(found == kernels.end() || found->second >= count);
    }
    for (const auto& [op, count] : kernels)
      listed += count;
    EXPECT_EQ(listed, all);
  });
  if (!any) GTEST_SKIP() << kNoSamples;
}

}  // namespace
}  // namespace opscope
