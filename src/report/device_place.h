// The rank and the device that a row of a device belongs to.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "opscope/trace.h"

namespace opscope {

// -1: the input does not say it.
[[nodiscard]] inline int64_t RankOf(const Trace& trace, ProcessId process) {
  return process == ProcessId::kNone ? -1 : trace.processes().rank[Row(process)];
}

// Unknown for -1: the input does not number its devices.
[[nodiscard]] inline std::optional<int64_t> DeviceNumber(int64_t device) {
  if (device < 0) return std::nullopt;
  return device;
}

}  // namespace opscope
