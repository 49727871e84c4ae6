// What a Trace knows and Kineto's format has no word for: members named "opscope.*", written only where a reader of the
// file would otherwise see something else (a file of Kineto has none of them, nor has a recording by torch whose ranges
// do not cross).
//
//   of the document  "opscope.tracks": [{"pid": 0, "tid": 1, "kind": "other", "device": 0, "crossing": true}]
//                    kind and device where categories do not tell them; crossing: its spans cross each other and stand
//                    beside, not in each other
//                    {"pid": 0, "tid": 1000000000, "row_of": 1}: spans of the thread 1 (chrome_lanes.h)
//   of a span        "opscope.step": 3               it is that step, whatever its name is
//                    "opscope.overload": "dtype"     the last part of its name is that
//                    "opscope.async": "crossing"     it is outside of the nesting of its thread: it crosses spans that
//                                                    began in it ("crossing"), it ended on another thread ("thread"),
//                                                    or it is an asynchronous range ("range")
//
// Thread rule: pure functions; OwnStepNumbers is immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "export/chrome_pieces.h"
#include "export/chrome_plan.h"
#include "opscope/trace.h"

namespace opscope {

inline constexpr std::string_view kOwnTracksKey = "opscope.tracks";
// The value of "opscope.tracks", in the order of the plan; empty if no track needs an entry. O(spans).
std::string OwnTrackMembers(const Trace& trace, const ChromePlan& plan, const ChromePieces& pieces);

// The value of "opscope.async" of a span with span_flags::kAsync.
std::string_view AsyncReason(uint8_t flags);

// Numbers of steps whose span's name or members do not give the number in a form of torch, Paddle, MegEngine or XLA.
class OwnStepNumbers {
 public:
  explicit OwnStepNumbers(const Trace& trace);

  // One hash look-up; call it only for spans with span_flags::kStep, which are few.
  std::optional<int64_t> Of(uint32_t span) const;

 private:
  std::unordered_map<uint32_t, int64_t> number_of_;
};

}  // namespace opscope
