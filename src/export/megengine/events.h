// Lists the events of MegEngine's timeline by track, in the order in which MegEngine writes them.
//
//   OpDispatch  [C nr_op_pending, B, s OpDispatch, E]          operator  [C, B, t OpDispatch ... E]
//   Input       [B, t TensorLink, E]                           its kernel  s KernelLaunch -> [B, f] on the device
//   Output      [B, C nr_alive_tensor, s TensorLink, E]        Del  [B, C nr_alive_tensor, t TensorLink,
//                                                                  f TensorLink, E]
//
// Counters and arrows come from the Trace's rows if it has them, else from spans and tensor lifetimes. Counters for
// which the original writes wrong values (pending operators, redundant tensors, ratios) are always computed.
//
// Thread rule: pure functions. O(rows log rows).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "export/megengine/facts.h"
#include "opscope/trace.h"

namespace opscope {

enum class MegEngineEventKind : uint8_t {
  kBegin,  // row: span
  kEnd,
  kComplete,
  kDispatchStart,
  kDispatchStep,
  kKernelStart,  // row: the kernel
  kKernelFinish,
  kUse,        // row: span of an input
  kLinkStart,  // row: of tensor_lives
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
  MegEngineEventKind what = MegEngineEventKind::kBegin;
};

// Events by track; empty for tracks that are not shown.
[[nodiscard]] std::vector<std::vector<MegEngineMark>> ListMegEngineMarks(const Trace& trace,
                                                                         const MegEngineFacts& facts);

// Shares of a process's time from the start of its first kernel to the end of its last one, in percent.
struct MegEngineRatios {
  double device = 0;  // the worker or the device ran an operator
  double steps = 0;   // from the first to the last kernel of a step
  int64_t end = 0;    // end of the last kernel; 0: there is none
};
// By process.
[[nodiscard]] std::vector<MegEngineRatios> ComputeMegEngineRatios(const Trace& trace, const MegEngineFacts& facts);

}  // namespace opscope
