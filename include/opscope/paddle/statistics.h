// What Paddle's summary shows, by Paddle's rules: times of event types, of the
// phases of a model, of operators, kernels and ranges, communication beside
// computation, and memory.
//
// The rules are Paddle's also where they are odd. An operator's memory counts for
// its kernel's launch too, calls of nested phases do not count, and rows of equal
// value follow a walk that visits the last of several siblings first.
//
//   const PaddleNodeTrees trees = BuildPaddleNodeTrees(trace);
//   const PaddleStatistics statistics = ComputePaddleStatistics(trace, trees);
//   Print(FormatPaddleSummary(trace, statistics, {}));   // paddle/table.h
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "opscope/paddle/event_type.h"
#include "opscope/paddle/node_trees.h"
#include "opscope/trace.h"

namespace opscope {

// Sum, longest and shortest of durations in nanoseconds.
struct PaddleTimes {
  // Sum of the durations.
  int64_t total = 0;
  // Longest duration; 0 without any.
  int64_t most = 0;
  // INT64_MAX without durations.
  int64_t least = INT64_MAX;

  // Adds one duration.
  void Add(int64_t time);
  // Adds all durations of another sum.
  void Add(const PaddleTimes& other);
};

// A row: an operator, a part of one, a phase, a range, or a device span.
struct PaddleItem {
  // Name of the row.
  StringId name = StringId::kEmpty;
  // Number of its events.
  uint64_t calls = 0;
  // Time on the thread.
  PaddleTimes host;
  // Time of its kernels; of a device row its own time.
  PaddleTimes kernels;
  // Time of its kernels, copies and sets.
  PaddleTimes device;
  // Floating-point operations; 0: unknown.
  int64_t flops = 0;

  // Adds another row.
  void Add(const PaddleItem& other);
};

// A part of an operator (one of its launches or inner calls), with the device spans
// that it launched.
struct PaddleInnerItem {
  // The part itself.
  PaddleItem item;
  // Device spans that it launched, by name.
  std::vector<PaddleItem> devices;
};
// An operator with its parts.
struct PaddleOperatorItem {
  // The operator itself.
  PaddleItem item;
  // Its parts, by name.
  std::vector<PaddleInnerItem> inner;
  // Launched by the operator itself, in no part.
  std::vector<PaddleItem> devices;
};

// The operators of one thread, by the system's id.
struct PaddleThreadOperators {
  // System's thread id.
  uint64_t thread = 0;
  std::vector<PaddleOperatorItem> operators;
};
// The ranges of one thread, by the system's id.
struct PaddleThreadRanges {
  // System's thread id.
  uint64_t thread = 0;
  std::vector<PaddleItem> ranges;
};

// Union of the times of one event type in nanoseconds: simultaneous events of
// several threads count once.
struct PaddleTypeTime {
  PaddleEventType type = PaddleEventType::kOperator;
  // Number of events of the type.
  uint64_t calls = 0;
  int64_t time = 0;
};
// Kernel time of one device in nanoseconds.
struct PaddleDeviceTime {
  // Number of the device.
  uint64_t device = 0;
  int64_t kernels = 0;
};

// A phase of training: ProfileStep, Dataloader, Forward, Backward, Optimization.
struct PaddlePhase {
  PaddleEventType type = PaddleEventType::kProfileStep;
  PaddleItem item;
};

// Communication beside computation, in nanoseconds.
struct PaddleDistribution {
  // False: no event was communication.
  bool any = false;
  int64_t communication = 0, computation = 0, overlap = 0;
};

// Memory of all events of one name.
struct PaddleMemoryItem {
  StringId name = StringId::kEmpty;
  // Number of reports.
  uint64_t allocations = 0, frees = 0;
  // Bytes.
  int64_t allocated = 0, freed = 0;
  // Bytes that were allocated and not freed. Both saturate, so the difference may be any number.
  int64_t increase() const {
    int64_t difference = 0;
    return __builtin_sub_overflow(allocated, freed, &difference) ? (allocated < 0 ? INT64_MIN : INT64_MAX) : difference;
  }
};
// Memory of one place ("Place(cpu)"). Peaks in bytes.
struct PaddlePlaceMemory {
  // "Place(cpu)", "Place(gpu:0)".
  std::string place;
  // Highest bytes that tensors, and that the allocator, held.
  uint64_t peak_allocated = 0, peak_reserved = 0;
  // By name of the event: memory of tensors, and memory of the allocator.
  std::vector<PaddleMemoryItem> allocated, reserved;
};

// Everything that the summary shows.
struct PaddleStatistics {
  // Union of all steps in nanoseconds. Without steps (a program of another
  // framework): from the first event to the last.
  int64_t total_time = 0;
  // Fractions, as recorded; "": not recorded.
  std::string process_utilization, system_utilization;
  // Kernel times by device.
  std::vector<PaddleDeviceTime> devices;
  // Times by event type, on the host and on devices.
  std::vector<PaddleTypeTime> host_types, device_types;
  // In the order of Paddle's table.
  std::vector<PaddlePhase> phases;
  // Communication beside computation.
  PaddleDistribution distribution;
  // Operators by thread.
  std::vector<PaddleThreadOperators> operators;
  // Kernels by name.
  std::vector<PaddleItem> kernels;
  // Copies and sets by name.
  std::vector<PaddleItem> memory_manipulation;
  // The program's ranges by thread.
  std::vector<PaddleThreadRanges> ranges;
  // Memory by device, which Paddle calls a place.
  std::vector<PaddlePlaceMemory> memory;
};

// O(n log n) in spans: unions of times sort. REQUIRES: trees are of this Trace.
[[nodiscard]] PaddleStatistics ComputePaddleStatistics(const Trace& trace, const PaddleNodeTrees& trees);

// The rows of all threads as one list, as Paddle shows it without thread_sep.
[[nodiscard]] std::vector<PaddleOperatorItem> MergePaddleOperators(const std::vector<PaddleThreadOperators>& threads);
[[nodiscard]] std::vector<PaddleItem> MergePaddleRanges(const std::vector<PaddleThreadRanges>& threads);

}  // namespace opscope
