// What Paddle's summary shows, by Paddle's rules: times of types of events, of the phases of a model, of operators,
// kernels and ranges, communication beside computation, and memory.
//
// The rules are Paddle's also where they are odd: an operator's memory is shown for its kernel's launch, too, calls of
// nested phases are not counted, and rows of equal value stand in the order of a walk that sees the last of several
// siblings first.
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

// Of durations in nanoseconds.
struct PaddleTimes {
  int64_t total = 0;
  int64_t most = 0;
  int64_t least = INT64_MAX;  // of none

  void Add(int64_t time);
  void Add(const PaddleTimes& other);
};

// A row: an operator, a part of one, a phase, a range, or what runs on a device.
struct PaddleItem {
  StringId name = StringId::kEmpty;
  uint64_t calls = 0;
  PaddleTimes host;
  PaddleTimes kernels;  // of devices; of a row of a device its own
  PaddleTimes device;   // with copies and sets
  int64_t flops = 0;

  void Add(const PaddleItem& other);
};

// What an operator's calls and its launches are made of.
struct PaddleInnerItem {
  PaddleItem item;
  std::vector<PaddleItem> devices;
};
struct PaddleOperatorItem {
  PaddleItem item;
  std::vector<PaddleInnerItem> inner;
  std::vector<PaddleItem> devices;  // launched by the operator itself
};

struct PaddleThreadOperators {
  uint64_t thread = 0;
  std::vector<PaddleOperatorItem> operators;
};
struct PaddleThreadRanges {
  uint64_t thread = 0;
  std::vector<PaddleItem> ranges;
};

// All times of one type are joined, what several threads did at once counts once.
struct PaddleTypeTime {
  PaddleEventType type = PaddleEventType::kOperator;
  uint64_t calls = 0;
  int64_t time = 0;
};
struct PaddleDeviceTime {
  uint64_t device = 0;
  int64_t kernels = 0;
};

struct PaddlePhase {
  PaddleEventType type = PaddleEventType::kProfileStep;
  PaddleItem item;
};

struct PaddleDistribution {
  bool any = false;  // something was communication
  int64_t communication = 0, computation = 0, overlap = 0;
};

struct PaddleMemoryItem {
  StringId name = StringId::kEmpty;
  uint64_t allocations = 0, frees = 0;
  int64_t allocated = 0, freed = 0;  // bytes
  int64_t increase() const { return allocated - freed; }
};
struct PaddlePlaceMemory {
  std::string place;
  uint64_t peak_allocated = 0, peak_reserved = 0;
  std::vector<PaddleMemoryItem> allocated, reserved;
};

struct PaddleStatistics {
  // Of all steps, joined. Where a program of another framework marks none: from its first event to its last.
  int64_t total_time = 0;
  std::string process_utilization, system_utilization;  // fractions, as recorded; "": not recorded
  std::vector<PaddleDeviceTime> devices;
  std::vector<PaddleTypeTime> host_types, device_types;
  std::vector<PaddlePhase> phases;  // in the order of Paddle's table
  PaddleDistribution distribution;
  std::vector<PaddleThreadOperators> operators;
  std::vector<PaddleItem> kernels;
  std::vector<PaddleItem> memory_manipulation;
  std::vector<PaddleThreadRanges> ranges;
  std::vector<PaddlePlaceMemory> memory;
};

// O(spans)
[[nodiscard]] PaddleStatistics ComputePaddleStatistics(const Trace& trace, const PaddleNodeTrees& trees);

// The rows of all threads as one list.
[[nodiscard]] std::vector<PaddleOperatorItem> MergePaddleOperators(const std::vector<PaddleThreadOperators>& threads);
[[nodiscard]] std::vector<PaddleItem> MergePaddleRanges(const std::vector<PaddleThreadRanges>& threads);

}  // namespace opscope
