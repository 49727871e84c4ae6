// Members named "opscope.*" for facts of a Trace that Kineto's format cannot express. They are written only where a
// reader of the file would otherwise get another Trace. A file by Kineto imports without them, and so does a recording
// by torch whose ranges do not cross.
//
//   document  "opscope.tracks": [{"pid": 0, "tid": 1, "kind": "other", "device": 0, "crossing": true}]
//             kind, device: if the categories of its spans do not determine them; crossing: the track's spans cross
//             each other and are siblings
//             {"pid": 0, "tid": 1000000000, "row_of": 1}: spans of the thread 1 (chrome_lanes.h)
//   span      "opscope.step": 3               its step number, if the name does not contain it
//             "opscope.overload": "dtype"     the operator overload, which is the last part of its name
//             "opscope.async": "crossing"     why it is not nested in its thread: it crosses spans that began in it
//                                             ("crossing"), it ended on another thread ("thread"), or it is an
//                                             asynchronous range ("range")
//
// Thread rule: pure functions; OwnStepNumbers is immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

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
