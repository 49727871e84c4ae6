// Finds the critical path of each rank: the chain of host code, launches, works of devices and
// waits that determined how long the run took. docs/reference/critical_path.md has the rules.
//
//   const CriticalPathReport report = FindCriticalPaths(trace);
//   for (const CriticalPath& path : report.paths)
//     Print(path.rank, path.length_ns, path.times.host_ns, path.times.compute_ns);
//   for (const CriticalPathEdge& edge : report.rows)
//     Print(PathEdgeKindName(edge.kind), trace.text(trace.spans().name[Row(edge.span)]), edge.duration_ns);
//
// Thread rule: pure function of an immutable Trace; the result is a plain value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// What an edge of the path stands for.
enum class PathEdgeKind : uint8_t {
  // A host span ran, and nothing that began later on the lane was open.
  kHost,
  // No host span was open on a main lane.
  kGap,
  // From the begin of the launch to the begin of the work.
  kLaunch,
  // From the end of another work, on the same stream or waited for, to the begin of the work.
  kQueue,
  // A kernel ran that is not part of a collective.
  kCompute,
  // A kernel of a collective ran.
  kCommunication,
  // A copy or a set ran.
  kCopy,
  // From the end of a work to the end of the blocking call that waited for it.
  kSync,
};

// "host", "gap", "launch", "queue", "compute", "communication", "copy", "sync".
[[nodiscard]] std::string_view PathEdgeKindName(PathEdgeKind kind);

// Time on a path by the kind of its edges, in nanoseconds.
struct CriticalPathTimes {
  int64_t host_ns = 0;
  int64_t gap_ns = 0;
  int64_t launch_ns = 0;
  int64_t queue_ns = 0;
  int64_t compute_ns = 0;
  int64_t communication_ns = 0;
  int64_t copy_ns = 0;
  int64_t sync_ns = 0;
};

// The path of one rank.
struct CriticalPath {
  // Rank of the processes; -1: unknown.
  int32_t rank = -1;
  // Sum of the path's edges in nanoseconds, at most window_ns.
  int64_t length_ns = 0;
  // From the first begin to the last end of the rank's host spans and works.
  int64_t window_ns = 0;
  // The parts of length_ns.
  CriticalPathTimes times;
  // Its edges in CriticalPathReport::rows.
  size_t first_row = 0, row_count = 0;
};

// A part of a path that took time.
struct CriticalPathEdge {
  int64_t start_ns = 0;
  // Greater than 0.
  int64_t duration_ns = 0;
  // The host span or work that ran. Of a launch the call, of kQueue the work that waited, of
  // kSync the blocking call. Of a gap the host span that ended at its begin.
  SpanId span = SpanId::kNone;
  PathEdgeKind kind = PathEdgeKind::kHost;
};

// The result.
struct CriticalPathReport {
  // One per rank that has host spans or works, by rank.
  std::vector<CriticalPath> paths;
  // The edges of the paths, one path after the other, each in order of time.
  std::vector<CriticalPathEdge> rows;
};

// What to find.
struct CriticalPathOptions {
  // One entry per span (SpanFilter::Select), 1 counts; nullptr: all spans count. Steps and
  // synchronization spans count in any case.
  const std::vector<uint8_t>* selected = nullptr;
  // false: the paths alone. A row per piece of host code is most of the cost.
  bool rows = true;
};

// O(n log n) in device work and calls that wait; O(n log d) in host spans, where d is the number
// that are open at once.
[[nodiscard]] CriticalPathReport FindCriticalPaths(const Trace& trace, const CriticalPathOptions& options = {});

}  // namespace opscope
