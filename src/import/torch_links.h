// What torch's profiler derives after the window, done the same way (specs: Kineto's post-processing):
//   - "External id": the spans of torch are numbered from 1 in the order of their starts
//   - `autograd::engine::evaluate_function: X` takes sequence number and forward thread of the backward
//     span that directly follows it on its thread
//   - the forward thread of a span without a sequence number is not shown
//   - forward-backward flows: spans with a sequence number are visited by end; of the forward spans of one
//     thread and number the one that starts last is kept; the first backward span that names it takes it
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/column.h"
#include "trace/builder.h"

namespace opscope {

class TorchLinks {
 public:
  explicit TorchLinks(TraceBuilder* builder) : builder_(builder) {}

  // A span of torch, in pre-order within its thread.
  void Add(AddedSpan span, uint64_t logical_thread);
  void Reserve(size_t spans) { spans_.reserve(spans); }
  void EndThread();  // the next Add begins another thread
  void Finish();

 private:
  struct TorchSpan {
    AddedSpan span;
    uint32_t thread;  // index in logical_threads_
  };
  void PassSequencesUp();
  void NumberByStart();
  void LinkForwardToBackward();

  TraceBuilder* builder_;
  Column<TorchSpan> spans_;
  std::vector<uint64_t> logical_threads_;
  bool new_thread_ = true;
};

}  // namespace opscope
