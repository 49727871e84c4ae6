// Finds the spans whose name contains a text, ignoring case: how many there are, and
// which come next before and after a place in the timeline.
//
//   SpanSearch search(trace, "relu");
//   const SpanMatches matches = search.Around(SpanPlace{.start_ns = 100, .row = 7});
//   if (matches.count > 0) Show(matches.next);      // a row of trace.spans()
//
// Matches are ordered by begin, then by track, then in the order of the trace. Both
// directions wrap around at the ends.
//
// Thread rule: immutable; the Trace must outlive the search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// A place in the order of matches. Rows of a Trace are ordered by track, so a row says
// its track too.
struct SpanPlace {
  int64_t start_ns = 0;
  // Row of trace.spans(); 0: before every span that begins at start_ns.
  uint32_t row = 0;
  friend auto operator<=>(const SpanPlace&, const SpanPlace&) = default;
};

// What a search found.
struct SpanMatches {
  // Number of matches. 0: next and previous mean nothing.
  uint64_t count = 0;
  // Matches before the place.
  uint64_t before = 0;
  // The place is itself a match.
  bool is_match = false;
  // Rows of trace.spans(): the first match after the place, else the first of all; the
  // last match before it, else the last of all.
  uint32_t next = 0, previous = 0;
};

class SpanSearch {
 public:
  // An empty text matches nothing. Tests each distinct name once. O(spans).
  SpanSearch(const Trace& trace, std::string_view text);

  [[nodiscard]] uint64_t count() const { return count_; }
  // nullopt: a place before all spans. O(spans).
  [[nodiscard]] SpanMatches Around(const std::optional<SpanPlace>& place) const;

 private:
  // Of a name in is_match_; the last one is that of spans without a name, which damaged files have.
  size_t PlaceOf(StringId name) const;

  const Trace& trace_;
  std::vector<uint8_t> is_match_;  // by StringId
  uint64_t count_ = 0;
};

}  // namespace opscope
