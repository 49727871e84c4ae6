// Why a dump of a flight recorder was written, and which spans every thread was in when a recording was cut off: what a
// job that hangs waits for.
//
// Thread rule: pure functions of an immutable Trace; results are plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

struct DumpCause {
  std::string reason;  // "request", "signal", "exception", "no_step", or what the program called it
  std::string detail;  // the signal, the exception's type, how long there was no step; may be empty
  uint64_t number = 0;
  int64_t unix_ns = 0;
};

// nullopt: the input is no dump.
[[nodiscard]] std::optional<DumpCause> CauseOfDump(const Trace& trace);

struct OpenSpans {
  TrackId track = TrackId::kNone;
  std::vector<SpanId> spans;  // outermost first, async ones behind; may be empty
};

// One per thread that recorded something, in order of the tracks. Empty for an input that was not cut off: what is
// unfinished there was merely longer than the recording. O(n) in spans.
[[nodiscard]] std::vector<OpenSpans> FindOpenSpans(const Trace& trace);

}  // namespace opscope
