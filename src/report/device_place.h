// The rank and the device that a row of a device belongs to: columns, and their values.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "opscope/report/result_table.h"
#include "opscope/trace.h"

namespace opscope {

inline constexpr ResultColumn kDeviceRank{"rank", "Rank", ResultUnit::kNumber,
                                          "Rank of the device's process; -1 if the input does not say it.",
                                          ColumnShown::kIfKnown};
inline constexpr auto kDeviceRankValue = [](const Trace& trace, const auto& row) -> int64_t {
  return row.process == ProcessId::kNone ? -1 : trace.processes().rank[Row(row.process)];
};

inline constexpr ResultColumn kDeviceNumber{"device", "Device", ResultUnit::kNumber,
                                            "Number of the device; unknown if the input does not number them."};
inline constexpr auto kDeviceNumberValue = [](const auto& row) -> std::optional<int64_t> {
  if (row.device < 0) return std::nullopt;
  return row.device;
};

}  // namespace opscope
