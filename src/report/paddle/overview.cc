// The views of Paddle's summary about the whole run: devices, event types, model phases, communication. Notes are
// Paddle's texts, with their mistakes.
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <string>

#include "base/saturating.h"
#include "report/paddle/layout.h"
#include "report/paddle/table.h"

namespace opscope {
namespace {

constexpr const char* kDeviceNote =
    "Note:\n"
    "CPU(Process) Utilization = Current process CPU time over all cpu cores / elapsed time, so max utilization can be "
    "reached 100% * number of cpu cores.\n"
    "CPU(System) Utilization = All processes CPU time over all cpu cores(busy time) / (busy time + idle time).\n"
    "GPU Utilization = Current process GPU time / elapsed time.";

constexpr const char* kOverviewNote =
    "Note:\n"
    "In this table, We sum up all collected events in terms of event type.\n"
    "The time of events collected on host are presented as CPU Time, and as GPU Time if on device.\n"
    "Events with different types may overlap or inclusion, e.g. Operator includes OperatorInner, so the sum of ratios "
    "is not 100%.\n"
    "The time of events in the same type with overlap will not calculate twice, and all time is summed after merged.\n"
    "Example:\n"
    "Thread 1:\n"
    "  Operator: |___________|     |__________|\n"
    "Thread 2:\n"
    "  Operator:   |____________|     |___|\n"
    "After merged:\n"
    "  Result:   |______________|  |__________|\n";

constexpr const char* kModelNote =
    "Note:\n"
    "In this table, GPU time is the sum of all device(GPU) events called in the phase.\n"
    "Unlike overview summary, if two device(GPU) events execute on different streams with overlap time, we sum them "
    "directly here.\n";

constexpr const char* kDistributionNote =
    "Note:\n"
    "Communication time: Communication Event time, Communication Op time and its kernel time on gpu.\n"
    "Computation time: Kernel time, except kernels belong to communication(nccl kernels).\n"
    "Overlap time: Communication time intersects with computation time.\n"
    "Example:\n"
    "Communication:\n"
    "  CPU:              |_________________|\n"
    "  GPU:                                  |______________|\n"
    "  Total:            |_________________| |______________|\n"
    "Computation time(Kernel):\n"
    "  GPU:         |________________|\n"
    "Overlap time:       |___________|\n";

std::string Time(int64_t ns, const PaddleTexts& texts) {
  return PaddleTime(static_cast<double>(ns), texts.options.time_unit);
}

std::string Utilization(const std::string& fraction) {
  if (fraction.empty()) return "-";
  double value = 0;
  std::from_chars(fraction.data(), fraction.data() + fraction.size(), value);
  return PaddlePercent(value);
}

}  // namespace

void AppendPaddleDevices(const PaddleTexts& texts, std::string* out) {
  const PaddleStatistics& statistics = texts.statistics;
  PaddleLayout layout({30, 20}, out);
  layout.Title("Device Summary");
  layout.Separator();
  layout.Row({"Device", "Utilization (%)"});
  layout.Separator();
  layout.Row({"CPU(Process)", Utilization(statistics.process_utilization)});
  layout.Row({"CPU(System)", Utilization(statistics.system_utilization)});
  for (const PaddleDeviceTime& device : statistics.devices)
    layout.Row(
        {"GPU" + std::to_string(device.device), PaddlePercent(PaddleRatio(device.kernels, statistics.total_time))});
  layout.Foot(kDeviceNote);
}

void AppendPaddleOverview(const PaddleTexts& texts, std::string* out) {
  const PaddleStatistics& statistics = texts.statistics;
  PaddleLayout layout({25, 25, 25, 25}, out);
  layout.Head("Overview Summary", texts.options.time_unit, {"Event Type", "Calls", "CPU Time", "Ratio (%)"});
  std::string indent;  // two blanks for all rows but the first
  const auto row = [&](const PaddleTypeTime& type) {
    layout.Row({indent + std::string(PaddleEventTypeName(type.type)), std::to_string(type.calls),
                Time(type.time, texts), PaddlePercent(PaddleRatio(type.time, statistics.total_time))});
    indent = "  ";
  };
  for (const PaddleTypeTime& type : statistics.host_types)
    row(type);
  layout.Separator();
  layout.Row({"", "Calls", "GPU Time", "Ratio (%)"});
  layout.Separator();
  indent = "  ";
  for (const PaddleTypeTime& type : statistics.device_types)
    row(type);
  layout.Foot(kOverviewNote);
}

void AppendPaddleModel(const PaddleTexts& texts, std::string* out) {
  const PaddleStatistics& statistics = texts.statistics;
  if (statistics.phases.size() < 2) return;
  const std::string& unit = texts.options.time_unit;
  const bool has_steps = statistics.phases[0].type == PaddleEventType::kProfileStep;
  const int64_t device_total = has_steps ? statistics.phases[0].item.kernels.total : 0;
  int64_t others = statistics.total_time, device_others = device_total;
  PaddleRowTexts rows;
  for (const auto& [type, item] : statistics.phases) {
    const bool is_step = type == PaddleEventType::kProfileStep;
    rows.rows.push_back(
        {(is_step ? "" : "  ") + std::string(PaddleEventTypeName(type)), std::to_string(item.calls),
         PaddleTimesCell(item.host, item.calls, PaddleRatio(item.host.total, statistics.total_time), unit),
         PaddleTimesCell(item.kernels, item.calls, PaddleRatio(item.kernels.total, device_total), unit)});
    if (is_step) continue;
    others = SaturatingSubtract(others, item.host.total);
    device_others = SaturatingSubtract(device_others, item.kernels.total);
  }
  const auto rest = [&](int64_t time, int64_t total) {
    return Time(time, texts) + " / - / - / - / " + PaddlePercent(PaddleRatio(time, total));
  };
  rows.rows.push_back({"  Others", "-", rest(others, statistics.total_time), rest(device_others, device_total)});
  std::vector<size_t> widths = {15, 6, 40, 40};
  rows.Widen(1, widths.size(), &widths);
  PaddleLayout layout(widths, out);
  layout.Head("Model Summary", unit,
              {"Name", "Calls", "CPU Total / Avg / Max / Min / Ratio(%)", "GPU Total / Avg / Max / Min / Ratio(%)"});
  for (const auto& row : rows.rows)
    layout.Row(row);
  layout.Foot(kModelNote);
}

void AppendPaddleDistribution(const PaddleTexts& texts, std::string* out) {
  const PaddleDistribution& distribution = texts.statistics.distribution;
  const int64_t total = texts.statistics.total_time;
  if (!distribution.any) return;
  PaddleLayout layout({25, 25, 25}, out);
  layout.Head("Distribution Summary", texts.options.time_unit, {"Name", "Total Time", "Ratio (%)"});
  const auto row = [&](const char* name, int64_t time) {
    layout.Row({name, Time(time, texts), PaddlePercent(PaddleRatio(time, total))});
  };
  row("ProfileStep", total);
  row("  Communication", distribution.communication);
  row("  Computation", distribution.computation);
  row("  Overlap", distribution.overlap);
  layout.Foot(kDistributionNote);
}

}  // namespace opscope
