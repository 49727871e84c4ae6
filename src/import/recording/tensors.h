// The tensors of arguments, and the tensors that Python objects reference.
//
// Thread rule: one thread at a time; AppendBackward is a pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "import/recording/chunk.h"
#include "import/recording/clock.h"
#include "import/recording/part.h"
#include "trace/builder.h"

namespace opscope {

class RecordingTensors {
 public:
  RecordingTensors(TraceBuilder* builder, const TickClock* clock) : builder_(builder), clock_(clock) {}

  // The tensors of the arguments of `span`, from the last one to the first, because rows are filled from the end.
  static void AppendBackward(const RecordingPart& part, const PartScope& scope, AddedSpan span,
                             std::vector<TensorRow>* rows);
  void Add(std::span<const TensorRow> backward);
  // False: damaged.
  bool AddHeld(const RecordingChunk& chunk, const Record& record, TrackId track);
  void Finish();

 private:
  TraceBuilder* builder_;
  const TickClock* clock_;
  uint64_t unnumbered_ = 0;
};

}  // namespace opscope
