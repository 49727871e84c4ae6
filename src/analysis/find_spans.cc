// Finds spans by name. A trace of millions of spans has thousands of names: each name is folded and searched once, and
// the pass over the spans looks the result up.
//
// The neighbours of a place are the least match above it and the greatest below it. One pass finds both, with the first
// and the last of all, for wrapping around; sorting all matches would take as long as many passes and as much memory as
// the trace.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/find_spans.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/fold_case.h"

namespace opscope {
namespace {

enum NameMatch : uint8_t { kUntested, kMatches, kDiffers };

}  // namespace

SpanSearch::SpanSearch(const Trace& trace, std::string_view text) : trace_(trace) {
  if (text.empty()) return;
  std::string wanted, folded;
  FoldCase(text, &wanted);
  is_match_.assign(trace.string_count() + 1, kUntested);
  for (const StringId name : trace.spans().name) {
    uint8_t& match = is_match_[PlaceOf(name)];
    if (match == kUntested) {
      FoldCase(trace.text(name), &folded);
      match = folded.find(wanted) != std::string::npos ? kMatches : kDiffers;
    }
    count_ += match == kMatches;
  }
}

size_t SpanSearch::PlaceOf(StringId name) const {
  return std::min<size_t>(Row(name), is_match_.size() - 1);
}

SpanMatches SpanSearch::Around(const std::optional<SpanPlace>& place) const {
  SpanMatches matches{.count = count_};
  if (count_ == 0) return matches;
  const SpanColumns& spans = trace_.spans();
  SpanPlace first{INT64_MAX, UINT32_MAX}, last{INT64_MIN, 0};
  std::optional<SpanPlace> next, previous;
  for (uint32_t row = 0; row < spans.size(); ++row) {
    if (is_match_[PlaceOf(spans.name[row])] != kMatches) continue;
    const SpanPlace match{spans.start[row].ns, row};
    first = std::min(first, match);
    last = std::max(last, match);
    if (!place) continue;
    if (match < *place) {
      ++matches.before;
      if (!previous || match > *previous) previous = match;
    } else if (match > *place) {
      if (!next || match < *next) next = match;
    } else {
      matches.is_match = true;
    }
  }
  matches.next = next.value_or(first).row;
  matches.previous = previous.value_or(last).row;
  return matches;
}

}  // namespace opscope
