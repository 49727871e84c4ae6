// Reads a flight recorder's dump: why it was written, and which spans every thread
// was in when the recording was cut off, which shows what a hanging job waits for.
//
//   if (const std::optional<DumpCause> cause = CauseOfDump(trace)) Print(cause->reason);
//   for (const OpenSpans& thread : FindOpenSpans(trace)) PrintStack(trace, thread.spans);
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

// Why a dump was written.
struct DumpCause {
  // "request", "signal", "exception", "no_step", or the program's own word
  // (FlightRecorder::Dump).
  std::string reason;
  // The signal, the exception's type, or how long there was no step; may be empty.
  std::string detail;
  // Number of the dump in its process, from 1.
  uint64_t number = 0;
  // Time of the dump, nanoseconds since 1970.
  int64_t unix_ns = 0;
};

// nullopt: the input is not a dump.
[[nodiscard]] std::optional<DumpCause> CauseOfDump(const Trace& trace);

// The open spans of one thread.
struct OpenSpans {
  TrackId track = TrackId::kNone;
  // Outermost first, asynchronous ones last; may be empty.
  std::vector<SpanId> spans;
};

// One entry per thread that recorded something, in the order of the tracks. Empty
// for an input that was not cut off: its unfinished spans merely outlast the
// recording. O(n) in spans.
[[nodiscard]] std::vector<OpenSpans> FindOpenSpans(const Trace& trace);

}  // namespace opscope
