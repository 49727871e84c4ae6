// Works of one stream, or of all streams of a rank, that have a launch; finds which of them a wait is for.
//
//   LaunchedWorks works(&all);
//   works.Add(3), works.Add(5);          // in their order
//   works.LastEnded(begin, end);         // of those launched before `begin`, the last to end in (begin, end]
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/critical_path_works.h"

namespace opscope {

class LaunchedWorks {
 public:
  explicit LaunchedWorks(const PathWorks* all) : all_(all) {}

  // REQUIRES: it has a launch; works are added in ascending order, and before any question.
  void Add(uint32_t work) { works_.push_back(work); }

  // kNoPathNode: there is none. The first question costs O(n log n), the others O(log n).
  uint32_t LastLaunchedBefore(int64_t time);
  uint32_t FirstLaunchedAfter(int64_t time);
  uint32_t LastEnded(int64_t begin, int64_t end);

 private:
  void OrderByLaunch();
  void OrderByEnd();
  uint32_t LastBelow(size_t at, int64_t launch) const;

  const PathWorks* all_;
  std::vector<uint32_t> works_;
  std::vector<int64_t> latest_so_far_;     // launch begin among works up to this one
  std::vector<int64_t> earliest_onwards_;  // launch begin among works from this one on
  std::vector<uint32_t> by_end_;
  // Launch begins in the order of by_end_, then the least of every kBlock values of the level before.
  std::vector<std::vector<int64_t>> least_launch_;
};

}  // namespace opscope
