// Time per event type and device, overlapping events counted once, and the overlap of communication and computation.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/intervals.h"
#include "analysis/paddle/name_traits.h"
#include "analysis/paddle/operators.h"
#include "opscope/paddle/statistics.h"

namespace opscope {

class PaddleTypeTimes {
 public:
  // All arguments must outlive this object.
  PaddleTypeTimes(const Trace& trace, const PaddleNodeTrees& trees, const PaddleNodeMeasures& measures,
                  PaddleNameTraits* traits);

  // `nodes`: all nodes of the thread, in Paddle's order.
  void AddThread(const PaddleThread& thread, std::span<const uint32_t> nodes);
  // Writes the results. REQUIRES: called once.
  void MoveTo(const std::vector<PaddlePhase>& phases, PaddleStatistics* statistics);

 private:
  using Intervals = std::vector<Interval>;
  struct Device {
    uint64_t number = 0;
    std::vector<PaddleEventType> types;  // by first appearance
    std::array<Intervals, kPaddleEventTypes> times;
  };

  Interval TimeOf(SpanId span) const;
  Interval TimeOfNode(uint32_t node) const;
  void CountHostType(PaddleEventType type);
  void JoinHostTimes(const PaddleThread& thread);
  void AddLaunches(uint32_t node);
  void AddToDistribution(uint32_t node);
  Device* DeviceOf(SpanId span);
  void MoveHostTypes(const std::vector<PaddlePhase>& phases, PaddleStatistics* statistics);
  void MoveDevices(PaddleStatistics* statistics);

  const Trace& trace_;
  const SpanColumns& spans_;
  const PaddleNodeTrees& trees_;
  const PaddleNodeMeasures& measures_;
  PaddleNameTraits* traits_;
  std::array<uint64_t, kPaddleEventTypes> calls_ = {};
  std::vector<PaddleEventType> host_types_;  // by first appearance
  std::array<Intervals, kPaddleEventTypes> host_times_;
  std::vector<Device> devices_;                      // by first appearance
  std::unordered_map<int64_t, size_t> device_rows_;  // in devices_, by number
  std::vector<bool> is_communication_;               // by node: it or an ancestor is communication
  Intervals host_communication_, device_communication_, computation_;
};

}  // namespace opscope
