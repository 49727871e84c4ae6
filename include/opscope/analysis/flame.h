// Folds the spans of all threads by their path from the root, as a flame graph
// shows them: each path once, with the time spent in it. Recorded calls of Python
// and modules are spans, so paths go through them. If a file has call stacks but no
// spans of the calls, the frames of the stacks take their place.
//
//   a [0,10) with b [2,5) in it, twice   ->   node "a": self 14, total 20; node "a;b": self 6, total 6
//
//   const FlameTree tree = FoldSpans(trace, FlameMetric::kTime);   // report/flame.h writes it
//
// Thread rule: pure functions; a FlameTree refers to strings of the Trace, which
// must outlive it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// The value of a node.
enum class FlameMetric : uint8_t {
  // Nanoseconds on the thread, without the callees.
  kTime,
  // Nanoseconds on devices, at the operator that launched them.
  kDeviceTime,
  // Bytes by which the span itself grew; 0 for one that shrank.
  kMemory,
  // Floating-point operations.
  kFlops,
  // Number of spans.
  kCount,
};
// "time", "device_time", "memory", "flops", "count"; nullopt for anything else.
[[nodiscard]] std::optional<FlameMetric> FlameMetricFromName(std::string_view name);

// What a node stands for.
enum class FlameKind : uint8_t { kRoot, kThread, kDevice, kOperator, kRange, kPythonCall, kModule };

// One path; its name is the last element.
struct FlameNode {
  std::string_view name;
  // Index of the parent. Node 0 is the root and its own parent.
  uint32_t parent = 0;
  FlameKind kind = FlameKind::kOperator;
  // Value of the path itself.
  int64_t self = 0;
  // self, and that of all nodes below.
  int64_t total = 0;
  // Number of spans with this path.
  uint64_t spans = 0;
  // Category of its first span; kNone: none.
  StringId category = StringId::kNone;
};

// Longest path in nodes. Without a limit, the output of a recursion would grow with
// the square of its depth.
inline constexpr uint32_t kMaxFlameLevels = 2048;

// Whether each thread has a node below the root. Without one, equal paths of
// several threads are one path.
enum class ThreadNodes : uint8_t { kWhenSeveral, kAlways, kNever };
// How to fold.
struct FoldOptions {
  ThreadNodes threads = ThreadNodes::kWhenSeveral;
  // Also fold device streams, each below a node of its own.
  bool devices = false;
  // One entry per span (SpanFilter::Select): only spans with 1 add a value; paths
  // do not change. nullptr: all.
  const std::vector<uint8_t>* selected = nullptr;
  // Most nodes of a tree, at least the root: the heaviest ones, of equally heavy ones
  // the first. The others stay in the totals of the nodes above them.
  size_t max_nodes = SIZE_MAX;
};

// The folded spans.
struct FlameTree {
  FlameMetric metric = FlameMetric::kTime;
  // Parents before their children. All steps are one node, "ProfilerStep*".
  std::vector<FlameNode> nodes;
  // Left out: asynchronous spans are on no path.
  uint64_t async_spans = 0;
  // Left out unless FoldOptions::devices.
  uint64_t device_spans = 0;
  // Left out: spans of tracks that are neither threads nor devices.
  uint64_t other_spans = 0;
  // By track: the name of its node, "main", or "worker (17)" if several threads
  // have that name.
  std::shared_ptr<const std::vector<std::string>> thread_names;
  // Spans deeper than kMaxFlameLevels; their value belongs to the last node of the
  // path.
  uint64_t deeper_spans = 0;
  // Nodes beyond FoldOptions::max_nodes.
  uint64_t folded_nodes = 0;
};

// O(spans). If the frames of stacks take the place of calls, also O(frames) per span
// that has a stack.
[[nodiscard]] FlameTree FoldSpans(const Trace& trace, FlameMetric metric = FlameMetric::kTime,
                                  const FoldOptions& options = {});
// A tree per metric in one pass, which takes little longer than one of them. REQUIRES:
// each metric once.
[[nodiscard]] std::vector<FlameTree> FoldSpans(const Trace& trace, std::span<const FlameMetric> metrics,
                                               const FoldOptions& options = {});

}  // namespace opscope
