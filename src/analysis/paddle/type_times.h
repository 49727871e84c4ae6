// Times of types of events and of devices, each moment once, and communication beside computation.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/intervals.h"
#include "analysis/paddle/name_traits.h"
#include "analysis/paddle/operators.h"
#include "opscope/paddle/statistics.h"

namespace opscope {

class PaddleTypeTimes {
 public:
  // All of them must outlive this.
  PaddleTypeTimes(const Trace& trace, const PaddleNodeTrees& trees, const PaddleNodeMeasures& measures,
                  PaddleNameTraits* traits);

  // `nodes`: all of the thread, in Paddle's order.
  void AddThread(const PaddleThread& thread, std::span<const uint32_t> nodes);
  // Sets the times of types and devices, and the distribution. Once.
  void MoveTo(const std::vector<PaddlePhase>& phases, PaddleStatistics* statistics);

 private:
  using Intervals = std::vector<Interval>;
  struct Device {
    uint64_t number = 0;
    std::vector<PaddleEventType> types;  // in the order in which they came
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
  std::vector<PaddleEventType> host_types_;  // in the order in which they came
  std::array<Intervals, kPaddleEventTypes> host_times_;
  std::vector<Device> devices_;
  std::vector<bool> is_communication_;  // by node: it, or one around it
  Intervals host_communication_, device_communication_, computation_;
};

}  // namespace opscope
