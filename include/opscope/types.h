// Strong types for times and for handles of table rows. A handle is the row number in its table of
// one Trace; kNone (all bits set) means "no row". They have the layout of the integer inside, so
// columns of them leave as plain integer buffers without a copy.
//
// Thread rule: plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

namespace opscope {

// Nanoseconds relative to the trace's epoch (Trace::info().epoch_ns); may be negative.
struct Timestamp {
  int64_t ns = 0;
  friend auto operator<=>(const Timestamp&, const Timestamp&) = default;
};

// Nanoseconds. Durations of spans are never negative: importers repair that and count a Problem.
struct Duration {
  int64_t ns = 0;
  friend auto operator<=>(const Duration&, const Duration&) = default;
};

// Wraps like the machine does: hostile times far apart must not be undefined behaviour.
inline Timestamp operator+(Timestamp t, Duration d) {
  return {static_cast<int64_t>(static_cast<uint64_t>(t.ns) + static_cast<uint64_t>(d.ns))};
}
inline Duration operator-(Timestamp a, Timestamp b) {
  return {static_cast<int64_t>(static_cast<uint64_t>(a.ns) - static_cast<uint64_t>(b.ns))};
}

enum class StringId : uint32_t { kEmpty = 0, kNone = 0xffffffff };  // string 0 is always ""
enum class ProcessId : uint32_t { kNone = 0xffffffff };
enum class TrackId : uint32_t { kNone = 0xffffffff };
enum class SpanId : uint32_t { kNone = 0xffffffff };
enum class ArgsId : uint32_t { kNone = 0xffffffff };
enum class StackId : uint32_t { kNone = 0xffffffff };
enum class FrameId : uint32_t { kNone = 0xffffffff };

template <typename Id>
constexpr uint32_t Row(Id id) {
  return static_cast<uint32_t>(id);
}

}  // namespace opscope
