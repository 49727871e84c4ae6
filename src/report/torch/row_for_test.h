// For tests: a row of torch's table.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "opscope/torch/table.h"

namespace opscope {

inline TorchTableRow Op(std::string_view key, double self, double total, int64_t count = 1) {
  TorchTableRow row;
  row.key = key;
  row.self_cpu_time_total = self;
  row.cpu_time_total = total;
  row.cpu_time = total / static_cast<double>(count);
  row.count = count;
  return row;
}

}  // namespace opscope
