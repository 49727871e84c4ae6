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
  uint64_t window = 0;  // the window's number
  int64_t process = 0;
  std::string process_name;
  std::string boot;  // identifies the boot of the machine, as a hash
  std::vector<int64_t>
      wall_clock;             // ns: monotonic time, unix time, longest time between the two readings; empty: unknown
  bool keeps_newest = false;  // leading chunks may be missing by policy
  bool is_live = false;       // written while recording: threads are missing, and a later info may follow
  Calibration rate;           // of a live window: ticks, and the nanoseconds that they took
  std::string record_to_failure;  // failure of the mapped file; empty: it did not fail
  std::vector<Calibration> calibrations;
  std::vector<WindowThread> threads;
  std::string options_json = "{}";                            // unknown members, unchanged
  std::vector<std::pair<std::string, std::string>> metadata;  // key, JSON text as given by the user
};

// nullopt: not a JSON object. Absent members and members of another type keep their defaults.
[[nodiscard]] std::optional<WindowInfo> ParseWindowInfo(std::span<const std::byte> json);

// Facts of the windows about their machine and its wall clock, as metadata (base/metadata_keys.h).
void AddMachine(const std::vector<WindowInfo>& windows, TraceBuilder* builder);

}  // namespace opscope
