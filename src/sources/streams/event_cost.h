// Measures the overhead of a source (Source::overhead) with short runs of events that the source makes itself.
//
// Thread rule: the stream is the calling thread's own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/short_runs.h"
#include "opscope/recorder.h"

namespace opscope {

inline constexpr uint32_t kEventsPerRun = 48;
inline constexpr size_t kNestedEvents = 24;

// A window for the measured events only. It overwrites its oldest chunks, so it is never full. Null: out of memory.
using ScratchWindow = std::unique_ptr<Window, void (*)(Window*)>;
inline ScratchWindow OpenScratchWindow() {
  WindowOptions options;
  options.native_threads = NativeThreads::kNone;
  options.at_cap = AtCap::kKeepNewest;
  options.max_bytes = 2 * kChunkBytes;
  return {opscope_window_open(&options, nullptr), &opscope_window_free};
}

// run() begins and ends one event.
template <typename Run>
double NsPerEvent(const Run& run) {
  const double begin = PreciseNow();
  for (uint32_t i = 0; i < kEventsPerRun; ++i)
    run();
  return (PreciseNow() - begin) / kEventsPerRun;
}

// The share of a run's time that lies inside the recorded ranges. If the run crosses into the next chunk, only the
// records there are read; the caller takes a median, which ignores such an outlier.
template <typename Run>
double InsideShare(const Stream* stream, const Run& run) {
  const uint64_t begin = ReadTicks();
  for (uint32_t i = 0; i < kEventsPerRun; ++i)
    run();
  const auto ticks = static_cast<double>(ReadTicks() - begin);
  double inside = 0;
  for (uint32_t i = std::min(kEventsPerRun, RecordsInChunk(stream)); i > 0; --i)
    inside += static_cast<double>((stream->next - i)->value);
  return inside / ticks;
}

// Share of the begins in the time of begins and ends. Range: the memory of one event; begin_event(Range*),
// end_event(Range*).
template <typename Range, typename Begin, typename End>
double BeginShare(const Begin& begin_event, const End& end_event) {
  Range ranges[kNestedEvents];
  const double begin = PreciseNow();
  for (Range& range : ranges)
    begin_event(&range);
  const double half = PreciseNow();
  for (size_t i = kNestedEvents; i-- > 0;)
    end_event(&ranges[i]);
  return (half - begin) / (PreciseNow() - begin);
}

// Appends a member of a JSON object with two decimals, independent of the locale.
inline void AppendNs(std::string* out, const char* key, double ns) {
  const auto hundredths = static_cast<uint64_t>(std::llround(std::max(ns, 0.0) * 100));
  if (out->back() != '{') out->push_back(',');
  out->append("\"").append(key).append("\":").append(std::to_string(hundredths / 100)).append(".");
  out->push_back(static_cast<char>('0' + hundredths / 10 % 10));
  out->push_back(static_cast<char>('0' + hundredths % 10));
}

}  // namespace opscope
