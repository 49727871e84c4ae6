// What a flame graph shows: the spans of all threads folded by their path from the root, each path once, with what was
// spent in it. Calls of Python and modules are spans, so the paths go through them where they were recorded; where a
// file has call stacks but no spans of the calls, the frames of the stacks stand in their place.
//
// Thread rule: pure functions; a FlameTree refers to strings of the Trace, which must outlive it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

enum class FlameMetric : uint8_t {
  kTime,        // nanoseconds on the thread, without what was called
  kDeviceTime,  // nanoseconds on devices, at the operator that launched them
  kMemory,      // bytes by which an operator alone grew; those that shrank count 0
  kFlops,
  kCount,  // spans
};
// "time", "device_time", "memory", "flops", "count"; nullopt for anything else.
[[nodiscard]] std::optional<FlameMetric> FlameMetricFromName(std::string_view name);

enum class FlameKind : uint8_t { kRoot, kThread, kDevice, kOperator, kRange, kPythonCall, kModule };

struct FlameNode {
  std::string_view name;
  uint32_t parent = 0;  // index; the root, node 0, is its own
  FlameKind kind = FlameKind::kOperator;
  int64_t self = 0;
  int64_t total = 0;  // self and all below it
  uint64_t spans = 0;
  StringId category = StringId::kNone;  // of its first span; kNone: it has none
};

// A path has so many nodes at most, or what is written of a recursion would grow with the square of its depth.
inline constexpr uint32_t kMostFlameLevels = 2048;

enum class ThreadNodes : uint8_t { kWhenSeveral, kAlways, kNever };
struct FoldOptions {
  ThreadNodes threads = ThreadNodes::kWhenSeveral;  // kNever: what several threads did alike is one path
  bool devices = false;                             // streams of devices, too, each below a node of its own
  // Of this Trace, one entry per span (SpanFilter::Select): only the values of spans with 1 count, under the same
  // paths. nullptr: all.
  const std::vector<uint8_t>* selected = nullptr;
};

struct FlameTree {
  FlameMetric metric = FlameMetric::kTime;
  // Parents before their children. Threads stand below the root when more than one did anything. All steps are one
  // node, "ProfilerStep*".
  std::vector<FlameNode> nodes;
  uint64_t async_spans = 0;   // left out: they are not on the path of anything
  uint64_t device_spans = 0;  // left out, unless they were asked for
  uint64_t other_spans = 0;   // left out: of tracks that are neither
  // By track: what its node is called, "main", or "worker (17)" where others have that name.
  std::unique_ptr<const std::vector<std::string>> thread_names;
  uint64_t deeper_spans = 0;  // that lie deeper than kMostFlameLevels: what they took is the node's there
};

// O(n) in spans.
[[nodiscard]] FlameTree FoldSpans(const Trace& trace, FlameMetric metric = FlameMetric::kTime,
                                  const FoldOptions& options = {});

}  // namespace opscope
