// Maps addresses to offsets without wide gaps. Blocks from the heap and from mappings lie terabytes apart; drawn to
// scale their tensors would be lines too thin to see. A gap is shortened to at most 1/200 of the used bytes.
//
//   addresses  [a  b]                        [c d]     ->  offsets  [a  b] [c d]
//
// Thread rule: immutable after construction. Construction costs O(n log n), a look-up O(log n).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace opscope {

class AddressAxis {
 public:
  struct Segment {
    uint64_t first = 0, end = 0;  // addresses
    uint64_t offset = 0;          // of the first
  };

  // ranges: [first, end)
  explicit AddressAxis(std::vector<std::pair<uint64_t, uint64_t>> ranges) {
    std::sort(ranges.begin(), ranges.end());
    uint64_t used = 0;
    for (const auto& [first, end] : ranges) {
      if (segments_.empty() || first > segments_.back().end) segments_.push_back({first, end, 0});
      segments_.back().end = std::max(segments_.back().end, end);
    }
    for (const Segment& segment : segments_)
      used += segment.end - segment.first;
    const uint64_t widest = std::max<uint64_t>(used / 200, 1);
    for (size_t i = 1; i < segments_.size(); ++i) {
      const Segment& before = segments_[i - 1];
      const uint64_t gap = std::min(segments_[i].first - before.end, widest);
      segments_[i].offset = before.offset + (before.end - before.first) + gap;
    }
  }

  // REQUIRES: the address lies in a range, or at its end.
  uint64_t Offset(uint64_t address) const {
    const auto behind = std::upper_bound(segments_.begin(), segments_.end(), address,
                                         [](uint64_t value, const Segment& segment) { return value < segment.first; });
    const Segment& segment = behind == segments_.begin() ? *behind : *std::prev(behind);
    return segment.offset + (address - segment.first);
  }
  uint64_t size() const {
    return segments_.empty() ? 0 : segments_.back().offset + segments_.back().end - segments_.back().first;
  }
  const std::vector<Segment>& segments() const { return segments_; }

 private:
  std::vector<Segment> segments_;
};

}  // namespace opscope
