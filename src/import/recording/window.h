// The kWindowInfo block: facts about a whole window, as JSON (FORMAT.md).
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "opscope/record.h"
#include "trace/builder.h"

namespace opscope {

struct WindowThread {
  uint32_t index = 0;
  uint64_t os_thread = 0;
  uint64_t logical_thread = 0;
  std::string name;
  uint64_t recorded = 0;
  uint64_t dropped = 0;
};

struct WindowInfo {
  uint64_t window = 0;  // generation
  int64_t process = 0;
  std::string process_name;
  std::string boot;  // of the machine, as a hash
  std::vector<int64_t>
      wall_clock;  // ns: monotonic time, unix time, and the most time between the two readings; empty: unknown
  bool keeps_newest = false;      // leading chunks are missing by policy
  bool is_live = false;           // written while recording: no threads, and more is to come
  Calibration rate;               // of a live one: ticks and the nanoseconds that they took
  std::string record_to_failure;  // failure of the mapped file; empty: none
  std::vector<Calibration> calibrations;
  std::vector<WindowThread> threads;
  std::string options_json = "{}";                            // members that are not read here, unchanged
  std::vector<std::pair<std::string, std::string>> metadata;  // key, JSON text as it was given
};

// nullopt: not a JSON object. Members that are absent or of another type keep their defaults.
[[nodiscard]] std::optional<WindowInfo> ParseWindowInfo(std::span<const std::byte> json);

// Facts of the windows about their machine and its wall clock, as metadata (base/metadata_keys.h).
void AddMachine(const std::vector<WindowInfo>& windows, TraceBuilder* builder);

}  // namespace opscope
