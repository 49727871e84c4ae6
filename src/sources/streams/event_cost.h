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

// A window for the measured events alone, which is never full. Null: memory is short.
using ScratchWindow = std::unique_ptr<Window, void (*)(Window*)>;
inline ScratchWindow OpenScratchWindow() {
  WindowOptions options;
  options.native_threads = NativeThreads::kNone;
  options.at_cap = AtCap::kKeepNewest;
  options.max_bytes = 2 * kChunkBytes;
  return {opscope_window_open(&options, nullptr), &opscope_window_free};
}

// run(): one event, begun and ended.
template <typename Run>
double NsPerEvent(const Run& run) {
  const double begin = PreciseNow();
  for (uint32_t i = 0; i < kEventsPerRun; ++i)
    run();
  return (PreciseNow() - begin) / kEventsPerRun;
}

// The share of the time that lies inside the recorded ranges, from ticks alone. If a run crosses into the next chunk
// only the records there are read; such an outlier does not change the median.
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

// Share of the begins in the time of begins and ends. begin(Place*), end(Place*).
template <typename Place, typename Begin, typename End>
double BeginShare(const Begin& begin_event, const End& end_event) {
  Place places[kNestedEvents];
  const double begin = PreciseNow();
  for (Place& place : places)
    begin_event(&place);
  const double half = PreciseNow();
  for (size_t i = kNestedEvents; i-- > 0;)
    end_event(&places[i]);
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
