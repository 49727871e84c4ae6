// Which machine's wall clock the times of an input are in, and how far two inputs of one machine may differ by it.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "opscope/trace.h"

namespace opscope {

// The wall clock less the monotonic one, as its recordings have read the two; several windows may differ.
struct WallOffsets {
  int64_t least_ns = 0;
  int64_t most_ns = 0;
  int64_t within_ns = 0;  // the worst reading's doubt
};

struct Machine {
  std::string boot;  // as JSON, as the host is; empty: not told
  std::string host;
  std::optional<WallOffsets> offsets;  // of that boot
};

[[nodiscard]] Machine MachineOf(const Trace& trace);

// What holds for the files of both. Where they differ nothing does.
[[nodiscard]] Machine Common(const Machine& a, const Machine& b);

// How well the wall clock that two share is known to compare.
struct WallBound {
  int64_t bound_ns = 0;  // how far apart the two may be: by reading it, and by how much it was set between them
  bool is_measured = false;
};

// nullopt: nothing says that the two are of one machine. A host's name is no proof, so its bound is
// `max_difference_ns`, as between any two machines.
[[nodiscard]] std::optional<WallBound> BoundBetween(const Machine& a, const Machine& b, int64_t max_difference_ns);

}  // namespace opscope
