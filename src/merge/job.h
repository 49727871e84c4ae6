// Decides which inputs belong to the job: finds their ranks, files of another job, two files of one rank, and ranks
// without a file.
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

// First begin and last end of one rank's spans in an input, by that rank's own clock.
struct RankWindow {
  int32_t rank = -1;
  int64_t first_ns = 0, last_ns = 0;
};

// What the merge needs to know of one input beside its tables.
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
  std::string left_out;               // the reason, for the user; empty: it belongs to the job
  std::string_view left_out_problem;  // kind of problem for `left_out`
};

[[nodiscard]] InputFacts FactsOf(const MergeInput& input);

// Row numbers of `facts` by rank (unknown last), then time, then content and name. Does not depend on the order of the
// inputs unless two are equal in all of these.
[[nodiscard]] std::vector<size_t> CanonicalOrder(const std::vector<InputFacts>& facts);

// Sets `left_out` of inputs from another job: their world size differs from the majority's. Inputs without a rank have
// no vote and are not left out. Sets it, too, of an input that covers the same time of a rank as one with more ranks,
// with as many ranks and more spans, or with as many spans and the smaller name. REQUIRES: facts are in canonical
// order.
void ExcludeForeignInputs(std::vector<InputFacts>* facts);

// Runs (first, last) of ranks in [0, world_size) that no input has.
[[nodiscard]] std::vector<std::pair<uint32_t, uint32_t>> MissingRanks(const std::vector<InputFacts>& facts,
                                                                      uint32_t world_size);

}  // namespace opscope
