// Adds what torch's profiler derives after a recording, in the same way (specified by Kineto's post-processing):
//   - "External id": the spans of torch are numbered in the order of their starts
//   - `autograd::engine::evaluate_function: X` takes sequence number and forward thread of the backward
//     span that directly follows it on its thread
//   - the forward thread of a span without a sequence number is not shown
//   - forward-backward flows: an arrow from each forward operator to the first backward function that ends
//     (trace/forward_match.h has the rule)
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/column.h"
#include "trace/builder.h"
#include "trace/forward_match.h"

namespace opscope {

class TorchLinks {
 public:
  // The external id of torch's spans until they are numbered; other spans have 0.
  static constexpr uint32_t kUnnumbered = 1;

  explicit TorchLinks(TraceBuilder* builder) : builder_(builder) {}

  // Adds `count` spans from `first` on, in pre-order, of one thread.
  void AddThread(AddedSpan first, size_t count, uint64_t logical_thread);
  // Adds spans of torch from the last AddThread: with a sequence number, preferably in order of their ends; of backward
  // functions.
  void AddSequenced(AddedSpan span) { sequenced_.push_back({{}, Number(span), thread()}); }
  void AddBackward(AddedSpan span) { backward_.push_back({Number(span), thread()}); }
  // The first number.
  void set_first_id(uint32_t id) { first_id_ = id; }
  // Adds no arrows, because they were switched off in torch.
  void LeaveUnlinked() { is_linked_ = false; }
  void Finish();

 private:
  struct Thread {
    AddedSpan first;
    size_t count;
    uint64_t logical_thread;
  };
  struct Start {
    Timestamp start;
    uint32_t span;
  };
  struct Backward {
    uint32_t span;
    uint32_t thread;
  };

  static uint32_t Number(AddedSpan span) { return static_cast<uint32_t>(span); }
  uint32_t thread() const { return static_cast<uint32_t>(threads_.size() - 1); }
  void PassSequencesUp();
  void NumberByStart();
  bool NumberInOrderOfAddition();
  void LinkForwardToBackward();

  TraceBuilder* builder_;
  uint32_t first_id_ = 1;
  bool is_linked_ = true;
  std::vector<Thread> threads_;
  Column<SequencedSpan> sequenced_;  // thread: index in threads_
  Column<Backward> backward_;
};

}  // namespace opscope
