// Readings become counters unchanged. The cycles of a kernel are its duration times the median clock of its device in
// the window: clocks are sampled far less often than kernels end, and the median is not changed by the few samples of a
// device that was waking up.
// SPDX-License-Identifier: Apache-2.0
#include "import/cuda/cuda_sensors.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace opscope {
namespace {

// The values are two 32-bit numbers, or one.
struct Sensor {
  uint32_t kind;  // CUPTI's number
  uint32_t shift;
  double unit;
  std::string_view name;
};
constexpr Sensor kSensors[] = {{1, 0, 1, "SM Clock (MHz)"},
                               {1, 32, 1, "Memory Clock (MHz)"},
                               {2, 0, 1, "Temperature (C)"},
                               {3, 0, 0.001, "Power (W)"},
                               {4, 0, 1, "Fan Speed (%)"}};

// The median; for an even number of values the mean of the middle two.
double MedianOf(std::vector<uint32_t> values) {
  const size_t half = values.size() / 2;
  std::ranges::sort(values);
  const double upper = values[half];
  return values.size() % 2 == 1 ? upper : (values[half - 1] + upper) / 2;
}

}  // namespace

// clocks: in MHz, by device.
void CudaSensors::AddCycles(const std::map<uint32_t, std::vector<uint32_t>>& clocks, CudaDevices* devices,
                            TraceBuilder* builder) const {
  std::map<uint32_t, double> hertz;
  for (const auto& [device, values] : clocks)
    hertz[device] = MedianOf(values) * 1e6;
  for (const Kernel& kernel : kernels_) {
    const auto clock = hertz.find(kernel.device);
    if (clock == hertz.end() || clock->second <= 0) continue;
    builder->AddCounter({.time = kernel.start,
                         .name = builder->Intern("Cycles (Current Kernel)"),
                         .series = builder->Intern("value"),
                         .track = devices->OfSensors(kernel.device),
                         .value = std::trunc(static_cast<double>(kernel.duration.ns) / 1e9 * clock->second)});
  }
}

void CudaSensors::Finish(const std::set<uint32_t>& working, CudaDevices* devices, TraceBuilder* builder) {
  std::map<uint32_t, std::vector<uint32_t>> clocks;
  for (const auto& [record, value] : samples_) {
    const auto details = record.As<CudaEnvironmentDetails>();
    if (record.is_outside || !working.contains(details.device)) continue;
    if (details.kind == kClocks) clocks[details.device].push_back(static_cast<uint32_t>(value));
    for (const Sensor& sensor : kSensors) {
      if (sensor.kind != details.kind) continue;
      builder->AddCounter({.time = record.start,
                           .name = builder->Intern(sensor.name),
                           .series = builder->Intern("value"),
                           .track = devices->OfSensors(details.device),
                           .value = static_cast<double>(static_cast<uint32_t>(value >> sensor.shift)) * sensor.unit});
    }
  }
  AddCycles(clocks, devices, builder);
  samples_.clear();
  kernels_.clear();
  has_clocks_ = false;
}

}  // namespace opscope
