// Strong types for times and for handles of table rows. A handle is a row number of
// one table of one Trace; kNone (all bits set) means "no row". The types have the
// layout of the integer inside, so columns of them leave as integer buffers without
// a copy.
//
//   const SpanId parent = trace.spans().parent[row];
//   if (parent != SpanId::kNone) Use(trace.spans().name[Row(parent)]);
//
// Thread rule: plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

namespace opscope {

// Nanoseconds relative to the trace's epoch (TraceInfo::epoch_ns); may be negative.
struct Timestamp {
  int64_t ns = 0;
  friend auto operator<=>(const Timestamp&, const Timestamp&) = default;
};

// Nanoseconds. Durations of spans are never negative: importers clamp them to 0 and
// count a Problem.
struct Duration {
  int64_t ns = 0;
  friend auto operator<=>(const Duration&, const Duration&) = default;
};

// Arithmetic wraps around: times of a hostile file must not cause undefined
// behaviour.
inline Timestamp operator+(Timestamp t, Duration d) {
  return {static_cast<int64_t>(static_cast<uint64_t>(t.ns) + static_cast<uint64_t>(d.ns))};
}
inline Duration operator-(Timestamp a, Timestamp b) {
  return {static_cast<int64_t>(static_cast<uint64_t>(a.ns) - static_cast<uint64_t>(b.ns))};
}

// An interned string: equal texts of one Trace have equal ids, so grouping by name
// compares integers. kEmpty is "" in every Trace; kNone means "no text". Ids of two
// Traces must not be compared.
enum class StringId : uint32_t { kEmpty = 0, kNone = 0xffffffff };
// Rows of the tables processes, tracks, spans, argument lists, stacks and frames.
// kNone: no row.
enum class ProcessId : uint32_t { kNone = 0xffffffff };
enum class TrackId : uint32_t { kNone = 0xffffffff };
enum class SpanId : uint32_t { kNone = 0xffffffff };
enum class ArgsId : uint32_t { kNone = 0xffffffff };
enum class StackId : uint32_t { kNone = 0xffffffff };
enum class FrameId : uint32_t { kNone = 0xffffffff };

// The row number of a handle. REQUIRES: it is not kNone, or the caller compares
// with kNone's bits.
template <typename Id>
constexpr uint32_t Row(Id id) {
  return static_cast<uint32_t>(id);
}

}  // namespace opscope
