// Tells which machine's wall clock timed an input, and how far two inputs of one machine may be apart by it.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "opscope/trace.h"

namespace opscope {

// Wall clock minus monotonic clock, in nanoseconds, over all windows of a recording.
struct WallOffsets {
  int64_t least_ns = 0;
  int64_t most_ns = 0;
  int64_t within_ns = 0;  // error of the least accurate reading
};

struct Machine {
  std::string boot;                    // boot id as JSON text; empty: unknown
  std::string host;                    // as JSON text; empty: unknown
  std::optional<WallOffsets> offsets;  // nullopt: no readings
};

[[nodiscard]] Machine MachineOf(const Trace& trace);

// What two files of one rank agree on; a member on which they differ becomes empty.
[[nodiscard]] Machine CommonMachine(const Machine& a, const Machine& b);

// How accurate a shared wall clock is between two inputs.
struct WallBound {
  int64_t bound_ns = 0;      // reading error plus how far the clock was set in between
  bool is_measured = false;  // false: bound_ns is the caller's default
};

// nullopt if the two are not known to be of one machine. An equal host name alone is no proof, so its bound is
// `max_difference_ns`, as between any two machines.
[[nodiscard]] std::optional<WallBound> BoundBetween(const Machine& a, const Machine& b, int64_t max_difference_ns);

}  // namespace opscope
