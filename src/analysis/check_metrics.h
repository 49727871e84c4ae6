// The values of the metrics that limits may be for.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "opscope/analysis/check.h"
#include "opscope/analysis/devices.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/analysis/steps.h"
#include "opscope/trace.h"

namespace opscope {

// Measures when a value is first asked for, and keeps the analysis for further ones.
class CheckMetrics {
 public:
  explicit CheckMetrics(const Trace& trace) : trace_(trace) {}

  // nullopt: the trace does not have it. `name`: of the operator, for op metrics.
  std::optional<double> ValueOf(CheckMetric metric, std::string_view name);

 private:
  const StepDurations& Steps();
  const std::vector<DeviceRow>& Devices();
  // Sum over the rows of the operator.
  template <typename Value>
  double OfOp(std::string_view name, Value value);
  // The largest value over whole devices.
  template <typename Value>
  std::optional<double> LargestOfDevices(Value value);

  const Trace& trace_;
  std::optional<StepDurations> steps_;
  std::optional<std::vector<DeviceRow>> devices_;
  std::optional<OpSummary> ops_;
};

}  // namespace opscope
