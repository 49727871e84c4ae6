// SPDX-License-Identifier: Apache-2.0
#include "import/cuda/cuda_sensors.h"

#include <string_view>

namespace opscope {
namespace {

// The values are two numbers of 32 bits, or one.
struct Sensor {
  uint32_t kind;  // CUPTI's
  uint32_t shift;
  double unit;
  std::string_view name;
};
constexpr Sensor kSensors[] = {{1, 0, 1, "SM Clock (MHz)"},
                               {1, 32, 1, "Memory Clock (MHz)"},
                               {2, 0, 1, "Temperature (C)"},
                               {3, 0, 0.001, "Power (W)"},
                               {4, 0, 1, "Fan Speed (%)"}};

}  // namespace

void CudaSensors::Finish(const std::set<uint32_t>& working, CudaDevices* devices, TraceBuilder* builder) {
  for (const auto& [record, value] : samples_) {
    const auto details = record.As<CudaEnvironmentDetails>();
    if (record.is_outside || !working.contains(details.device)) continue;
    for (const Sensor& sensor : kSensors) {
      if (sensor.kind != details.kind) continue;
      builder->AddCounter({.time = record.start,
                           .name = builder->Intern(sensor.name),
                           .series = builder->Intern("value"),
                           .track = devices->OfSensors(details.device),
                           .value = static_cast<double>(static_cast<uint32_t>(value >> sensor.shift)) * sensor.unit});
    }
  }
  samples_.clear();
}

}  // namespace opscope
