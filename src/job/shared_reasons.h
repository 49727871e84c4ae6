// Joins the reasons for which ranks doubt their traces. Ranks of a job mostly have the same ones, and a line for each
// rank could not be read:
//
//   SharedReasons reasons;
//   reasons.Add(0, "12 spans cross others");
//   reasons.Add(1, "3 spans cross others");
//   reasons.Texts();                          {"rank 0, 1: 15 spans cross others"}
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace opscope {

class SharedReasons {
 public:
  // Joins reasons that differ only in a number at their beginning, or in two as in "3 of 10 events", and adds up the
  // numbers. Drops reasons after the first 20, because a damaged JOB may have any number of them.
  void Add(int64_t rank, std::string_view reason);
  // In the order in which they were added first, with at most 20 ranks each.
  [[nodiscard]] std::vector<std::string> Texts() const;

 private:
  struct Reason {
    std::optional<uint64_t> count, total;  // 3 and 10 of "3 of 10 events"
    std::string rest;
    std::set<int64_t> ranks = {};
  };
  static Reason Parse(std::string_view text);

  std::vector<Reason> reasons_;
};

}  // namespace opscope
