// The kWindowInfo block: what the recorder says about a window as a whole, as JSON (FORMAT.md).
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
  std::string boot;                 // of the machine, as a hash
  std::vector<int64_t> wall_clock;  // monotonic, unix, within, in ns; empty: not known
  bool keeps_newest = false;        // leading chunks are missing by policy
  bool is_live = false;             // written while recording: no threads, and more is to come
  Calibration rate;                 // of a live one: ticks and the nanoseconds that they took
  std::string record_to_failure;    // what a file that is recorded to could not do; empty: nothing
  std::vector<Calibration> calibrations;
  std::vector<WindowThread> threads;
  std::string options_json = "{}";                            // members that are not read here, as they are
  std::vector<std::pair<std::string, std::string>> metadata;  // key, JSON text as it was given
};

// nullopt: not a JSON object. Members that are absent or of another type keep their defaults.
[[nodiscard]] std::optional<WindowInfo> ParseWindowInfo(std::span<const std::byte> json);

// What the windows say of their machine and its wall clock, as metadata (base/metadata_keys.h).
void AddMachine(const std::vector<WindowInfo>& windows, TraceBuilder* builder);

}  // namespace opscope
