// The critical path through a job: which ranks determine its length. No other cross-rank analysis needs a walk, so this
// one is C++ code over rows of SQL (src/job/sql/critical_*.sql).
//
// Contract: rows may be in any order and have any times; a row with an index out of range is ignored.
// Ties: the lowest rank, then the first collective. A piece whose end is before its begin counts as empty.
// Cost: O(n log n) time; 8 bytes per member beside the input.
// Thread rule: a pure function.
//
//   CriticalRanksInput input;    // filled from the four SQL files
//   CriticalRanks answer = FindCriticalRanks(std::move(input));
//   answer.ranks[0].critical_ns;
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace opscope {

struct CriticalRanksInput {
  struct Rank {
    int32_t rank = 0;
    int64_t begin_ns = 0;  // of its first step; of its first file if it has no steps
    int64_t end_ns = 0;    // the largest end of a step; 0 without steps
    bool has_steps = false;
  };
  struct Member {            // of a synchronising collective
    int32_t collective = 0;  // numbered without gaps
    int32_t rank_index = 0;  // into `ranks`
    int64_t start_ns = 0, duration_ns = 0;
    int64_t gap_ns = 0;  // before it; -1: unknown
  };
  struct Step {
    int32_t rank_index = 0;
    int64_t step = 0, start_ns = 0, duration_ns = 0;
  };
  std::vector<Rank> ranks;  // by rank
  std::vector<Member> members;
  std::vector<Step> steps;
};

struct CriticalRanks {
  struct Rank {
    int32_t rank = 0;
    int64_t critical_ns = 0;
    int64_t steps = 0;      // steps in which the rank has most of the path
    int64_t saved_ns = 0;   // excess before the collectives at which the path came to the rank
    int64_t excess_ns = 0;  // by which its gaps before collectives on the path exceed the median gaps
  };
  struct Step {
    int64_t step = 0, length_ns = 0;
    int32_t rank = 0;  // the rank with most of the path in this step
  };
  int64_t length_ns = 0;    // 0 without steps
  int64_t what_if_ns = 0;   // length without the `saved_ns` of all ranks
  int64_t balanced_ns = 0;  // length if each gap that delays the other ranks were shortened to the median gap
  std::vector<Rank> ranks;  // by descending critical_ns, then by rank
  std::vector<Step> steps;  // by step; only steps that the path crosses
};

CriticalRanks FindCriticalRanks(CriticalRanksInput input);

}  // namespace opscope
