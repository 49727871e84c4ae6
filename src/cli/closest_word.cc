// SPDX-License-Identifier: Apache-2.0
#include "cli/closest_word.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace opscope {
namespace {

// Levenshtein's distance, row by row of its table.
size_t DistanceOf(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t k = 0; k < to.size(); ++k) {
      const size_t replaced = diagonal + (from[i] == to[k] ? 0 : 1);
      diagonal = std::exchange(row[k + 1], std::min({replaced, row[k] + 1, row[k + 1] + 1}));
    }
  }
  return row.back();
}

}  // namespace

std::string ClosestWord(std::string_view word, std::span<const std::string> known) {
  std::string closest;
  size_t fewest = word.size() / 3 + 1;
  for (const std::string& candidate : known) {
    if (const size_t distance = DistanceOf(word, candidate); distance < fewest) {
      fewest = distance;
      closest = candidate;
    }
  }
  return closest;
}

}  // namespace opscope
