// The kernels and copies of devices as rows, for the reports of devices.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "opscope/analysis/device_copies.h"
#include "opscope/analysis/device_kernels.h"
#include "opscope/trace.h"
#include "report/row_table.h"

namespace opscope {

[[nodiscard]] RowTable KernelRowsOf(const Trace& trace, const std::vector<DeviceKernelRow>& kernels);
[[nodiscard]] RowTable CopyRowsOf(const Trace& trace, const std::vector<DeviceCopyRow>& copies);

// Rank and device of each row; for people the rank where there are any.
template <typename DeviceRows>
void AddPlaces(const Trace& trace, const DeviceRows& devices, RowTable* rows) {
  std::vector<int64_t> ranks, numbers;
  for (const auto& row : devices) {
    ranks.push_back(row.process == ProcessId::kNone ? -1 : trace.processes().rank[Row(row.process)]);
    numbers.push_back(row.device);
  }
  const bool has_ranks = std::any_of(ranks.begin(), ranks.end(), [](int64_t rank) { return rank >= 0; });
  rows->AddNumbers("rank", has_ranks ? "Rank" : "", RowUnit::kNumber, std::move(ranks));
  rows->AddNumbers("device", "Device", RowUnit::kNumber, std::move(numbers));
}

}  // namespace opscope
