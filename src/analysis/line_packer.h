// Packs ranges that may overlap into lines, as a timeline draws them below each other. Each range takes the first line
// that is free at its begin; beyond the most lines all share the last one.
//
//   ranges [0,10) [2,5) [6,8)   ->   lines 0 1 1
//
//   LinePacker lines(64);
//   for (const Range& range : ranges_by_begin) Draw(range, lines.Place(range.begin_ns, range.end_ns));
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace opscope {

class LinePacker {
 public:
  // REQUIRES: max_lines > 0
  explicit LinePacker(size_t max_lines) : max_lines_(max_lines) {}

  // The line of the next range. REQUIRES: ranges come by begin. O(max_lines).
  uint32_t Place(int64_t begin_ns, int64_t end_ns) {
    size_t line = 0;
    while (line < ends_ns_.size() && ends_ns_[line] > begin_ns)
      ++line;
    if (line == ends_ns_.size() && line < max_lines_) ends_ns_.push_back(INT64_MIN);
    line = std::min(line, max_lines_ - 1);
    ends_ns_[line] = std::max(ends_ns_[line], end_ns);
    return static_cast<uint32_t>(line);
  }

  // Lines in use.
  uint32_t count() const { return static_cast<uint32_t>(ends_ns_.size()); }
  void Clear() { ends_ns_.clear(); }

 private:
  size_t max_lines_;
  std::vector<int64_t> ends_ns_;  // by line: the last end so far
};

}  // namespace opscope
