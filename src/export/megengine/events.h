// The events of MegEngine's timeline, track by track, each in its order.
//
//   OpDispatch  [C nr_op_pending, B, s OpDispatch, E]          operator  [C, B, t OpDispatch ... E]
//   Input       [B, t TensorLink, E]                           its kernel  s KernelLaunch -> [B, f] on the device
//   Output      [B, C nr_alive_tensor, s TensorLink, E]        Del  [B, C nr_alive_tensor, t TensorLink, f TensorLink,
//   E]
//
// Counters and arrows that a Trace has rows of are those; of others the events follow from spans and lives of tensors.
// Those of which the original writes wrong values (operators pending, tensors redundant, ratios) always do.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "export/megengine/facts.h"
#include "opscope/trace.h"

namespace opscope {

enum class MegEngineWhat : uint8_t {
  kBegin,  // row: span
  kEnd,
  kComplete,
  kDispatchStart,
  kDispatchStep,
  kKernelStart,  // row: the kernel
  kKernelFinish,
  kUse,        // row: span of an input
  kLinkStart,  // row: life
  kLinkStep,
  kLinkFinish,
  kInstant,    // row: instant
  kCounter,    // row: counter
  kFlowStart,  // row: flow
  kFlowStep,
  kFlowFinish,
  kPending,  // row: value
  kAlive,
  kRedundant,
  kAhead,
};

struct MegEngineMark {
  int64_t time = 0;
  uint32_t row = 0;
  MegEngineWhat what = MegEngineWhat::kBegin;
};

// By track; empty for tracks that the file has not.
[[nodiscard]] std::vector<std::vector<MegEngineMark>> ListMegEngineMarks(const Trace& trace,
                                                                         const MegEngineFacts& facts);

// Shares of the time between the first kernel and the end of the last one, in percent, and that end.
struct MegEngineRatios {
  double device = 0;  // in which the worker or the device was at an operator
  double steps = 0;   // from the first to the last kernel of a step
  int64_t end = 0;    // 0: there is no kernel
};
[[nodiscard]] MegEngineRatios ReckonMegEngineRatios(const Trace& trace, const MegEngineFacts& facts, ProcessId process);

}  // namespace opscope
