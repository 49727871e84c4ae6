// Which inputs belong to the job: their ranks, files of another job, two files of one rank, ranks without a file.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opscope/merge.h"
#include "opscope/trace.h"

namespace opscope {

// From the first begin to the last end of what an input holds of a rank, by that rank's own clock.
struct RankWindow {
  int32_t rank = -1;
  int64_t first_ns = 0, last_ns = 0;
};

// What is asked of one input, beside the trace itself.
struct InputFacts {
  std::string name;
  int32_t rank = -1;
  bool rank_is_from_name = false;
  uint32_t world_size = 0;
  bool has_wall_clock = false;
  int64_t first_ns = 0;  // first begin and last end; unix time where there is a wall clock
  int64_t last_ns = 0;
  uint64_t spans = 0;
  std::vector<RankWindow> ranks;      // `rank`, or those of a trace that was merged before; empty: unknown
  std::string left_out;               // why; empty: it belongs
  std::string_view left_out_problem;  // its kind of problem
};

[[nodiscard]] InputFacts FactsOf(const MergeInput& input);

// By rank (those without one last), then time, then content and name: the same for any order of the inputs.
[[nodiscard]] std::vector<size_t> CanonicalOrder(const std::vector<InputFacts>& facts);

// Leaves out the inputs of another job (another number of ranks than most have), and of two files that cover the same
// time of one rank the one with fewer ranks, or else with fewer spans. Facts are in canonical order.
void LeaveOutOthers(std::vector<InputFacts>* facts);

// The ranks of [0, world_size) that no input has, as runs: first and last.
[[nodiscard]] std::vector<std::pair<uint32_t, uint32_t>> MissingRanks(const std::vector<InputFacts>& facts,
                                                                      uint32_t world_size);

}  // namespace opscope
